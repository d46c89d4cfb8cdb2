"""Memory iteration, paper A: the old memory and a session give the new memory, session by session.

What a meeting changes takes the place of what was known; all else stays, word for word, so that a
model learns to carry a memory along and not to write it anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.memory.summary.facts import pack
from omoide.memory.summary.forms import PaperForm
from omoide.tuning.accepting import LIMIT, accepted
from omoide.tuning.chains import known_after

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from omoide.memory.summary.facts import Fact
    from omoide.tuning.examples import Example
    from omoide.tuning.told import Told

FIRST = 0.25
"""Share of the first meetings that are taken: there is no memory to carry along yet."""


def iteration(
    chain: Sequence[Told], known: Sequence[Fact], dice: random.Random
) -> Iterator[Example]:
    """An example a meeting, the memory of each the next one's old."""
    form = PaperForm()
    for told in chain:
        before, known = known, known_after(known, told)
        old = pack(before, told.language, limit=LIMIT).sentences
        new = pack(known, told.language, limit=LIMIT).sentences
        if not new or not told.judged or told.partial or (not old and dice.random() >= FIRST):
            continue
        shown = told.shown
        answer = "\n".join(sentence.text for sentence in new)
        if accepted(form, answer, old=old, lines=shown, turns=told.turns, language=told.language):
            (asked,) = form.ask(old=old, session=shown, language=told.language, limit=LIMIT)
            hard = ("changed" if told.changed else "", "" if told.facts else "nothing")
            yield told.example("iteration", asked.request.messages, answer, *hard)
