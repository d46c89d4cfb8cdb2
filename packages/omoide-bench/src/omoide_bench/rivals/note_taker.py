"""A stub in the place of a model: it notes every line of a session word for word.

It answers in the form that is asked for: our JSON of facts, mem0's JSON of memories, or langmem's
calls of tools. So a library's prompts, calls and search can be measured where no model that fills
such forms is at hand; how well a model extracts facts cannot. Other requests get a few words of the
prompt, as from the stand-in.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from omoide.errors import ModelUnavailable
from omoide.language import estimate_tokens
from omoide.ports import Completion
from omoide_bench.running.standin import answer as stand_in_answer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from omoide.ports import Request

NAME = "note-taker"
PROSE, CUT, EMPTY, SHAPE, GONE = (
    "prose", "cut JSON", "no answer", "wrong shape", "unreachable",
)  # fmt: skip
FAULTS = (PROSE, CUT, EMPTY, SHAPE, GONE)
"""Five ways in which a model fails while memory is written."""
_NUMBERED = re.compile(r"^(\d+) \w[^:]*: (.+)$", re.MULTILINE)


class NoteTaker:
    """The stub. For other libraries' forms it is given the lines of each session and knows them
    again in a prompt; ours numbers them."""

    window = 32_768

    def __init__(self, sessions: Sequence[Sequence[str]] = ()) -> None:
        self._sessions = sessions

    @property
    def name(self) -> str:
        """The stub's name."""
        return NAME

    def answer(self, request: Request) -> str:
        """The lines of the session in the prompt, as notes in the form that is asked for."""
        prompt = "\n".join(message.content for message in request.messages)
        properties = (request.schema or {}).get("properties")
        fields = properties if isinstance(properties, dict) else {}
        if "calls" in fields:
            calls = [{"name": "Memory", "args": {"content": x}} for x in self._lines(prompt)]
            return json.dumps({"calls": calls}, ensure_ascii=False)
        if "changes" in fields:
            return json.dumps({"changes": _changes(prompt), "topics": []}, ensure_ascii=False)
        if request.schema is None and '"memory"' in prompt:
            noted = [{"id": str(n), "text": x} for n, x in enumerate(self._lines(prompt))]
            return json.dumps({"memory": noted}, ensure_ascii=False)
        return stand_in_answer(request)

    def _lines(self, prompt: str) -> list[str]:
        """The lines of the last session that is in the prompt: it may show older ones too."""
        found = [[line for line in lines if line in prompt] for lines in self._sessions]
        there = [
            part
            for part, lines in zip(found, self._sessions, strict=True)
            if 2 * sum(map(len, part)) > sum(map(len, lines))
        ]
        return there[-1] if there else []

    async def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
        """The answer in one piece."""
        text = self.answer(request)
        yield text
        yield Completion(
            text=text,
            prompt_tokens=sum(estimate_tokens(message.content) for message in request.messages),
            completion_tokens=estimate_tokens(text),
            seconds=0.0,
            finish="stop",
        )

    async def count(self, text: str) -> int:
        """An estimate of the token count."""
        return estimate_tokens(text)

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""


class FaultyNoteTaker(NoteTaker):
    """The stub while `fault` is set: one of `FAULTS`."""

    fault = ""

    @property
    def name(self) -> str:
        """The name tells the fault, so that no wrong answer is cached for later."""
        return f"{NAME} {self.fault}".strip()

    def answer(self, request: Request) -> str:
        """The faulty answer."""
        right = super().answer(request)
        if self.fault == GONE:
            raise ModelUnavailable("the stub cannot be reached")
        faulty = {
            PROSE: "Sure! I have noted what the user told me.",
            CUT: right[: len(right) // 2],
            EMPTY: "",
            SHAPE: '{"result": {"status": "ok", "items": ["one", "two"]}}',
        }
        return faulty.get(self.fault, right)


def _changes(prompt: str) -> list[dict[str, object]]:
    """A new fact for each line of the session, in our form for large models."""
    return [
        {
            "do": "add",
            "facts": [],
            "text": f"User said: {text}",
            "about": "user",
            "kind": "trait",
            "turns": [int(number)],
            "since": None,
            "until": None,
            "why": "",
        }
        for number, text in _NUMBERED.findall(prompt)
    ]
