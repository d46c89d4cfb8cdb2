"""Events of a talk, as the event writer asks for them; an empty list if there are none."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from omoide.language import content_terms
from omoide.mechanisms.events import form, read_drafts
from omoide.prompts import render, vocabulary
from omoide_tune.tasks.naming import topics

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omoide.claims import NotedFact
    from omoide.domain import Turn
    from omoide_tune.checked_talks import CheckedTalk
    from omoide_tune.examples import Example


def events(checked: CheckedTalk) -> Iterator[Example]:
    """The talk and its events; if a talk may contain more, only its first words, without events."""
    if not checked.judged or checked.partial:
        return
    known = checked.of()
    if not known and not checked.complete:
        short = [line for line in checked.lines[:4] if len(content_terms(line.text)) <= 3]
        checked = (
            checked.part(0, len(short)) if tuple(short) == checked.lines[: len(short)] else checked
        )
        if len(checked.lines) < 2 or len(short) < 2:
            return
    if len(known) > form.LIMIT:
        return
    answer = json.dumps({"events": listed(known, checked.language)}, ensure_ascii=False)
    shown = "\n".join(line.labelled(checked.language) for line in checked.shown)
    prompt = render("event_write", checked.language, session=shown, limit=str(form.LIMIT))
    if taken(answer, checked.turns, checked.language, count=len(known)):
        hard = "" if known else "nothing"
        yield checked.example("events", prompt.messages, answer, hard)


def listed(facts: Sequence[NotedFact], language: str) -> list[dict[str, Any]]:
    """The facts as events."""
    return [
        {
            "text": fact.sentence(language),
            "topics": [name for name in topics([fact], language)[:1] if len(name) <= 30],
            "keywords": [word for word in topics([fact], language) if len(word) <= 30],
            "participants": [vocabulary(language)[fact.about.value]],
        }
        for fact in facts
    ]


def taken(answer: str, turns: Sequence[Turn], language: str, *, count: int) -> bool:
    """Whether the event writer would accept the answer, with all `count` events in it."""
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
