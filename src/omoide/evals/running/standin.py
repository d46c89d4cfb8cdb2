"""A stand-in for a model: it answers at once, in the form that was asked for, out of the words of
the prompt. With it a run is rehearsed to see how many calls it will make; it says nothing about
how good anything is."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from omoide.language import LANGUAGES, content_terms, detect, estimate_tokens
from omoide.ports import Completion
from omoide.prompts import words

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from omoide.ports import Request

_SUBJECT = re.compile(r'^\w+ ::= "([^"]+)" ', re.MULTILINE)
"""A rule of a grammar that begins with who is spoken of."""
_WORD = re.compile(r"[^\W\d_]+")
_FRAME = 5


class StandIn:
    """A chat model that has read nothing. `fill` is how much of the room for an answer it is said
    to have used."""

    def __init__(self, *, name: str = "stand-in", window: int = 8192, fill: float = 1 / 3) -> None:
        self._name = name
        self._window = window
        self._fill = fill

    @property
    def name(self) -> str:
        """As given."""
        return self._name

    @property
    def window(self) -> int:
        """As given."""
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
        """An estimate."""
        return estimate_tokens(text)

    async def close(self) -> None:
        """Nothing to let go."""


def answer(request: Request) -> str:
    """Something of the wanted form."""
    said = request.messages[-1].content
    language = detect(said)
    if request.schema is not None:
        return json.dumps(_instance(request.schema, said, language), ensure_ascii=False)
    if request.grammar is not None and (subjects := _SUBJECT.findall(request.grammar)):
        return "\n".join(
            subject + _phrase(said, language, skip=i) for i, subject in enumerate(subjects)
        )
    return f"{_phrase(said, language).capitalize()}."


def _instance(schema: Mapping[str, object], said: str, language: str, place: int = 0) -> object:
    """The least that satisfies a schema; numbers at their lower end."""
    kind = schema.get("type")
    if "enum" in schema and isinstance(schema["enum"], list):
        return schema["enum"][0]
    if kind == "object":
        fields = schema.get("properties")
        given = fields if isinstance(fields, dict) else {}
        return {
            name: _instance(one, said, language, i) for i, (name, one) in enumerate(given.items())
        }
    if kind == "array":
        items, least = schema.get("items"), schema.get("minItems", 1)
        count = least if isinstance(least, int) else 1
        return [
            _instance(items if isinstance(items, dict) else {}, said, language, i)
            for i in range(max(count, 1))
        ]
    if kind in ("integer", "number"):
        low = schema.get("minimum", 1)
        return max(low, 1) if isinstance(low, int | float) else 1
    if kind == "boolean":
        return False
    phrase = _phrase(said, language, skip=place)
    if "pattern" in schema:
        joint = {"ja": "は", "zh": "", "ko": "는 "}.get(language, " ")
        end = "。" if language in ("ja", "zh") else "."
        return f"{words(language)['user']}{joint}{phrase.lower()}{end}"
    longest = schema.get("maxLength", 200)
    return phrase[: longest if isinstance(longest, int) else 200].strip()


def _phrase(said: str, language: str, *, skip: int = 0) -> str:
    """A few telling words from the latest lines."""
    lines = [line for line in said.splitlines() if len(line) > 12][-12:]
    text = " ".join(line.partition(": ")[2] or line.lstrip("- ") for line in lines)
    if language in ("ja", "zh", "ko") and language in LANGUAGES:
        runs = re.findall(r"[^\W\d_]{4,20}", text)
        return runs[skip % len(runs)][:16] if runs else text[:16]
    telling = {term for term in content_terms(text) if not term.startswith("~")}
    found = [
        word.lower()
        for word in _WORD.findall(text)
        if len(word) > 3 and any(word.lower().startswith(term[:4]) for term in telling)
    ]
    distinct = list(dict.fromkeys(found))
    start = (skip * 5) % max(len(distinct) - 5, 1)
    return " ".join(distinct[start : start + 5]) or "nothing much"
