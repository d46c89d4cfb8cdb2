"""Of whom a thing was told: the speaker, or somebody near to them.

Of "My husband Tom is allergic to cats" a small model notes now and then that the user is. Whoever
said it said whose it is: a note that repeats what was told of a relative, and of nobody else, is
told of that relative. A note wrongly given away is worse than one left, so this asks for nearly the
same words in the same order, right behind the relative, and for no sign that the speaker
shares what is told.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING

from omoide.language import concluded, plainly, split_clauses, split_sentences
from omoide.memory.overlap import coverage, stems
from omoide.memory.summary.borne import QUESTION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.memory.summary.facts import Fact
    from omoide.memory.transcript import Line

ALIKE = 0.75
"""Share of a note that must stand, in its order, in what was told of the relative."""


@dataclass(frozen=True, kw_only=True)
class _Near:
    """How a language tells something of one who is near to the speaker."""

    kin: str
    """The relatives, friends and colleagues."""
    subject: str
    """A clause that begins with one of them ({}); a `close` particle lets nothing stand between
    it and what is told, since it may also belong to a relative clause."""
    end: str
    """Where the clause ends."""
    between: str
    """What may stand between the relative and what is told of them."""
    shared: str
    """What tells in the clause that it is also, or rather, of somebody else."""
    too: str
    """What tells near the clause that the speaker is no different."""
    names: str
    """How a note names such a person."""


_EN_NAME = r"(?-i:[A-Z][\w’-]+(?: [A-Z][\w’-]+)?)"
_NEAR = {
    "en": _Near(
        kin=(
            r"(?:(?:older|younger|elder|little|big|eldest|oldest|youngest|middle|twin|only|late|best|"
            r"good|close|dear|old|new|former|current|next-door) ){0,2}"
            r"(?:step-?|half-|ex-|great-|grand)?"
            r"(?:husband|wife|partner|boyfriend|girlfriend|fianc[eé]e?|spouse|"
            r"mother|mom|mum|father|dad|sister|brother|son|daughter|parents|ma|pa|"
            r"aunt|uncle|cousin|nephew|niece|friend|flatmate|roommate|housemate|colleague|"
            r"co-?worker|boss|neighbou?r)(?:-in-law)?"
        ),
        subject=(
            r"(?:^|(?<!\bme)(?<!\bI)[,;] |\b(?:but|because|since|while|although|though) |"
            r"\band (?=(?:my|our) (?:[\w-]+ ){{1,3}}(?:is|has)\b))"
            r"(?:(?:and|but|so|well|yes|yeah|no|oh|also|actually|unfortunately|sadly),? )*"
            rf"(?:[Mm]y|[Oo]ur) (?P<who>{{}})(?P<name>,? (?:called |named )?{_EN_NAME},?)?"
            r"(?:(?=['’]s (?:an? |been |allergic |afraid ))| (?!and\b|or\b))"
        ),
        end=(
            r"[.!?…;:(]|,? (?:and|but|so|because|since|while|although|though|which|when|if|who)"
            r" (?=(?:i|we|my|our|you|your|he|she|they|it|his|her|their|the|there|that|this)\b)"
            r"|, (?!and\b)"
        ),
        between=r"(?:.* )?and|(?:\w+ly|still|just|now|often|always|have)?",
        shared=(
            r"\b(?:i|me|my|myself|mine|we|us|our|ours|you|your|too|also|either|both|as well)\b"
        ),
        too=(
            r"\b(?:(?:so|neither|as) (?:am|do|have|did|was|can) i|me,? (?:too|neither|either)|"
            r"same here|(?:like|as|than) me|both|i(?:'m|’m| am| do| have)?,? (?:also|too)|"
            r"we (?:all|are|both|do)|we're|each other|together)\b"
        ),
        names=r"\b(?:{}s?|family)\b",
    ),
    "zh": _Near(
        kin=(
            "(?:未婚夫|未婚妻|老公|丈夫|先生|老婆|妻子|太太|媳妇|男朋友|女朋友|男友|女友|对象|爱人|"
            "爸妈|父母|爸爸|妈妈|老爸|老妈|父亲|母亲|儿子|女儿|闺女|孙子|孙女|婆婆|公公|岳父|岳母|"
            "爷爷|奶奶|外公|外婆|姥姥|姥爷|[大二三小表堂]?(?:姐姐|妹妹|哥哥|弟弟|姐夫|妹夫|嫂子|弟媳)|"
            "[大二三小]?(?:姑姑|姑妈|阿姨|姨妈|叔叔|伯伯|舅舅|舅妈)|侄子|侄女|外甥女|外甥|"
            "好朋友|朋友|闺蜜|好友|室友|同事|老板|邻居|同学|姐妹|兄弟|"
            "[大二三小表堂]?[姐妹哥弟](?![妹弟们])|[爸妈])"
        ),
        subject=(
            "(?:^|[，,；;。！]) ?"
            "(?:(?:但是|但|不过|可是|因为|而且|其实|对了|还有|嗯|哦|是的|没有|唉)[，,]?)*"
            "(?:我们家|我们|我家|我|咱)的?(?P<who>{})(?![和跟与、的说们家讲问让，])"
        ),
        end="[，,；;。！!？?…]|因为|所以|但是",
        between="[^的不没别想要说让叫被给把跟和问教带]{0,3}",
        shared="[我咱你您也]|一起",
        too="[我咱]也|[我咱]们|我俩|一样|一起|我跟|我和|和我|跟我",
        names="{}",
    ),
    "ja": _Near(
        kin=(
            "(?:夫|妻|旦那|主人|家内|婚約者|母|父|両親|姉|妹|兄|弟|息子|娘|孫|祖母|祖父|"
            "義母|義父|義姉|義妹|義兄|義弟|叔母|叔父|伯母|伯父|いとこ|従兄弟|従姉妹|甥|姪|"
            "ルームメイト|同僚|上司|"
            "(?<=の)(?:旦那さん|奥さん|嫁さん|嫁|彼氏|彼女|母親|父親|お母さん|お父さん|ママ|パパ|"
            "お姉ちゃん|お兄ちゃん|おばあちゃん|おじいちゃん|おばさん|おじさん|友達|友人|親友|"
            "先輩|後輩|隣人))"
        ),
        subject=(
            "(?:^|[、。！])(?:(?:でも|実は|あと|ちなみに|それに|そういえば|うん|はい|いえ|いや|ただ)、?)*"
            "(?:(?:うち|私|わたし|僕|ぼく|俺)の)?(?P<who>{}(?:の(?![私僕俺])[ァ-ヺー一-鿿]{{1,8}})?)"
            "(?:は、?|(?P<close>が))(?!い[るてまなた]|でき|出来|多|少|好き|大好き|欲し|ほし|嫌い)"
        ),
        end="[、。！!？?…]",
        between=(
            "(?:最近|もう|ずっと|今|昔から|子どもの頃から|実は|かなり|ちょっと|ひどい|重度の|毎朝|毎日|"
            "毎週|まだ|よく|すごく|とても)?"
        ),
        shared="私|わたし|僕|俺|自分|一緒|同じ|[君お]前|うちの|くれ|もら|困|言われ",
        too="(?:私|わたし|僕|ぼく|俺|自分|うち)も|二人とも|一緒|同じ|みんな|と私",
        names="{}|家族",
    ),
    "ko": _Near(
        kin=(
            "(?:남편|아내|와이프|집사람|남자친구|여자친구|남친|여친|약혼자|약혼녀|"
            "여동생|남동생|아들|딸|조카|룸메이트|룸메|직장 동료|"
            "(?<=[리제내희] )(?:(?:사촌 )?(?:언니|누나|오빠|형|동생)|엄마|아빠|어머니|아버지|"
            "부모님|시어머니|시아버지|장모님|장인어른|외?할머니|외?할아버지|손자|손녀|신랑|고모|이모|"
            "외?삼촌|사촌|친구|절친|동료|상사|사장님|이웃))"
        ),
        subject=(
            "(?:^|[,.!] )(?:(?:근데|그런데|사실|그리고|아|네|아니|참|하지만),? )*"
            "(?:(?:우리|제|내|저희) )?"
            "(?P<who>{}(?: [가-힣]{{1,4}}?)?)(?:은|는|께서는|(?P<close>이|가|께서)) "
            "(?!있|없|둘|하나|한 명|두 명|세 명|좋|싫|보고)"
        ),
        end="[,.!?…~]",
        between="(?:요즘|지금|아직|원래|심한|정말|진짜|매일|항상|최근에|되게|아주)? ?",
        shared=(
            r"(?:^|\s)(?:나|저|내|제|우리|저희|너|네)(?:[는도를한와랑가의]|\s|$)|"
            "같이|함께|도 |줬|줘|주셨|주신"
        ),
        too=r"(?:^|\s)(?:나|저|우리)도|둘 다|같이|함께|똑같|나랑|저랑|나와|저와",
        names="(?:^|\\s){}(?:[은는이가을를도와과랑의에한께]|\\s|$)|가족",
    ),
    "vi": _Near(
        kin=(
            "(?:bố mẹ|ba mẹ|cha mẹ|chồng|vợ|bạn trai|bạn gái|người yêu|hôn phu|hôn thê|"
            "mẹ chồng|mẹ vợ|bố chồng|bố vợ|mẹ|má|bố|ba|cha|chị gái|em gái|anh trai|em trai|"
            "chị họ|em họ|anh họ|con trai|con gái|cháu trai|cháu gái|"
            "ông nội|ông ngoại|bà nội|bà ngoại|dì|cậu|chú|bác|cô|bạn thân|bạn cùng phòng|"
            "đồng nghiệp|sếp|hàng xóm)"
        ),
        subject=(
            r"(?:^|[,;.] )(?:(?:nhưng|mà|vì|thật ra|à|ừ|vâng|dạ|không|còn),? )*"
            r"(?P<who>{}) (?:của )?(?:mình|tôi|tớ|em) (?!và\b|với\b|cùng\b|có (?:một|hai|\d))"
        ),
        end=r"[,;.!?…]| (?:nên|nhưng|vì|mà|còn) ",
        between=r"(?:.* )?và|(?:đang|đã|vừa|mới|vừa mới|hay|rất|vẫn|thì)?",
        shared=r"\b(?:mình|tôi|tớ|em|chúng|bạn|cậu|cũng|cùng)\b",
        too=(
            r"\b(?:(?:mình|tôi|tớ|em) (?:cũng|với|và)|cả (?:hai|nhà)|(?:giống|và|với|cùng) "
            r"(?:mình|tôi|tớ|em)|vợ chồng|chúng (?:tôi|mình|em))\b"
        ),
        names=r"\b{}\b|gia đình",
    ),
}


@dataclass(frozen=True, kw_only=True)
class _Clause:
    """Something told of one who is near."""

    who: str
    name: str
    close: bool
    told: str


class _Patterns:
    """A language's table, compiled."""

    def __init__(self, near: _Near) -> None:
        self.subject = re.compile(near.subject.format(near.kin), re.IGNORECASE)
        anywhere = re.sub(r"\(\?<=[^)]*\)", "", near.kin)
        self.names = re.compile(near.names.format(anywhere), re.IGNORECASE)
        self.end = re.compile(near.end, re.IGNORECASE)
        self.between = re.compile(near.between)
        self.shared = re.compile(near.shared, re.IGNORECASE)
        self.too = re.compile(near.too, re.IGNORECASE)


