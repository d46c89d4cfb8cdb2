"""What all judges share: asking, and finding a field in an answer that may be loose."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from omoide.prompts import words

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from omoide.ports import Completion, Request

    Ask = Callable[[Request], Awaitable[Completion]]

_OBJECT = re.compile(r"\{[^{}]*\}")


def field(answer: str, name: str) -> object:
    """The field of the last JSON object in an answer that has it; None if there is none."""
    for text in reversed(_OBJECT.findall(answer)):
        try:
            told = json.loads(text)
        except json.JSONDecodeError:
            continue
        if isinstance(told, dict) and name in told:
            return told[name]
    return None


def bracketed(answer: str) -> str | None:
    """What stands in the last [[…]] of an answer."""
    found = re.findall(r"\[\[\s*([^\[\]]+?)\s*\]\]", answer)
    return found[-1] if found else None


def shown(lines: Sequence[str] | str, language: str) -> str:
    """Lines as a block of a prompt; the language's "(none)" if there are none."""
    text = lines if isinstance(lines, str) else "\n".join(lines)
    return text.strip() or words(language)["none"]


def criterion(name: str, language: str) -> str:
    """The question that a criterion asks."""
    return words(language)[f"criterion_{name}"]
