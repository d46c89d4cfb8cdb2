"""Memory iteration, paper A: the old memory and a session give the new memory, session by session.

What a meeting changes takes the place of what was known; all else stays, word for word, so that a
model learns to carry a memory along and not to write it anew. A memory that is full stays within
its limit: what has most in common shares a sentence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.language import estimate_tokens
from omoide.memory.summary.facts import pack
from omoide.memory.summary.forms import PaperForm
from omoide.tuning.accepting import LIMIT, accepted
from omoide.tuning.chains import carried

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from omoide.memory.summary.facts import Fact
    from omoide.tuning.examples import Example
    from omoide.tuning.told import Told

FIRST = 0.25
"""Share of the first meetings that are taken: there is no memory to carry along yet."""
FULL = 0.8
"""Share of the limit from which on an old memory counts as full: a session adds three or four."""
ROOM = 0.9
"""Share of the tokens that the request allows which an answer may take, by estimate."""


def iteration(
    chain: Sequence[Told], known: Sequence[Fact], dice: random.Random
) -> Iterator[Example]:
    """An example a meeting, the memory of each the next one's old."""
    form = PaperForm()
    new = pack(known, chain[0].language, limit=LIMIT).sentences if chain else ()
    for told in chain:
        old, new = new, carried(new, told, limit=LIMIT)
        if not new or not told.judged or told.partial or (not old and dice.random() >= FIRST):
            continue
        shown = told.shown
        answer = "\n".join(sentence.text for sentence in new)
        (asked,) = form.ask(old=old, session=shown, language=told.language, limit=LIMIT)
        if estimate_tokens(answer) > ROOM * asked.request.max_tokens:
            continue
        if accepted(form, answer, old=old, lines=shown, turns=told.turns, language=told.language):
            hard = (
                "changed" if told.changed else "",
                "" if told.facts else "nothing",
                "full" if len(old) >= FULL * LIMIT else "",
            )
            yield told.example("iteration", asked.request.messages, answer, *hard)
