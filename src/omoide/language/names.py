"""The name by which a speaker introduces themselves, in five languages, by rule.

Two kinds of words are read. "My name is Ana", 我叫安娜, ミキと申します, 제 이름은 아나예요, tôi tên
là Ana say that a name follows: they count wherever they stand. "I'm Ana", 我是王芳, ミキです, 저는
아나예요, mình là Ana have the form of any statement about oneself: they count where people
introduce themselves, at the beginning of a clause or of what is said, and not before words that
are no names (`not_names`). What the rules do not know is left to the model's notes: a name that is
missed can be told again, and one that is not a name would be said to somebody's face.

On real dialogue (docs/LOG.md has the counts) nearly all that they found were names.
"""

from __future__ import annotations

import re

from omoide.language.not_names import NOT_NAMES

_UPPER = "[A-ZÀ-ÖØ-ÞĀĂĐĨŌŨƠƯẠ-Ỹ]"
_WORD = rf"{_UPPER}[\w’'-]*\w|{_UPPER}\b"
_END_EN = r"(?![’']s\b)(?=\s*(?:[.,!;:?)…~–—]|$|\band\b|\bfrom\b|\bby the way\b|\bbut\b))"
_ME_VI = r"(?:tôi|mình|tớ|em|cháu|con|anh|chị)"
_VI_AFTER = r"(?=\s*(?:[.,!;:?)…]|$|và\b|ở\b|từ\b|đến\b|năm nay\b|nè\b|nhé\b|ạ\b|đây\b|nha\b))"
_KATAKANA = "[\u30a1-\u30fa\u30fc・]"
_KANJI = "[\u4e00-\u9fff々]"
_NAME_JA = rf"(?:{_KATAKANA}{{2,12}}|{_KANJI}{{2,5}}|[A-Z][a-z]+)"
_ANY_JA = rf"(?:{_NAME_JA}|{_KANJI}{{1,3}}[ぁ-ん]{{1,3}}?|[ぁ-ん]{{2,5}}?)"
_SHORT_JA = rf"(?:{_KATAKANA}{{2,5}}|{_KANJI}{{2,4}}|[A-Z][a-z]+)"
_I_JA = "(?:私|僕|俺|わたし|わたくし|あたし|ぼく|おれ|自分)"
_COPULA_JA = "(?:です|だよ|だ|と申|といい|と言い|っていい|って言い|っていう|という|である)"
_COPULA_KO = "(?:이에요|예요|이예요|입니다|이야|야|이라고|라고|이고|고|이며|며|인데)"
_SURNAMES = (
    "王李张刘陈杨赵吴周徐孙朱胡郭何林罗郑梁谢宋唐许邓韩冯曹彭曾肖田董潘袁蔡蒋"
    "余于杜叶魏苏吕丁沈姚卢姜崔谭陆汪范"
)

