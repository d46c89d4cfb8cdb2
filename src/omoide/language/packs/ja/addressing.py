"""Japanese: the subject is left out, as people do; elsewhere the name with さん, or あなた.
The assistant calls itself 私."""

from __future__ import annotations

import re

NAMED = re.compile(r"ユーザー[（(](\w{1,12})[）)]")
OF_ASSISTANT = re.compile("アシスタント(?=[はがも])")
_PRONOUN = re.compile("彼女?(?=[はがのも])")
"""Behind "あなた" it would be somebody else; behind "ユーザー" it may be the user. Before other
particles 彼女 is mostly a girlfriend."""
_USER = re.compile("(?<![一-龥])(?:私|わたし|僕|ぼく|俺|あなた)(?=[はがもにのをとへ])")
"""Not in 公私 or 私立."""


def to_user(text: str, *, name: str, about_user: bool) -> str:
    """See `omoide.language.addressing.to_user`."""
    del about_user  # pronouns are rare
    if _PRONOUN.search(text, 1):
        return text
    text = f"私{text.removeprefix('アシスタント')}" if OF_ASSISTANT.match(text) else text
    you = f"{name}さん" if name else "あなた"
    aside = f"(?:(?:である|の|、|[（(])?{re.escape(name)}(?:さん)?[）)]?)?" if name else ""
    said = re.sub(f"^(?:ユーザー{aside}|{re.escape(name) or 'ユーザー'}(?:さん)?)は、?", "", text)
    return re.sub(f"ユーザー{aside}", you, said)


def from_user(text: str) -> str:
    """See `omoide.language.addressing.from_user`."""
    said = _USER.sub("ユーザー", re.sub("^(?:私|わたし|僕|ぼく|俺|あなた)、", "ユーザーは", text))
    if said.startswith("ユーザー") or re.match("[^、。]{1,12}は", said):
        return said
    return f"ユーザーは{said}"


def from_assistant(text: str) -> str:
    """See `omoide.language.addressing.from_user`."""
    own = re.match("(?:私|わたし|僕|ぼく)(?=[はがも])", text)
    said = f"アシスタント{text[own.end() :]}" if own else text
    return said.replace("あなた", "ユーザー")
