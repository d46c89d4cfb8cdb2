"""Vietnamese: người dùng becomes bạn, and trợ lý tôi; verbs do not change."""

from __future__ import annotations

import re

NAMED = re.compile(r"Người dùng, ([A-ZĐÀ-Ỹ][\w-]*(?: [A-ZĐÀ-Ỹ][\w-]*)*),")
_NOT_FRIEND = (
    r"(?<!người )(?<!các )(?<!những )(?<!nhóm )(?<!kết )(?<!làm )(?<!một )(?<!tình )"
    r"bạn(?! (?:gái|trai|bè|thân|học|đời|cùng|của|tôi|mình|nhỏ|cũ|tốt|ấy)\b)"
)
_YOU = re.compile(rf"\b{_NOT_FRIEND}\b", re.IGNORECASE)
"""Not a friend: bạn gái, một người bạn."""
_I = re.compile(r"(?<!chúng )(?<!bọn )\btôi\b|^mình\b", re.IGNORECASE)
"""Later in a sentence mình is "oneself", as in một mình, and stays."""
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
    by_user = _I.search(text) is not None  # whose bạn is a friend
    said = (_I if by_user else _YOU).sub("người dùng", text)
    return said[:1].upper() + said[1:] if said != text and text[:1].isupper() else said


def from_assistant(text: str) -> str:
    """See `omoide.language.addressing.from_user`."""
    return _YOU.sub("người dùng", re.sub(r"^(?:Tôi|Mình)\b", "Trợ lý", text))