_TOLD = {
    "en": re.compile(
        r"(?<![\"“‘])\b(?:[Mm]y (?:(?:full|first|real|new) )?name(?:[’']s| is)(?: now)?|"
        r"I(?: am|[’']m) (?:called|named)|I go by(?: the name(?: of)?)?|"
        r"(?:[Yy]ou can|[Jj]ust|[Pp]lease|[Ee]veryone|[Pp]eople|[Ff]riends|[Tt]hey all) calls? me|"
        r"^[Cc]all me|changed my name to) "
        rf"(?P<name>(?:{_WORD})(?: (?:{_WORD})){{0,2}})(?![’']s\b)"
        r"|\b[Mm]y name(?:[’']s| is) (?P<plain>[a-z]{2,12})(?=\s*(?:[.,!;]|$|and\b))"
    ),
    "zh": re.compile(
        r"(?<![\u4e00-\u9fff“「])(?:(?:大家|你|朋友们?)?(?:可以|都)?叫我|我(?:的名字)?叫做?|我名叫|我的名字是)"
        r"(?P<name>[A-Z][a-z]+|(?![了他她它你您咱谁人])[\u4e00-\u9fff·]{2,5}?)"
        r"(?=[，。！!,.；;、~\s)）]|$|来自|今年|住在|是|在|就[行好可]|吧|啊|呀|哦|啦|哈)"
    ),
    "ja": re.compile(
        rf"(?:^|[、。！!？?\s])(?:{_I_JA}は、?)?(?P<name>{_ANY_JA})"
        r"(?:と申(?:します|す)|(?:と|って)呼んで(?:ください|下さい|ね|くれ|ほしい))"
        rf"|(?:^|[、。！!？?\s])(?:{_I_JA}は、?)?(?P<said>{_NAME_JA})"
        r"(?:と|って)(?:いい|言い)ます(?=[。！!、]|$)"
        rf"|{_I_JA}は、?(?P<mine>{_NAME_JA})"
        r"(?:という名前|って(?:いう|言う)(?:んだ|んです|よ|の|[。！!]|$))"
        rf"|{_I_JA}の名前は、?(?P<call>{_NAME_JA}|[ぁ-ん]{{2,5}}?)(?={_COPULA_JA}|[、。！!]|$)"
    ),
    "ko": re.compile(
        r"(?:^|[.,!?~\s])(?:제|내|저의|나의) 이름은 (?P<name>[가-힣]{1,5}?|[A-Z][a-z]+)"
        rf"(?=(?:{_COPULA_KO}|[.,!~]|$))"
        r"|(?:^|[.,!?~])\s*(?:(?:저는|전|나는|난) )?(?P<said>[가-힣]{2,4}?|[A-Z][a-z]+)이?라고 "
        r"(?:합니다|해요?|부르세요|불러)"
    ),
    "vi": re.compile(
        rf"(?<!của )(?<!\w)(?i:{_ME_VI} tên(?: là)?|tên (?:của )?{_ME_VI} là|gọi {_ME_VI} là) "
        rf"(?P<name>(?:{_WORD})(?: (?:{_WORD})){{0,3}})"
    ),
}
"""Words that say that a name follows."""
_SELF = {
    "en": re.compile(
        r"(?:^|[.,!;:~–—]\s*|\b(?:[Hh]i|[Hh]ello|[Hh]ey|there|and|[Ss]o|[Ww]ell|[Ee]veryone|all|oh)\s+)"
        rf"I(?:[’']m| am) (?P<name>(?:{_WORD})(?: (?:{_WORD})){{0,2}}){_END_EN}"
    ),
    "zh": re.compile(
        rf"(?<![\u4e00-\u9fff])我是(?P<name>[{_SURNAMES}][\u4e00-\u9fff]{{1,2}}|小[\u4e00-\u9fff]|"
        r"[A-Z][a-z]+)(?=[，。！!,.；;、~\s]|$|呀|啊|哦)"
    ),
    "ja": re.compile(
        rf"^(?:{_I_JA}は、?(?P<name>{_SHORT_JA})(?=です|だよ|だ[。！]|、)"
        rf"|名前は、?(?P<call>{_NAME_JA}|[ぁ-ん]{{2,5}}?)(?={_COPULA_JA}|[、。！!]|$)"
        rf"|(?P<said>{_SHORT_JA})(?=です(?:[。！!]|$)))"
    ),
    "ko": re.compile(
        r"^(?:저는|전|나는|난|저) (?P<name>[가-힣]{2,4}?|[A-Z][a-z]+)"
        rf"(?={_COPULA_KO}(?:[.,!~\s]|$))"
    ),
    "vi": re.compile(
        rf"(?:^|[.,!;:]\s*|(?i:chào) (?:bạn|cậu|mọi người|cả nhà|anh|chị) )(?i:{_ME_VI}) là "
        rf"(?P<name>(?:{_WORD})(?: (?:{_WORD})){{0,3}}){_VI_AFTER}"
    ),
}
"""Words that say who one is, or what."""
_GREETING = {
    "ja": re.compile(
        r"^(?:こんにちは|こんばんは|もしもし|おはよう(?:ございます)?|初めまして|はじめまして|どうも|やあ|ねえ)[、。！!\s]*"
    ),
    "ko": re.compile(r"^(?:안녕하세요|안녕|반가워요?|반갑습니다|처음 뵙겠습니다)[,.!~\s]*"),
}
_SPLIT = re.compile(r"(?<=[.!?。！？\n])\s*")
_ASKED = re.compile(r"(?:か|の|って)[。]?[?？]?$|[?？]$")


def introduced(text: str, language: str, *, opening: bool = True) -> str:
    """The name that the speaker says is theirs, the last if there are several; empty if none.

    `opening` says that nobody said anything before: in Japanese and Korean a bare 「ミキです」
    counts only there or behind a greeting, since elsewhere it answers any question.
    """
    found, greeted = "", opening
    for raw in _SPLIT.split(text):
        sentence = raw.strip()
        if language in _GREETING and (greeting := _GREETING[language].match(sentence)):
            greeted, sentence = True, sentence[greeting.end() :]
        if not sentence:
            continue
        asks = bool(_ASKED.search(sentence)) and language in ("ja", "ko", "zh")
        told, says = _TOLD[language].search(sentence), True
        if told is None and (language not in _GREETING or greeted):
            told, says = _SELF[language].search(sentence), False
        if told and not asks and (name := _checked(told, sentence, language, says=says)):
            found = name
        greeted = False
    return found


_DENIED = re.compile(r"\b(?:don[’']t|do not|never|not|stop|if|đừng|không)\s*$", re.IGNORECASE)


def _checked(told: re.Match[str], sentence: str, language: str, *, says: bool) -> str:
    """The name, if it is one and was not denied. April is one where it was said to be a name, and
    where somebody "is April" it is more likely not."""
    which, name = next((key, value) for key, value in told.groupdict().items() if value)
    if _DENIED.search(sentence[: told.start()]) or _DENIED.search(sentence[: told.start(which)]):
        return ""
    name = name.strip(" ,.’'-")
    if which == "plain":
        name = name.capitalize()
    if any(len(part) > 1 and part.isascii() and part.isupper() for part in name.split()):
        return ""
    known = NOT_NAMES[language]
    if name.lower() in known.never:
        return ""
    if says and which != "plain":
        return name
    taken = {name.lower(), name.split()[0].lower()} & known.words
    return "" if taken or name.endswith(known.endings) else name
