"""The words by which people say that something has changed, in five languages.

Each list is a regular expression over lower-cased text. They are small and our own: what they do
not know is left alone, since an event that stays is a smaller fault than one that is retired.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypedDict

SLOTS: Final = ("home", "job", "partner", "study", "diet", "smoking")
"""What a person has one of at a time."""


@dataclass(frozen=True, kw_only=True)
class Cues:
    """What to look for in one language."""

    slots: dict[str, re.Pattern[str]]
    """Talk of that part of life."""
    changed: dict[str, re.Pattern[str]]
    """The slot's own words for a change: moved, quit, divorced."""
    left: re.Pattern[str]
    """Those of them that end something rather than begin it: quit, divorced, graduated."""
    ended: re.Pattern[str]
    """No longer, stopped, gave up."""
    once: re.Pattern[str]
    """A single occasion: today, this time, next Thursday."""
    planned: re.Pattern[str]
    """Not yet so: plans, wishes, maybe."""
    lasting: re.Pattern[str]
    """From now on, every week, for good."""
    place: re.Pattern[str]
    """Where someone lives, as the group `where`."""
    whereabouts: re.Pattern[str]
    """Where someone was or goes, as the group `where`."""


class _Slots(TypedDict):
    """A pattern for each of `SLOTS`."""

    home: str
    job: str
    partner: str
    study: str
    diet: str
    smoking: str


class _Lists(_Slots):
    """The patterns of a language; see `Cues`."""

    changed: _Slots
    left: str
    ended: str
    once: str
    planned: str
    lasting: str
    place: str
    whereabouts: str


@lru_cache(maxsize=8)
def cues(language: str) -> Cues:
    """The cues of a language; English for one we do not know."""
    lists = _LISTS.get(language, _LISTS["en"])
    return Cues(
        slots={slot: re.compile(lists[slot]) for slot in SLOTS},
        changed={slot: re.compile(lists["changed"][slot]) for slot in SLOTS},
        left=re.compile(lists["left"]),
        ended=re.compile(lists["ended"]),
        once=re.compile(lists["once"]),
        planned=re.compile(lists["planned"]),
        lasting=re.compile(lists["lasting"]),
        place=re.compile(lists["place"]),
        whereabouts=re.compile(lists["whereabouts"]),
    )


