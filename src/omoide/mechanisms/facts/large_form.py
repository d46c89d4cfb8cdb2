"""The form for large models: both speakers' words, unfiltered and dated, and the known facts with
numbers; the answer is a list of changes as JSON."""

from __future__ import annotations

from dataclasses import replace
from string import Template
from typing import TYPE_CHECKING

from omoide.domain import FactKind
from omoide.domain.fact import USER
from omoide.language import pack
from omoide.mechanisms.facts.operations import Action
from omoide.mechanisms.facts.reading import read_answer
from omoide.mechanisms.summary.forms import FormRequest
from omoide.ports import Message, Request, Skill
from omoide.prompts import render, vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import date

    from omoide.domain import Fact
    from omoide.mechanisms.facts.operations import FormAnswer
    from omoide.prompts.transcript import Line

ANSWER_TOKENS = 4000
"""Most tokens of an answer, before the window limits it."""


class LargeForm:
    """One question about both speakers, with the facts that are known."""

    name = "large"
    topics = True

    def ask(
        self, *, known: Sequence[Fact], session: Sequence[Line], language: str
    ) -> FormRequest | None:
        """One request, whatever was said."""
        words = vocabulary(language)
        prompt = render(
            "facts_write",
            language,
            user=words["user"],
            assistant=words["assistant"],
            known="\n".join(map(_fact_line, range(1, len(known) + 1), known)) or words["none"],
            lines="\n".join(_session_lines(session, language)),
            count=str(len(session)),
        )
        request = Request(
            messages=prompt.messages,
            max_tokens=ANSWER_TOKENS,
            schema=schema(),
            skill=Skill.FUSED,
        )
        return FormRequest(request=request, prompt=prompt.hash)

    def ask_again(
        self, request: FormRequest, answer: str, *, problem: str, language: str
    ) -> FormRequest:
        """The request, the answer that could not be used, and why."""
        retry = render("facts_retry", language, problem=problem)
        shown = Message(role="assistant", content=answer[:400] or "-")
        messages = (*request.request.messages, shown, *retry.messages)
        return replace(request, request=replace(request.request, messages=messages))

    def read(
        self, answer: str, *, known: Sequence[Fact], session: Sequence[Line], language: str
    ) -> FormAnswer:
        """As `read_answer`."""
        return read_answer(answer, known=known, session=session, language=language)


def _fact_line(number: int, fact: Fact) -> str:
    """A known fact with its number, the day it was said, and what its text may leave open: whom it
    is about, its days, and whether it is a plan, a promise or an event."""
    notes = [fact.said.date().isoformat()]
    if fact.about != USER:
        notes.append(fact.about)
    if fact.kind in (FactKind.PLAN, FactKind.PROMISE, FactKind.EVENT):
        notes.append(fact.kind.value)
    if fact.since and fact.since == fact.until:
        notes.append(fact.since.isoformat())
    elif fact.since or fact.until:
        notes.append("/".join(day.isoformat() if day else "" for day in (fact.since, fact.until)))
    return f"F{number} [{'; '.join(notes)}] {fact.text}"


def _session_lines(session: Sequence[Line], language: str) -> Iterator[str]:
    """The numbered lines, each day's under its date and weekday."""
    today: date | None = None
    for number, line in enumerate(session, 1):
        if line.time is not None and line.time.date() != today:
            today = line.time.date()
            ago = pack(language).ago
            weekday = f", {ago.weekdays[today.weekday()]}" if ago else ""
            yield f"[{today.isoformat()}{weekday}]"
        yield f"{number} {_label(line, language)}: {line.text}"


def _label(line: Line, language: str) -> str:
    """Who speaks, by name if it is known, and how the message begins that a piece belongs to."""
    words = vocabulary(language)
    label = words[line.speaker.value]
    if line.name:
        label += f" ({line.name})"
    if line.beginning:
        label += f" [{Template(words['continued']).substitute(beginning=f'{line.beginning}…')}]"
    return label


def schema() -> Mapping[str, object]:
    """The JSON schema of an answer. Every field is required, as strict endpoints want it."""
    text = {"type": "string"}
    numbers = {"type": "array", "items": {"type": "integer"}}
    day = {"type": ["string", "null"]}
    change = {
        "do": {"type": "string", "enum": [action.value for action in Action]},
        "facts": numbers,
        "text": text,
        "about": text,
        "kind": {"type": "string", "enum": [kind.value for kind in FactKind]},
        "turns": numbers,
        "since": day,
        "until": day,
        "why": text,
    }
    line = {"type": "integer"}
    topic = {"topic": text, "first": line, "last": line, "summary": text}
    return _object(changes=_list_of(change), topics=_list_of(topic))


def _list_of(properties: Mapping[str, object]) -> Mapping[str, object]:
    return {"type": "array", "items": _object(**properties)}


def _object(**properties: object) -> Mapping[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
