"""Vietnamese: người dùng becomes bạn; verbs do not change."""

from __future__ import annotations

import re

NAMED = re.compile(r"Người dùng, ([A-ZĐÀ-Ỹ][\w-]*(?: [A-ZĐÀ-Ỹ][\w-]*)*),")


def to_user(text: str, *, name: str, about_user: bool) -> str:
    """See `omoide.language.addressing.to_user`."""
    del about_user  # cô and anh are also relatives, so they stay
    aside = rf"(?:,? {re.escape(name)}\b,?)?" if name else ""
    aside = aside or r"(?:, [A-ZĐÀ-Ỹ][\w-]*(?: [A-ZĐÀ-Ỹ][\w-]*)*,)?"
    said = re.sub(rf"\b[Nn]gười dùng{aside}", "bạn", text)
    return re.sub(rf"^{re.escape(name)}\b", "bạn", said) if name else said


def from_user(text: str) -> str:
    """See `omoide.language.addressing.from_user`."""
    said = re.sub(r"^(?:Bạn|Tôi|Mình)\b", "Người dùng", text)
    if said == text:
        return text
    return re.sub(r"\b(?:bạn|tôi|mình)\b", "người dùng", said)
