"""Events out of a talk, as the event writer asks for them; an empty list where nothing is told."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from omoide.language import content_terms
from omoide.memory.events import form
from omoide.memory.events.writer import read_drafts
from omoide.prompts import render, words
from omoide.tuning.tasks.naming import topics

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omoide.domain import Turn
    from omoide.memory.summary.facts import Fact
    from omoide.tuning.examples import Example
    from omoide.tuning.told import Told


def events(told: Told) -> Iterator[Example]:
    """The talk and its events; of one that may tell more, its first words and none."""
    if not told.judged or told.partial:
        return
    known = told.of()
    if not known and not told.complete:
        short = [line for line in told.lines[:4] if len(content_terms(line.text)) <= 3]
        told = told.part(0, len(short)) if tuple(short) == told.lines[: len(short)] else told
        if len(told.lines) < 2 or len(short) < 2:
            return
    if len(known) > form.LIMIT:
        return
    answer = json.dumps({"events": listed(known, told.language)}, ensure_ascii=False)
    shown = "\n".join(line.labelled(told.language) for line in told.shown)
    prompt = render("event_write", told.language, session=shown, limit=str(form.LIMIT))
    if taken(answer, told.turns, told.language, count=len(known)):
        hard = "" if known else "nothing"
        yield told.example("events", prompt.messages, answer, hard)


def listed(facts: Sequence[Fact], language: str) -> list[dict[str, Any]]:
    """The facts as events."""
    return [
        {
            "text": fact.sentence(language),
            "topics": [name for name in topics([fact], language)[:1] if len(name) <= 30],
            "keywords": [word for word in topics([fact], language) if len(word) <= 30],
            "participants": [words(language)[fact.about.value]],
        }
        for fact in facts
    ]


def taken(answer: str, turns: Sequence[Turn], language: str, *, count: int) -> bool:
    """Whether the event writer would take the answer, with all `count` events in it."""
    pattern = re.compile(str(_pattern(language)))
    drafts, problems = read_drafts(
        answer, turns=turns, instructions="", language=language, limit=form.LIMIT
    )
    return (
        not problems
        and len(drafts) == count
        and all(pattern.search(draft.text) for draft in drafts)
    )


def _pattern(language: str) -> Any:  # noqa: ANN401 - out of a schema
    found: Any = form.schema(language)
    for name in ("properties", "events", "items", "properties", "text", "pattern"):
        found = found[name]
    return found
