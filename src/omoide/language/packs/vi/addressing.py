"""Vietnamese: người dùng becomes bạn, and trợ lý tôi; verbs do not change."""

from __future__ import annotations

import re

NAMED = re.compile(r"Người dùng, ([A-ZĐÀ-Ỹ][\w-]*(?: [A-ZĐÀ-Ỹ][\w-]*)*),")
OF_ASSISTANT = re.compile(r"Trợ lý (?!giám đốc|của )")
_PRONOUN = re.compile(r"\b(?:anh|chị|cô|cậu|ông|bà|em) (?:ấy|ta)\b", re.IGNORECASE)
"""Behind "bạn" it would be somebody else; behind "người dùng" it may be the user."""


def to_user(text: str, *, name: str, about_user: bool) -> str:
    """See `omoide.language.addressing.to_user`."""
    del about_user  # cô and anh are also relatives, so they stay
    if _PRONOUN.search(text, 1):
        return text
    text = f"Tôi {text[len('Trợ lý ') :]}" if OF_ASSISTANT.match(text) else text
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


def from_assistant(text: str) -> str:
    """See `omoide.language.addressing.from_user`."""
    return re.sub(r"\bbạn\b", "người dùng", re.sub(r"^(?:Tôi|Mình)\b", "Trợ lý", text))
