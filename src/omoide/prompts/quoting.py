"""Text of people and models as it may stand in a prompt: as words, never as structure.

Whatever sits in memory was said by somebody, or made of what somebody said, and may try to be more:
to close the marks around the memory, to open a message of another role with the tokens of some
chat template, to put a line of its own among ours, or to hide words from a reader. What is stored
stays as it was said; here it is only quoted.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_HIDDEN = re.compile(
    "[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
"""Zero-width and direction signs, and Unicode's invisible copies of ASCII. Joiners stay: emoji and
some scripts are written with them."""
_OPEN, _BAR = "<＜﹤", "|｜│"
_BARRED = re.compile(rf"[{_OPEN}](?=\s*[{_BAR}])|(?<=[{_BAR}])\s*[>＞﹥]")
"""`<|im_start|>` and its kin: Qwen, Llama 3, Phi, Cohere, gpt-oss, DeepSeek's full-width form."""
_NAMED = re.compile(
    rf"[{_OPEN}](?=\s*/?\s*(?:s|bos|eos|pad|unk|start_of_turn|end_of_turn|start_of_image|"
    r"begin_of_text|end_of_text|extra_id_\d+|think|tool_call|tool_response|memory)\b)|"
    rf"[{_OPEN}]{{2}}(?=\s*/?\s*SYS)",
    re.IGNORECASE,
)
"""Gemma's, Llama 2's and Mistral's tokens in angle brackets, and our own marks."""
_SQUARE = re.compile(r"\[(?=/?[A-Z][A-Z_]{2,}\])")
"""`[INST]`, `[/INST]`, `[TOOL_CALLS]`, `[SYSTEM_PROMPT]`: Mistral's."""
_TAG = re.compile(rf"[{_OPEN}](?=[\s\u200c\u200d]*[/!?]?[\s\u200c\u200d]*[^\W\d])")
"""Anything that might be read as the beginning of a tag."""


def plain(text: str) -> str:
    """Text with nothing in it that any chat template takes for a token, nor our marks."""
    text = _HIDDEN.sub("", text)
    text = _BARRED.sub(lambda found: "›" if found[0].strip() in ">＞﹥" else "‹", text)
    text = _NAMED.sub(lambda found: "‹" * len(found[0]), text)
    return _SQUARE.sub("(", text)


def quoted(text: str) -> str:
    """Text to stand as one item between the marks of memory: it cannot close them, and lines
    after its first are indented, so that none of them begins like one of ours."""
    lines = [line.strip() for line in _TAG.sub("‹", plain(text)).splitlines()]
    return "\n  ".join(line for line in lines if line)


def noted(texts: Iterable[str]) -> str:
    """Items of memory as a list: every line begins with a dash or belongs to the line above."""
    return "\n".join(f"- {quoted(text)}" for text in texts)