_LISTS: dict[str, _Lists] = {
    "en": {
        "home": r"\b(?:live[sd]?|living|moved|moving|reside[sd]?|relocated|apartment|settled)\b",
        "job": r"\b(?:works?|working|job|employed|hired|quit|retired?|career|company|employer|"
        r"fired|laid off|resigned|position)\b",
        "partner": r"\b(?:married|single|divorced|dating|engaged|girlfriend|boyfriend|husband|"
        r"wife|broke up|separated|widowed|partner)\b",
        "study": r"\b(?:studies|studying|student|majors?|majoring|attends?|freshman|sophomore)\b",
        "diet": r"\b(?:vegetarian|vegan|pescatarian|meat|kosher|halal|gluten|dairy|diet)\b",
        "smoking": r"\b(?:smok(?:e|es|ed|ing|er)|cigarettes?|drinks?|drinking|alcohol|sober)\b",
        "changed": {
            "home": r"\b(?:moved (?:to|from|out|into|in|back|away)|relocated|has moved|settled in)",
            "job": r"\b(?:new job|changed jobs|quit (?:\w+ )?(?:job|work|position)|quit working|"
            r"resigned|retired|was fired|got fired|laid off|was hired|got hired|started working|"
            r"started (?:a|at a|at the) (?:job|company|firm)|left (?:\w+ )?(?:job|company)|"
            r"switched (?:jobs|careers)|now works)\b",
            "partner": r"\b(?:got married|got engaged|divorced|broke up|separated|is single|"
            r"(?:husband|wife|partner) (?:died|passed))\b",
            "study": r"\b(?:graduated|dropped out|transferred|switched (?:majors?|schools?)|"
            r"changed (?:majors?|schools?)|started (?:university|college|school))\b",
            "diet": r"\b(?:became|turned|went|gone) (?:a )?(?:vegetarian|vegan|pescatarian)|"
            r"\b(?:eats? meat again|gave up|given up|stopped eating)\b",
            "smoking": r"\b(?:quit|gave up|given up|stopped|started) (?:smoking|drinking)|"
            r"\bsober\b",
        },
        "left": r"quit|resign|retire|fired|laid off|left|divorc|broke up|separat|graduat|dropped|"
        r"gave up|given up|stopped|died|passed|sober",
        "ended": r"\b(?:no longer|not anymore|any ?more|stopped|gave up|given up|quit|used to|"
        r"doesn't .+ (?:anymore|any more)|broke the habit|canceled|cancelled)\b",
        "once": r"\b(?:today|tonight|yesterday|tomorrow|this (?:once|time|week|weekend|"
        r"(?:mon|tues|wednes|thurs|fri|satur|sun)day)|next (?:week|weekend|"
        r"(?:mon|tues|wednes|thurs|fri|satur|sun)day)|for once|just once|one-off|exception)\b",
        "planned": r"\b(?:will|plans?|planning|hopes?|hoping|wants?|would like|might|may|"
        r"thinking (?:of|about)|considering|going to (?:move|quit|marry|start|get)|dreams?|"
        r"someday)\b",
        "lasting": r"\b(?:from now on|every|each|always|usually|permanently|for good|regularly|"
        r"anymore|any more|no longer)\b",
        "place": r"\b(?:liv(?:es?|ed|ing)|moved|relocated|resides?|settled)\b(?: back| out)?"
        r"(?: (?:in|to|into))(?: the)? (?P<where>[^,.;!?]+?)(?=$|[,.;!?]| (?:with|for|since|and|"
        r"because|last|this|from|a |in |near|after|when|about|recently|now))",
        "whereabouts": r"\b(?:went to|goes to|go to|going to|stay(?:s|ed|ing)?(?: at)?|was at|"
        r"is at|work(?:s|ed|ing) (?:at|in)|visit(?:s|ed)?|spen(?:t|ds)[^.]*? (?:at|in))"
        r"(?: the| a| their| his| her)? (?P<where>\w+)",
    },
    "zh": {
        "home": r"住|搬家|搬到|搬去|定居|租房|公寓",
        "job": r"工作|上班|职|就业|公司|辞|失业|退休|跳槽|入职|被裁|当(?:了)?(?:老师|医生|护士|"
        r"程序员|司机)",
        "partner": r"结婚|已婚|单身|离婚|恋爱|男朋友|女朋友|丈夫|妻子|老公|老婆|分手|订婚",
        "study": r"大学|学校|上学|读书|毕业|专业|退学|学生|研究生",
        "diet": r"素食|吃素|吃肉|荤|清真|饮食|忌口",
        "smoking": r"抽烟|吸烟|戒烟|喝酒|戒酒|饮酒",
        "changed": {
            "home": r"搬(?:家|到|去|进|回|走|了)|定居",
            "job": r"换(?:了)?(?:新)?工作|新工作|辞(?:职|了|去)|跳槽|入职|退休|失业|被(?:裁|"
            r"开除|辞退)|转行",
            "partner": r"结(?:了)?婚|离(?:了)?婚|分手|订(?:了)?婚|恢复单身",
            "study": r"毕业了?|退学|转学|转专业|考上|开始读",
            "diet": r"开始吃(?:素|肉)|不再吃|改吃|变成素食|成(?:了|为)素食|又吃肉",
            "smoking": r"戒(?:了)?(?:烟|酒)|开始(?:抽烟|吸烟|喝酒)",
        },
        "left": r"辞|失业|退休|被|离|分手|单身|毕业|退学|戒|不再",
        "ended": r"不再|不.{0,6}了|停止|放弃|戒|以前|取消|没再",
        "once": r"今天|今晚|昨天|明天|这次|这周|本周|这个周末|下周|下个?(?:星期|礼拜)|只此一次|"
        r"破例|例外|偶尔",
        "planned": r"打算|计划|想要?|希望|准备|可能|也许|考虑|将要?|会在|梦想",
        "lasting": r"从此|以后都|每(?:天|周|个|逢|星期|月|年|次)|总是|一直|不再|通常|经常|固定",
        "place": r"(?:住在|搬到|搬去|搬进|定居在?|搬回)了?(?P<where>[\u4e00-\u9fffA-Za-z]{2,6}?)"
        r"(?=$|[，。！？,.!?的]|了|居住|生活|工作)",
        "whereabouts": r"(?:去了?|待在|呆在|留在|在)(?P<where>[\u4e00-\u9fff]{1,4}?)"
        r"(?=$|[，。！？]|了|上班|工作|学习|休息|打工)",
    },
    "ja": {
        "home": r"住|引っ越|引越|移住|暮らし|アパート|転居",
        "job": r"仕事|働|勤め|勤務|会社|転職|退職|就職|辞め|職場|入社|解雇|クビ|として働",
        "partner": r"結婚|独身|離婚|付き合|彼氏|彼女と|夫|妻|別れ|婚約|旦那|嫁",
        "study": r"大学|学校|学生|卒業|専攻|退学|留学|勉強|大学院",
        "diet": r"ベジタリアン|ヴィーガン|菜食|肉を食べ|食事制限|ハラール|肉は",
        "smoking": r"タバコ|たばこ|煙草|喫煙|禁煙|お酒|飲酒|禁酒",
        "changed": {
            "home": r"引っ越し(?:た|て|まし)|引っ越した|引越した|移住した|転居した|移り住",
            "job": r"転職|退職|就職し|入社し|辞めた|辞めて|辞めまし|新しい(?:仕事|職場|会社)|"
            r"解雇|クビ|定年",
            "partner": r"結婚し(?:た|て|まし)|離婚し|別れ(?:た|て|まし)|婚約し",
            "study": r"卒業し|退学し|転校し|編入し|入学し|専攻を変え",
            "diet": r"ベジタリアンになっ|ヴィーガンになっ|肉を(?:やめ|食べなくな|また食べ)|"
            r"肉を食べるようになっ",
            "smoking": r"(?:禁煙|禁酒)し|(?:タバコ|たばこ|煙草|お酒)をやめ|(?:吸い|飲み)始め",
        },
        "left": r"退|辞め|解雇|クビ|定年|離婚|別れ|卒業|やめ|禁|なくな",
        "ended": r"もう.{0,12}ない|やめ|辞め|なくな(?:っ|り)|以前は|昔は|取りやめ|ていません|中止",
        "once": r"今日|今夜|昨日|明日|今回|今週|週末だけ|来週|次の(?:月|火|水|木|金|土|日)曜|"
        r"一度だけ|例外|たまたま",
        "planned": r"予定|つもり|たい|かもしれ|考えて|計画|希望|検討|夢",
        "lasting": r"これから(?:は|ずっと)|毎(?:日|週|朝|晩|月|年|回)|いつも|ずっと|普段|今後は|"
        r"もう.{0,12}ない",
        "place": r"(?P<where>[\u4e00-\u9fff\u30a0-\u30ffA-Za-z]{2,8}?)(?:市|県|都|区|府)?"
        r"(?:に住|へ引っ越|に引っ越|に移住|で暮ら|に移り住|に転居)",
        "whereabouts": r"(?P<where>[\u4e00-\u9fff\u30a0-\u30ff]{1,8}?)(?:に行|へ行|で働|で仕事|"
        r"にい(?:た|る|ま)|"
        r"で過ご|で休|に通)",
    },
    "ko": {
        "home": r"살고|살아|산다|삽니다|거주|이사|자취|정착|아파트",
        "job": r"일하|일한|일했|직장|회사|직업|취직|이직|퇴사|퇴직|근무|그만뒀|해고|은퇴",
        "partner": r"결혼|독신|싱글|이혼|사귀|남자친구|여자친구|남편|아내|헤어|약혼",
        "study": r"대학|학교|학생|졸업|전공|자퇴|유학|공부|대학원",
        "diet": r"채식|비건|고기|할랄|식단",
        "smoking": r"담배|흡연|금연|술을|음주|금주",
        "changed": {
            "home": r"이사(?:했|갔|왔|를 갔|하였|해서)|이주했|정착했",
            "job": r"이직|퇴사|퇴직|취직했|입사했|(?:회사|직장|일)[을를] 그만|새 직장|"
            r"새로운 (?:직장|일|회사)|해고|은퇴했",
            "partner": r"결혼했|이혼했|헤어졌|약혼했",
            "study": r"졸업했|자퇴했|편입했|전학|입학했|전공을 바꿨",
            "diet": r"채식(?:을 시작|주의자가 되)|비건이 되|고기를 (?:끊|다시)|고기를 안 먹",
            "smoking": r"(?:담배|술)를? ?(?:을 )?끊|금연했|금주했|(?:담배|술)을? 시작",
        },
        "left": r"퇴|그만|해고|은퇴|이혼|헤어|졸업|자퇴|끊|금연|금주|안 먹",
        "ended": r"더 이상|더는|이제.{0,12}않|그만|끊었|예전에는|취소|안 하게|하지 않게",
        "once": r"오늘|오늘밤|어제|내일|이번|다음 ?주|한 번만|예외|모처럼",
        "planned": r"예정|계획|싶어|싶다|생각 중|고려|것 같|할지도|하려고|꿈",
        "lasting": r"앞으로는?|매(?:일|주|달|년|번)|마다|항상|늘 |보통|더 이상|더는",
        "place": r"(?P<where>[\uac00-\ud7afA-Za-z]{2,8}?)(?:시|도)?(?:에서? (?:살|거주|자취|"
        r"정착)|(?:으로|로) 이사|에 정착)",
        "whereabouts": r"(?P<where>[\uac00-\ud7af]{1,8}?)(?:에 (?:갔|간|가|있|다니)|에서 (?:일|"
        r"쉬|지냈|공부))",
    },
    "vi": {
        "home": r"sống|ở tại|chuyển nhà|chuyển đến|chuyển về|dọn|định cư|căn hộ|thuê nhà",
        "job": r"làm việc|công việc|việc làm|công ty|nghỉ việc|thất nghiệp|nghề|nghỉ hưu|xin việc|"
        r"đi làm|sa thải|làm (?:y tá|giáo viên|kỹ sư|bác sĩ|kế toán)",
        "partner": r"kết hôn|lập gia đình|độc thân|ly hôn|hẹn hò|bạn trai|bạn gái|chồng|vợ|"
        r"chia tay|"
        r"đính hôn|cưới",
        "study": r"đại học|trường|học sinh|sinh viên|tốt nghiệp|chuyên ngành|bỏ học|du học|cao học",
        "diet": r"ăn chay|thuần chay|ăn thịt|ăn kiêng|ăn mặn|chế độ ăn",
        "smoking": r"hút thuốc|thuốc lá|uống rượu|cai rượu|bia rượu|nhậu",
        "changed": {
            "home": r"(?:đã |vừa |mới )?(?:chuyển (?:nhà|đến|về|sang|vào|ra)|dọn (?:đến|về|ra|"
            r"vào))|định cư",
            "job": r"công việc mới|việc mới|đổi việc|nghỉ việc|thôi việc|nghỉ hưu|bị sa thải|"
            r"chuyển việc|chuyển sang làm|nhận việc|thất nghiệp",
            "partner": r"(?:đã |vừa |mới )(?:kết hôn|cưới|đính hôn)|ly hôn|chia tay",
            "study": r"tốt nghiệp|bỏ học|chuyển trường|chuyển ngành|nhập học",
            "diet": r"bắt đầu ăn (?:chay|thịt)|chuyển sang ăn|bỏ ăn thịt|ăn thịt trở lại",
            "smoking": r"(?:bỏ|cai) (?:hút )?(?:thuốc|rượu)|bắt đầu (?:hút|uống)",
        },
        "left": r"nghỉ|thôi|sa thải|thất nghiệp|ly hôn|chia tay|tốt nghiệp|bỏ|cai",
        "ended": r"không còn|không .{1,24} nữa|thôi không|đã bỏ|ngừng|từng|trước đây|hủy",
        "once": r"hôm nay|tối nay|hôm qua|ngày mai|lần này|tuần này|cuối tuần này|tuần sau|"
        r"tuần tới|"
        r"một lần|ngoại lệ|hiếm khi",
        "planned": r"\bsẽ\b|định|dự định|muốn|hy vọng|có thể|có lẽ|đang nghĩ|cân nhắc|ước mơ|"
        r"kế hoạch",
        "lasting": r"từ nay|mỗi|hằng|hàng (?:ngày|tuần|tháng|năm)|luôn|thường|không còn|nữa",
        "place": r"(?:sống|ở|chuyển (?:đến|về|sang|vào|ra)|dọn (?:đến|về|ra|vào)|định cư)(?: ở|"
        r" tại)? "
        r"(?P<where>[\wÀ-ỹ]+(?: [\wÀ-ỹ]+)?)(?=$|[,.;!?]| (?:với|từ|và|vì|được|rồi|cùng|để|năm|"
        r"tháng))",
        "whereabouts": r"(?:đi|đến|ở|tới|làm (?:việc )?(?:ở|tại))(?: đến| tới)? "
        r"(?P<where>(?!làm)[\wÀ-ỹ]+(?: [\wÀ-ỹ]+)?)",
    },
}
