"""How much a fact is trusted, by the turns that it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.claims.overlap import coverage, stems
from omoide.domain import Speaker, Trust, weakest
from omoide.domain.fact import ASSISTANT
from omoide.language import pack

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from omoide.domain import Turn

MOST, MOST_BIGRAMS = 0.6, 0.4
"""Share of a fact's terms in the user's own words from which they say most of it; the same for
character bigrams, many of which are grammar."""
_TRUST = {Speaker.USER: Trust.USER, Speaker.ASSISTANT: Trust.ASSISTANT}


def trust_of(
    text: str,
    sources: Collection[str],
    *,
    turns: Sequence[Turn],
    about: str,
    language: str,
    known: Iterable[str] = (),
) -> Trust:
    """That of the weakest source. What the assistant says around the user's own words does not
    count: the line before them asks or leads up to them, and the line after them only takes them
    up, if the user's words, and the `known` facts that it changes, say most of it anyway, or if
    that line has no word of it that they lack: "Congratulations!" tells nothing, though the user
    said "he proposed" and the fact is that they are engaged. A date is written in many ways, so
    numbers are not words."""
    cited = [turn for turn in turns if turn.id in sources]
    own = [turn for turn in cited if turn.speaker is Speaker.USER]
    led_up = {turn.position - 1 for turn in own}
    taken_up = {turn.position + 1 for turn in own}
    new = set(stems(text)) - set(stems(" ".join(known)))
    said = set(stems(" ".join(turn.text for turn in own)))
    most = MOST if pack(language).words.bounded else MOST_BIGRAMS
    enough = coverage(new, said) >= most

    def counts(turn: Turn) -> bool:
        if turn.speaker is Speaker.USER or about == ASSISTANT:
            return True
        if turn.position in led_up:
            return False
        lacked = (new & stems(turn.text)) - said
        adds = any(not term.isdigit() for term in lacked)
        return turn.position not in taken_up or (adds and not enough)

    return weakest(_TRUST[turn.speaker] for turn in cited if counts(turn))
