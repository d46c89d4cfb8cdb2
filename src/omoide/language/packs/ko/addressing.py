"""Korean: the subject is left out, as people do; elsewhere the name with 님, or 당신.
The assistant says 나, in the plain style that notes have."""

from __future__ import annotations

import re

NAMED = re.compile("사용자 ?[（(]([가-힣]{2,5})[）)]")
OF_ASSISTANT = re.compile("어시스턴트(?:는|가|도)(?= )")
_OWN = {"어시스턴트는": "나는", "어시스턴트가": "내가", "어시스턴트도": "나도"}
_PRONOUN = re.compile(r"\b(?:그|그녀)(?:는|가|의|를|도|에게)(?= )")
"""Behind "당신" it would be somebody else; behind "사용자" it may be the user."""
_USER = re.compile(
    r"(?<!\S)(?:(?:나|저|너)(는|도|를|의|에게|한테)|당신(은|이|을|의|도|에게|한테)|[내제네](가)) "
)
_AFTER_VOWEL = {"은": "는", "이": "가", "을": "를"}
"""Particles as they are after 사용자."""
_USERS = re.compile(r"(?:^|(?<=[.!?] ))(?:내|제) (?!\d)")
"""Only where a sentence begins: 한 달 내 is "within a month"."""


def to_user(text: str, *, name: str, about_user: bool) -> str:
    """See `omoide.language.addressing.to_user`."""
    del about_user  # pronouns are rare
    if _PRONOUN.search(text, 1):
        return text
    if own := OF_ASSISTANT.match(text):
        text = _OWN[own[0]] + text[own.end() :]
    you = f"{name} 님" if name else "당신"
    aside = f"(?: ?[（(]?{re.escape(name)}(?: 님)?[）)]?)?" if name else ""
    subject = f"(?:사용자{aside}|{re.escape(name) or '사용자'}(?: 님)?)"
    said = re.sub(f"^{subject}(?:는|은|가|이) ", "", text)
    said = re.sub(f"사용자{aside}(?:가|이)(?= )", f"{you}이", said)
    said = re.sub(f"사용자{aside}(?:는|은)(?= )", f"{you}은", said)
    return re.sub(f"사용자{aside}", you, said)


def from_user(text: str) -> str:
    """See `omoide.language.addressing.from_user`."""
    said = _USERS.sub("사용자의 ", re.sub("^난 ", "나는 ", text))
    said = _USER.sub(_with_particle, said)
    if said.startswith("사용자") or re.match(r"\S{1,8}[은는] ", said):
        return said
    return f"사용자는 {said}"


def _with_particle(match: re.Match[str]) -> str:
    said = match[1] or match[2] or match[3]
    return f"사용자{_AFTER_VOWEL.get(said, said)} "


def from_assistant(text: str) -> str:
    """See `omoide.language.addressing.from_user`."""
    own = re.match("(?:나|저|내|제)(는|가|도)(?= )", text)
    said = f"어시스턴트{own[1]}{text[own.end() :]}" if own else text
    return said.replace("당신", "사용자")
