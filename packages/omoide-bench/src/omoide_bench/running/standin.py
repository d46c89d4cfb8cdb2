"""A stand-in for a model: it answers at once, in the requested form, with words of the prompt.

It is used for dry runs that count calls. Its scores mean nothing."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from omoide.language import LANGUAGES, content_terms, detect_language, estimate_tokens
from omoide.ports import Completion
from omoide.prompts import vocabulary

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from omoide.ports import Request

_SUBJECT = re.compile(r'^[\w-]+ ::= "([^"]+)" ', re.MULTILINE)
"""A grammar rule that starts with the subject of a sentence."""
_WORD = re.compile(r"[^\W\d_]+")
_FRAME = 5


class StandIn:
    """A fake chat model. It reports `fill` times the answer limit as its completion tokens."""

    def __init__(self, *, name: str = "stand-in", window: int = 8192, fill: float = 1 / 3) -> None:
        self._name = name
        self._window = window
        self._fill = fill

    @property
    def name(self) -> str:
        """The configured name."""
        return self._name

    @property
    def window(self) -> int:
        """The configured context window."""
        return self._window

    async def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
        """The answer in one piece."""
        text = answer(request)
        yield text
        yield Completion(
            text=text,
            prompt_tokens=sum(estimate_tokens(m.content) + _FRAME for m in request.messages),
            completion_tokens=round(request.max_tokens * self._fill),
            seconds=0.0,
            finish="stop",
        )

    async def count(self, text: str) -> int:
        """An estimate of the token count."""
        return estimate_tokens(text)

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""


def answer(request: Request) -> str:
    """An answer in the requested form."""
    prompt = request.messages[-1].content
    language = detect_language(prompt)
    if request.schema is not None:
        return json.dumps(_instance(request.schema, prompt, language), ensure_ascii=False)
    if request.grammar is not None and (subjects := _SUBJECT.findall(request.grammar)):
        return "\n".join(
            subject + _phrase(prompt, language, skip=i) for i, subject in enumerate(subjects)
        )
    return f"{_phrase(prompt, language).capitalize()}."


def _instance(schema: Mapping[str, object], prompt: str, language: str, index: int = 0) -> object:
    """The smallest value that satisfies a schema; numbers are minimal."""
    kind = schema.get("type")
    if "enum" in schema and isinstance(schema["enum"], list):
        return schema["enum"][0]
    if kind == "object":
        fields = schema.get("properties")
        properties = fields if isinstance(fields, dict) else {}
        return {
            name: _instance(property_schema, prompt, language, i)
            for i, (name, property_schema) in enumerate(properties.items())
        }
    if kind == "array":
        items, least = schema.get("items"), schema.get("minItems", 1)
        count = least if isinstance(least, int) else 1
        return [
            _instance(items if isinstance(items, dict) else {}, prompt, language, i)
            for i in range(max(count, 1))
        ]
    if kind in ("integer", "number"):
        low = schema.get("minimum", 1)
        return max(low, 1) if isinstance(low, int | float) else 1
    if kind == "boolean":
        return False
    phrase = _phrase(prompt, language, skip=index)
    if "pattern" in schema:
        joint = {"ja": "は", "zh": "", "ko": "는 "}.get(language, " ")
        end = "。" if language in ("ja", "zh") else "."
        return f"{vocabulary(language)['user']}{joint}{phrase.lower()}{end}"
    max_chars = schema.get("maxLength", 200)
    return phrase[: max_chars if isinstance(max_chars, int) else 200].strip()


def _phrase(prompt: str, language: str, *, skip: int = 0) -> str:
    """A few content words from the latest lines."""
    lines = [line for line in prompt.splitlines() if len(line) > 12][-12:]
    text = " ".join(line.partition(": ")[2] or line.lstrip("- ") for line in lines)
    if language in ("ja", "zh", "ko") and language in LANGUAGES:
        runs = re.findall(r"[^\W\d_]{4,20}", text)
        return runs[skip % len(runs)][:16] if runs else text[:16]
    telling = {term for term in content_terms(text) if not term.startswith("~")}
    words = [
        word.lower()
        for word in _WORD.findall(text)
        if len(word) > 3 and any(word.lower().startswith(term[:4]) for term in telling)
    ]
    distinct = list(dict.fromkeys(words))
    start = (skip * 5) % max(len(distinct) - 5, 1)
    return " ".join(distinct[start : start + 5]) or "nothing much"