_PATTERNS = {language: _Patterns(near) for language, near in _NEAR.items()}


def attributed(fact: Fact, session: Sequence[Line], language: str, *, least: float) -> Fact:
    """The fact told of one who is near to its speaker, where they said it of that one alone; any
    other fact as it is. `least` is the share of its words by which something else that they said
    may be what it rests on."""
    patterns = _PATTERNS[language]
    wanted = set(stems(fact.text))
    if not wanted or patterns.names.search(fact.text):
        return fact
    own = [line.text for line in session if line.speaker is fact.about]
    parted = [_parted(text, patterns, language) for text in own]
    found = [
        (clause, f"{text}\n{after}")
        for (clauses, _), (text, after) in zip(parted, pairwise((*own, "")), strict=True)
        for clause in clauses
        if _tells(clause, fact, patterns, language)
    ]
    if len(found) != 1 or patterns.too.search(found[0][1]):
        return fact
    for (_, others), asked in zip(parted, _asked(session, fact), strict=True):
        if any(coverage(wanted, set(stems(f"{other} {asked}"))) >= least for other in others):
            return fact
    return replace(fact, text=_retold(fact.text, found[0][0], language))


def _asked(session: Sequence[Line], fact: Fact) -> list[str]:
    """The question before each line of the fact's speaker."""
    return [
        " ".join(s for s in split_sentences(before.text) if QUESTION.search(s))
        if before is not None and before.speaker is not fact.about
        else ""
        for before, line in pairwise((None, *session))
        if line is not None and line.speaker is fact.about
    ]


