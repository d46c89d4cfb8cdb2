"""Memory iteration, paper A: old memory and session give the new memory, session by session.

Changed facts replace old ones; everything else stays, word for word, so that a
model learns to carry a memory over and not to rewrite it. A full memory stays within
its limit: the most similar sentences are joined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.claims import pack
from omoide.language import estimate_tokens
from omoide.mechanisms.summary import PaperForm
from omoide_tune.acceptance import LIMIT, accepted
from omoide_tune.chains import carried

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from omoide.claims import NotedFact
    from omoide_tune.checked_talks import CheckedTalk
    from omoide_tune.examples import Example

FIRST = 0.25
"""Share of the first meetings that are used: they have no memory to carry over."""
FULL = 0.8
"""Share of the limit from which an old memory counts as full: a session adds three or four."""
MAX_ANSWER_SHARE = 0.9
"""Maximum share of the request's tokens that an answer may take, estimated."""


def iteration(
    chain: Sequence[CheckedTalk], known: Sequence[NotedFact], dice: random.Random
) -> Iterator[Example]:
    """One example per meeting; each new memory is the next one's old memory."""
    form = PaperForm()
    new = pack(known, chain[0].language, limit=LIMIT).sentences if chain else ()
    for checked in chain:
        old, new = new, carried(new, checked, limit=LIMIT)
        if not new or not checked.judged or checked.partial or (not old and dice.random() >= FIRST):
            continue
        shown = checked.shown
        answer = "\n".join(sentence.text for sentence in new)
        (asked,) = form.ask(old=old, session=shown, language=checked.language, limit=LIMIT)
        if estimate_tokens(answer) > MAX_ANSWER_SHARE * asked.request.max_tokens:
            continue
        if accepted(
            form, answer, old=old, lines=shown, turns=checked.turns, language=checked.language
        ):
            hard = (
                "changed" if checked.changed else "",
                "" if checked.facts else "nothing",
                "full" if len(old) >= FULL * LIMIT else "",
            )
            yield checked.example("iteration", asked.request.messages, answer, *hard)
