"""Short excerpts of an endpoint's error body, without the API key and the prompt."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LENGTH = 240

_TAG = re.compile(r"<[^>]*>")
_ECHO = 12
"""Consecutive characters shared with the prompt that count as an echo of it."""
_ECHO_WIDE = 4
"""The same for text without ASCII: four Chinese characters say as much as twelve English ones."""


def excerpt(body: str, *, secrets: Sequence[str], texts: Sequence[str]) -> str:
    """The message in an error body, without `secrets` and passages of `texts`."""
    message = message_in(body)
    for secret in secrets:
        message = message.replace(secret, "…") if secret else message
    message = _hide(message[: 4 * LENGTH], texts)
    return message if len(message) <= LENGTH else message[:LENGTH] + "…"


def message_in(body: str) -> str:
    """The readable text in a JSON error, or a page without its tags. It may repeat the prompt and
    the key: it is read, not shown."""
    try:
        return " ".join("; ".join(_words(json.loads(body))).split())
    except (ValueError, RecursionError):
        return " ".join(_TAG.sub(" ", body).split())


def _words(value: object) -> Iterable[str]:
    """The messages of OpenAI, llama.cpp, Ollama (`error`) and FastAPI (`detail`: vLLM).

    Only these keys are read, because a validation error also echoes the whole input.
    """
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _words(item)
    elif isinstance(value, dict):
        where = value.get("loc")
        if isinstance(where, list):
            yield ".".join(str(step) for step in where)
        for key in ("error", "message", "detail", "msg", "code", "type", "param"):
            if value.get(key) is not None:
                yield from _words(value[key])


def _hide(message: str, texts: Sequence[str]) -> str:
    """`message` with every passage that occurs in one of `texts` replaced by an ellipsis."""
    hidden = [False] * len(message)
    for width in (_ECHO, _ECHO_WIDE):
        for start in range(len(message) - width + 1):
            window = message[start : start + width]
            if width == _ECHO_WIDE and any(ord(c) < 128 for c in window):
                continue
            if any(window in text for text in texts):
                hidden[start : start + width] = [True] * width
    masked = "".join("\0" if hide else c for c, hide in zip(message, hidden, strict=True))
    return re.sub("\0+", "…", masked)
