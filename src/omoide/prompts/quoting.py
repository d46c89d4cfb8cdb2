"""Quotes untrusted text for a prompt, so that it is read as words, never as structure.

Everything in memory was said by somebody, or derived from it, and may be an injection: it may
close the marks around the memory, open a message of another role with chat template tokens, add a
line that looks like ours, or hide words from a reader. Stored text is never changed; it is only
quoted here.
"""

from __future__ import annotations

import re
from textwrap import dedent, indent
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_INVISIBLE = "\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f"
_HIDDEN = re.compile(f"[{_INVISIBLE}]")
"""Zero-width and direction characters, and Unicode's invisible copies of ASCII. Joiners stay: emoji
and some scripts need them."""
_OPEN, _BAR = "<＜﹤", "|｜│"
_BARRED = re.compile(rf"[{_OPEN}](?=\s*[{_BAR}])|(?<=[{_BAR}])\s*[>＞﹥]")
"""`<|im_start|>` and the like: Qwen, Llama 3, Phi, Cohere, gpt-oss, DeepSeek's full-width form."""
_NAMED = re.compile(
    rf"[{_OPEN}](?=\s*/?\s*(?:s|bos|eos|pad|unk|start_of_turn|end_of_turn|start_of_image|"
    r"begin_of_text|end_of_text|extra_id_\d+|think|tool_call|tool_response|memory)\b)|"
    rf"[{_OPEN}]{{2}}(?=\s*/?\s*SYS)",
    re.IGNORECASE,
)
"""Gemma's, Llama 2's and Mistral's tokens in angle brackets, and our own marks."""
_SQUARE = re.compile(r"\[(?=/?[A-Z][A-Z_]{2,}\])")
"""`[INST]`, `[/INST]`, `[TOOL_CALLS]`, `[SYSTEM_PROMPT]`: Mistral's."""
_SUSPECT = re.compile(rf"[{_INVISIBLE}{_OPEN}{_BAR}\[]")
"""Every match of the patterns above has one of these. Most texts have none, which is found out in
one search instead of four."""
_TAG = re.compile(rf"[{_OPEN}](?=[\s\u200c\u200d]*[/!?]?[\s\u200c\u200d]*[^\W\d])")
"""Anything that could be read as the start of a tag."""


def without_template_tokens(text: str) -> str:
    """The text without chat template tokens and without our own marks."""
    if not _is_suspect(text):
        return text
    text = _HIDDEN.sub("", text)
    text = _BARRED.sub(lambda match: "›" if match[0].strip() in ">＞﹥" else "‹", text)
    text = _NAMED.sub(lambda match: "‹" * len(match[0]), text)
    return _SQUARE.sub("(", text)


def _is_suspect(text: str) -> bool:
    """Whether any of the patterns above could match. Plain ASCII is looked at without a regular
    expression, in a tenth of the time: every line of memory in every prompt comes by here."""
    if text.isascii():
        return "<" in text or "|" in text or "[" in text
    return _SUSPECT.search(text) is not None


def quoted(text: str) -> str:
    """The text as one item between the marks of memory. It cannot close them, and all lines but
    the first are indented so that they do not look like ours; code stays indented within."""
    if _is_suspect(text):
        text = _TAG.sub("‹", without_template_tokens(text))
    if text.isprintable():  # so it has no line breaks of any kind
        return text.strip()
    lines = [line.rstrip() for line in text.strip().splitlines() if line.strip()]
    return "\n".join((*lines[:1], *indent(dedent("\n".join(lines[1:])), "  ").splitlines()))


def as_list(texts: Iterable[str]) -> str:
    """Memory items as a list: every line begins with a dash or continues the line above."""
    return "\n".join(f"- {quoted(text)}" for text in texts)
