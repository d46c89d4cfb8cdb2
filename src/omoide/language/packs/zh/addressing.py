"""Chinese: 用户 becomes 你; so do 他 and 她, as long as nobody else was mentioned.
A note that begins with 助手 is the assistant's own, and says 我."""

from __future__ import annotations

import re

NAMED = re.compile("用户[（(]([一-鿿·]{2,8})[）)]")
OF_ASSISTANT = re.compile("助手(?=[\u4e00-\u9fff])")
_OTHERS = re.compile(
    "[哥弟姐妹爸妈父母爷奶叔姨舅姑]|丈夫|妻子|老公|老婆|朋友|同事|邻居|老板|老师|医生|孩子|儿子|女儿|助手"
)

_PRONOUN = re.compile("(?<![吉其])[他她](?![们人])")


def to_user(text: str, *, name: str, about_user: bool) -> str:
    """See `omoide.language.addressing.to_user`."""
    if OF_ASSISTANT.match(text):
        text, about_user = f"我{text.removeprefix('助手')}", False
    said = re.sub(f"用户(?:[（(]?{re.escape(name)}[）)]?)?" if name else "用户", "你", text)
    if name and said.startswith(name):
        said = f"你{said.removeprefix(name)}"
    if not about_user and said == text:
        return said
    first = _PRONOUN.search(said)
    if first and not _OTHERS.search(said[: first.start()]):
        said = _PRONOUN.sub("你", said)
    return said


def from_user(text: str) -> str:
    """See `omoide.language.addressing.from_user`."""
    if not re.match("[你我您]", text):
        return text
    return re.sub("(?<![自忘])[你我您](?![们国])", "用户", text)  # not 自我 or 我国


def from_assistant(text: str) -> str:
    """See `omoide.language.addressing.from_user`."""
    return re.sub("你(?!们)", "用户", re.sub("^我(?!们)", "助手", text))
