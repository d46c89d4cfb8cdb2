"""The fused writer: new memory, memos by topic and events of a session in one answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from omoide.claims import pack
from omoide.mechanisms.events import form as events
from omoide.mechanisms.fused import JsonForm
from omoide.mechanisms.memos import checked_memos
from omoide_tune.acceptance import LIMIT, accepted
from omoide_tune.chains import carried
from omoide_tune.tasks.events import listed, taken
from omoide_tune.tasks.memos import entries
from omoide_tune.tasks.naming import named

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omoide.claims import NotedFact
    from omoide.domain import Sentence
    from omoide_tune.checked_talks import CheckedTalk
    from omoide_tune.examples import Example

LINES = 24
"""Maximum lines: longer sessions are left to the writers that split them."""


def fused(chain: Sequence[CheckedTalk], known: Sequence[NotedFact]) -> Iterator[Example]:
    """An example for each meeting with facts; two meetings of a real chain as one session with two
    topics, if the second retracts nothing."""
    new = pack(known, chain[0].language, limit=LIMIT).sentences if chain else ()
    for number, checked in enumerate(chain):
        before, new = new, carried(new, checked, limit=LIMIT)
        after = chain[number + 1 : number + 2]
        if number % 2 == 0 and checked.chain and after and not after[0].changed:
            yield from _session((checked, *after), before)
        else:
            yield from _session((checked,), before)


def _session(parts: Sequence[CheckedTalk], old: Sequence[Sentence]) -> Iterator[Example]:
    stretches = [one for part in parts for one in ([part] if part.summary else named(part))]
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
    form, shown = JsonForm(), whole.shown
    if not accepted(form, answer, old=old, lines=shown, turns=turns, language=language):
        return
    found, problems = checked_memos(answer, turns, language)
    if problems or len(found) != len(stretches):
        return
    if taken(answer, turns, language, count=len(facts)):
        (asked,) = form.ask(old=old, session=shown, language=language, limit=LIMIT)
        hard = "changed" if whole.changed else ""
        yield whole.example("fused", asked.request.messages, answer, hard)
