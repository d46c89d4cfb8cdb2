"""Korean: the subject is left out, as people do; elsewhere the name with 님, or 당신.
The assistant says 나, in the plain style that notes have."""

from __future__ import annotations

import re

NAMED = re.compile("사용자 ?[（(]([가-힣]{2,5})[）)]")
OF_ASSISTANT = re.compile("어시스턴트(?:는|가|도)(?= )")
_OWN = {"어시스턴트는": "나는", "어시스턴트가": "내가", "어시스턴트도": "나도"}
_PRONOUN = re.compile(r"\b(?:그|그녀)(?:는|가|의|를|도|에게)(?= )")
"""Behind "당신" it would be somebody else; behind "사용자" it may be the user."""
_SELF = re.compile("^(?:나|저|내|제|당신|너|사용자)(?:는|가|은) ")


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
    topic = re.match(r"\S{1,8}[은는] ", text)
    if text.startswith("사용자") or (topic and not _SELF.match(text)):
        return text
    return f"사용자는 {_SELF.sub('', text)}"


def from_assistant(text: str) -> str:
    """See `omoide.language.addressing.from_user`."""
    own = re.match("(?:나|저|내|제)(는|가|도)(?= )", text)
    said = f"어시스턴트{own[1]}{text[own.end() :]}" if own else text
    return said.replace("당신", "사용자")
