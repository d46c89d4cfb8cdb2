"""What all judges share: formatting prompts, and reading fields from loosely formatted answers."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from omoide.prompts import vocabulary
from omoide_bench.prompts import judge_words

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from omoide.ports import Completion, Request

    Ask = Callable[[Request], Awaitable[Completion]]

EXPLAINED = 240
"""Most tokens of a verdict with its explanation. A verdict that is cut off is unreadable."""
_DECODER = json.JSONDecoder()


def field(answer: str, name: str) -> object:
    """The field's value in the last JSON object that has it; None if there is none."""
    for brace in reversed([match.start() for match in re.finditer(r"\{", answer)]):
        try:
            value, _ = _DECODER.raw_decode(answer, brace)
        except (json.JSONDecodeError, RecursionError):
            continue
        if isinstance(value, dict) and name in value:
            return value[name]
    return None


def bracketed(answer: str) -> str | None:
    """The content of the last [[…]] in an answer."""
    contents = re.findall(r"\[\[\s*([^\[\]]+?)\s*\]\]", answer)
    return contents[-1] if contents else None


def shown(lines: Sequence[str] | str, language: str) -> str:
    """Lines as a block of a prompt, or the language's "(none)"."""
    text = lines if isinstance(lines, str) else "\n".join(lines)
    return text.strip() or vocabulary(language)["none"]


def criterion(name: str, language: str) -> str:
    """The question for a criterion, in that language."""
    return judge_words(language)[f"criterion_{name}"]
