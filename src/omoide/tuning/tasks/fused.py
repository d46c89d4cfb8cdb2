"""The fused writer: new memory, memos by topic and events of a session in one answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from omoide.memory.events import form as events
from omoide.memory.fused.whole import WholeForm
from omoide.memory.memos.writer import checked
from omoide.memory.summary.facts import pack
from omoide.tuning.accepting import LIMIT, accepted
from omoide.tuning.chains import carried
from omoide.tuning.tasks.events import listed, taken
from omoide.tuning.tasks.memos import entries
from omoide.tuning.tasks.naming import named

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omoide.domain import Sentence
    from omoide.memory.summary.facts import Fact
    from omoide.tuning.examples import Example
    from omoide.tuning.told import Told

LINES = 24
"""More lines than this are left to the writers that take a session apart."""


def fused(chain: Sequence[Told], known: Sequence[Fact]) -> Iterator[Example]:
    """An example for each meeting that tells something; two of a true chain as one session of two
    topics, where the second takes nothing back."""
    new = pack(known, chain[0].language, limit=LIMIT).sentences if chain else ()
    for number, told in enumerate(chain):
        before, new = new, carried(new, told, limit=LIMIT)
        after = chain[number + 1 : number + 2]
        if number % 2 == 0 and told.chain and after and not after[0].changed:
            yield from _session((told, *after), before)
        else:
            yield from _session((told,), before)


def _session(parts: Sequence[Told], old: Sequence[Sentence]) -> Iterator[Example]:
    stretches = [one for part in parts for one in named(part)]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.then(part)
    facts = whole.of()
    if (
        whole.partial
        or len(stretches) < len(parts)
        or len(whole.lines) > LINES
        or len(facts) > events.LIMIT
    ):
        return
    language, turns = whole.language, whole.turns
    new = carried(old, whole, limit=LIMIT)
    written = {
        "memory": [sentence.text for sentence in new],
        "memos": entries(stretches),
        "events": listed(facts, language),
    }
    answer = json.dumps(written, ensure_ascii=False)
    form, shown = WholeForm(), whole.shown
    if not accepted(form, answer, old=old, lines=shown, turns=turns, language=language):
        return
    found, problems = checked(answer, turns, language)
    if problems or len(found) != len(stretches):
        return
    if taken(answer, turns, language, count=len(facts)):
        (asked,) = form.ask(old=old, session=shown, language=language, limit=LIMIT)
        hard = "changed" if whole.changed else ""
        yield whole.example("fused", asked.request.messages, answer, hard)