def _parted(text: str, patterns: _Patterns, language: str) -> tuple[list[_Clause], list[str]]:
    """What a line tells of those who are near, and all else in it: in English a sentence at a
    time, elsewhere, where subjects are left out, as one."""
    clauses, others = list[_Clause](), list[str]()
    for sentence in split_sentences(text):
        rest, done = "", 0
        asks = QUESTION.search(sentence)
        for subject in () if asks else patterns.subject.finditer(sentence):
            end = patterns.end.search(sentence, subject.end())
            told = sentence[subject.end() : end.start() if end else len(sentence)]
            told = split_clauses(told, language)[0] if told.strip() else ""
            parts = subject.groupdict()
            clauses.append(
                _Clause(
                    who=parts["who"],
                    name=(parts.get("name") or "").strip(" ,"),
                    close=bool(parts.get("close")),
                    told=told,
                )
            )
            rest += sentence[done : subject.start()] + " "
            done = subject.end() + len(told)
        others.append(rest + sentence[done:])
    said = [other for other in others if re.search(r"\w", other)]
    return clauses, said if language == "en" or not said else [" ".join(said)]


def _tells(clause: _Clause, fact: Fact, patterns: _Patterns, language: str) -> bool:
    """Whether the clause says what the fact says, right behind its subject, and of no other."""
    if patterns.shared.search(clause.told):
        return False
    noted, told = _units(fact.text, language), _units(clause.told, language)
    match = SequenceMatcher(None, noted, told, autojunk=False)
    blocks = match.get_matching_blocks()
    if not noted or sum(block.size for block in blocks) < ALIKE * len(noted):
        return False
    longest = max(blocks, key=lambda block: block.size)
    gap = longest.b - longest.a
    join = " " if language in ("en", "vi") else ""
    between = unicodedata.normalize("NFC", join.join(told[: max(gap, 0)]))
    return not between if clause.close else bool(patterns.between.fullmatch(between))


