"""Which old facts a new one makes untrue, decided by rule.

A model of 1.5 B parameters cannot be asked: shown numbered old facts it named the first in 27 of
29 cases, whatever it said (docs/LOG.md). So: of name, home and marital status the newest statement
counts; of work, the newest that tells of a change; anything else goes when a new fact tells of an
end and shares a word with it. Of an old fact with several clauses only the clause goes, and of
"lives in Leeds with her dog" only Leeds: what nothing contradicts is kept. What the rules do not
see stays, and the newer fact stands beside it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from omoide.language import concluded, split_clauses
from omoide.memory.overlap import stems
from omoide.memory.summary.facts import Fact
from omoide.memory.summary.naming import named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.domain import Speaker

_Rules = dict[str, re.Pattern[str]]


def _rules(**patterns: str) -> _Rules:
    return {language: re.compile(p, re.IGNORECASE) for language, p in patterns.items()}


_HOME = _rules(
    en=r"\b(?:lives? in|living in|moved (?:from .+ )?to|moved from|relocated)\b",
    zh=r"住在|搬到|搬去|定居",
    ja=r"に住|へ引っ越|に引っ越|から引っ越",
    ko=r"에서? (?:살|산다|거주)|로 이사|에서 이사",
    vi=r"sống ở|sống tại|chuyển (?:từ|vào|đến|tới|ra|về|sang)",
)
_STATUS = _rules(
    en=r"\b(?:single|married|engaged|divorced|widowed|separated)\b",
    zh=r"单身|结婚|已婚|订婚|离婚|未婚",
    ja=r"独身|結婚|婚約|離婚",
    ko=r"미혼|독신|결혼|약혼|이혼",
    vi=r"độc thân|kết hôn|đính hôn|ly hôn|đã cưới",
)
_WORK = _rules(
    en=r"\bworks? (?:as|at|for|in)\b|\bjob\b|\bis (?:now )?an? (?:\w+ )?"
    r"(?:\w+(?:er|or|ist|ian|man)|nurse|cook|chef|guard|clerk|agent)\b",
    zh=r"上班|工作|公司|[是做当].{0,6}(?:员|师|生|策划|经理|护士)|开了一家",
    ja=r"働|勤め|仕事|会社|看護師|教師|プログラマー|カフェ.開",
    ko=r"일한|일하|일해|근무|회사|프로그래머|간호사|교사|카페",
    vi=r"làm việc|làm ở|làm tại|công ty|lập trình viên|y tá|giáo viên|quán",
)
_CHANGE = _rules(
    en=r"\b(?:quit|left|leaving|no longer|not .* anymore|now|switched|became|promoted|retired|"
    r"new job|stopped|gave up|sold|died|passed away)\b",
    zh=r"现在|不再|不在|辞|改|换|转|停|戒|不吃|卖",
    ja=r"辞め|やめ|転職|今は|変わ|開い|止め|売",
    ko=r"그만|이직|이제|지금|바꾸|바꿨|끊|열었|팔았",
    vi=r"nghỉ|giờ|hiện|đổi|bỏ|thôi|mở|không còn|đã bán",
)
_END = _rules(
    en=r"\b(?:quit|no longer|not .* anymore|stopped|gave up|sold|died|passed away|left)\b",
    zh=r"不再|辞|停|戒|不吃|卖|去世",
    ja=r"辞め|やめ|止め|売|亡くな",
    ko=r"그만|끊|팔았|죽었",
    vi=r"\bbỏ\b|\bthôi\b|không còn|đã bán|nghỉ",
)
_NEW_WORK = _rules(
    en=r"\b(?:quit|new job|left my job|laid off|got fired|retired|no longer work|promoted|"
    r"switched (?:jobs|careers)|now works?|works? .{0,30}\bnow)\b",
    zh=r"辞职|换工作|新工作|不在.{1,8}(?:干|上班|工作)|现在.{0,10}(?:上班|工作)",
    ja=r"辞め|転職|新しい仕事|今は.{0,15}(?:働|勤)",
    ko=r"그만두|이직|새 직장|(?:지금|이제).{0,15}(?:일해|일하|근무)",
    vi=r"nghỉ (?:việc|ở)|việc mới|chuyển việc|(?:giờ|hiện).{0,15}làm",
)
_CLAUSE = _rules(
    en=r",? and |, ", zh="，", ja="、|(?<=[てで]いて)(?=[一-鿿ァ-ヺ])", ko=", ", vi=r",? và |, "
)
_COMMA = {"en": ", ", "zh": "，", "ja": "、", "ko": ", ", "vi": ", "}
_COMPANY = _rules(
    en=r"^(lives|is living) in [^,]+?( with .+)$",
    zh=r"^((?:和|跟|与).+?(?:一起)?住)在.+$",
    ja=r"^(?:.+?[でに])?(.+?と)(?:一緒に|二人で)?.+?に(住んでいる|暮らしている)$|^.+?に(.+?と)(?:一緒に)?(住んでいる)$",
    ko=r"^(.+?(?:와|과|랑|하고) )(?:함께 |같이 )?\S+?에서? (산다|살고 있다)$"
    r"|^\S+?에서? (.+?(?:와|과|랑|하고) )(?:함께 |같이 )?(산다|살고 있다)$",
    vi=r"^(sống) (?:ở|tại) .+?( (?:với|cùng) .+)$",
)
"""A home and who shares it: moving ends the first, and says nothing of the second."""


def retire(
    old: Sequence[Fact], new: Sequence[Fact], language: str, *, said: Mapping[Speaker, str]
) -> tuple[list[Fact], list[Fact]]:
    """The old facts that still hold, and those, or the clauses of them, that do not."""
    holding: list[Fact] = []
    untrue: list[Fact] = []
    for fact in old:
        clauses = _clauses(fact.text, language)
        gone = {
            clause
            for clause in clauses
            if any(
                newer.about is fact.about
                and newer.text != fact.text
                and _replaces(newer.text, clause, language, said.get(fact.about, ""))
                for newer in new
            )
        }
        if not gone:
            holding.append(fact)
            continue
        untrue += [Fact(about=fact.about, text=clause) for clause in clauses if clause in gone]
        rest = [left for clause in clauses if (left := _left(clause, clause in gone, language))]
        if rest:
            rest[-1] = concluded(rest[-1], language)
            holding.append(Fact(about=fact.about, text=_COMMA[language].join(rest)))
    return holding, untrue


def _clauses(text: str, language: str) -> list[str]:
    """What a fact tells, one thing after the other; Korean strings clauses together without a
    comma."""
    return [
        clause
        for part in _CLAUSE[language].split(text)
        for clause in split_clauses(part, language)
        if clause
    ]


def _left(clause: str, gone: bool, language: str) -> str:
    """What of a clause still holds: all of it; of a home that is gone, who shared it."""
    if not gone:
        return clause
    found = _COMPANY[language].match(clause) if _HOME[language].search(clause) else None
    return "".join(part for part in found.groups() if part) if found else ""


def _replaces(newer: str, clause: str, language: str, said: str) -> bool:
    def both(rules: _Rules) -> bool:
        return bool(rules[language].search(clause) and rules[language].search(newer))

    if both(_HOME) or both(_STATUS):
        return True
    if (name := named(newer, language)) and named(clause, language) not in ("", name):
        return True
    if both(_WORK) and (_CHANGE[language].search(newer) or _NEW_WORK[language].search(said)):
        return True
    return bool(_END[language].search(newer) and stems(clause) & stems(newer))