_FORMS = {"be": "is are was were am 's ’s", "have": "has had have", "do": "does did do"}
_FORM = {form: verb for verb, forms in _FORMS.items() for form in forms.split()}
_ARTICLES = frozenset("a an the his her their its".split())
_COPULA = re.compile(
    r"(?:이에요|예요|에요|이야|야|입니다|이세요|이셔|세요|셔|인데|이신데|이고|이라서|라서|이거든요?)"
    r"(?= |$)"
)


def _units(text: str, language: str) -> list[str]:
    """What a text is compared by: words without their endings, letters, or parts of syllables."""
    text = text.strip(" .。")
    if language == "en":
        words = [w for w in re.findall(r"['’]s\b|[\w-]+", text.lower()) if w not in _ARTICLES]
        return [_FORM.get(w) or (w[:4] if len(w) > 4 else w.removesuffix("s")) for w in words]
    if language == "vi":
        return re.findall(r"\w+", text.lower())
    if language == "ko":
        return [*unicodedata.normalize("NFD", _COPULA.sub("이다", text).replace(" ", ""))]
    if language == "ja":
        text = plainly(concluded(text, "ja"), "ja").replace("である", "だ")
    return [sign for sign in text if not sign.isspace()]


def _retold(text: str, clause: _Clause, language: str) -> str:
    """The predicate as one about having somebody of whom it is so."""
    who = clause.who
    if language == "zh":
        return f"的{who}{text}"
    if language == "ja":
        named = re.fullmatch("(.+という)名前(?:だ|である)?", text)  # else it reads as the user's
        return f"{named[1]}{who}がいる" if named else f"{who}が{text}"
    if language == "ko":
        closed = (ord(who[-1]) - ord("가")) % 28 > 0
        return f"{who}{'이' if closed else '가'} {text}"
    if language == "vi":
        return f"có {who.lower()} {text}"
    who, name = who.lower(), re.sub(r"^(?:called|named) ", "", clause.name)
    if who.endswith("parents"):
        return f"has {who} who {_plural(text)}"
    article = "an" if who[0] in "aeiou" else "a"
    return f"has {article} {who}, {name}, who {text}" if name else f"has {article} {who} who {text}"


def _plural(text: str) -> str:
    """An English predicate of one, as of several."""
    adverb = next(iter(re.findall(r"^(?:(?:always|often|still|now|\w+ly) )+", text)), "")
    verb, space, rest = text.removeprefix(adverb).partition(" ")
    known = {"is": "are", "was": "were", "has": "have", "does": "do", "goes": "go"}
    bare = re.sub(r"(?<=[^aeiou])ies$", "y", verb)
    if bare == verb:
        bare = re.sub(r"(?<=sh|ch|ss)es$|(?<=[^s])s$", "", verb)
    return f"{adverb}{known.get(verb, bare)}{space}{rest}"
