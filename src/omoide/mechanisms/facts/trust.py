"""How much a fact is trusted, by the turns that it rests on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from omoide.claims.overlap import coverage, stems
from omoide.domain import Speaker, Trust, weakest
from omoide.domain.fact import ASSISTANT
from omoide.language import pack, split_sentences

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
    ends: bool = False,
) -> Trust:
    """That of the weakest source. What the assistant says around the user's own words does not
    count: the line before them asks or leads up to them, and the line after them only takes them
    up, if the user's words, and the `known` facts that it changes, say most of it anyway, or if
    that line has no word of it that they lack: "Congratulations!" tells nothing, though the user
    said "he proposed" and the fact is that they are engaged. A date is written in many ways, so
    numbers are not words there. A line further away, such as a look back on the talk, does not
    count if both is so and it has no number that the user's words lack. If the text is that of a
    fact which the lines end (`ends`), it does: that it has ended is not in the fact's words."""
    cited = [turn for turn in turns if turn.id in sources]
    own = [turn for turn in cited if turn.speaker is Speaker.USER]
    led_up = {turn.position - 1 for turn in own}
    taken_up = {turn.position + 1 for turn in own}
    own_words = " ".join(turn.text for turn in own)
    new = set(stems(text)) - set(stems(" ".join(known)))
    said = set(stems(own_words))
    enough = coverage(new, said) >= _most(language)

    def counts(turn: Turn) -> bool:
        if turn.speaker is Speaker.USER or about == ASSISTANT:
            return True
        if turn.position in led_up:
            return False
        lacked = (new & stems(turn.text)) - said
        adds = any(not term.isdigit() for term in lacked)
        if turn.position in taken_up:
            return adds and not enough
        numbers = _numbers(text) & _numbers(turn.text)
        return ends or adds or not enough or not numbers <= _numbers(own_words)

    return weakest(_TRUST[turn.speaker] for turn in cited if counts(turn))


def own_words_for(
    text: str, sources: Collection[str], *, turns: Sequence[Turn], language: str
) -> tuple[str, ...]:
    """Ids of the user's lines among the sources if these alone say most of the text and all of its
    numbers; a question says nothing. Else none."""
    own = [turn for turn in turns if turn.id in sources and turn.speaker is Speaker.USER]
    asks = pack(language).questions.asks
    sentences = (sentence for turn in own for sentence in split_sentences(turn.text))
    said = " ".join(sentence for sentence in sentences if not asks.search(sentence))
    most = coverage(set(stems(text)), set(stems(said))) >= _most(language)
    return tuple(turn.id for turn in own) if most and _numbers(text) <= _numbers(said) else ()


def _most(language: str) -> float:
    return MOST if pack(language).words.bounded else MOST_BIGRAMS


def _numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+", text))


def may_end(old: Trust, new: Trust) -> bool:
    """Whether a fact of that trust may be ended by what has this trust: not by less. What the user
    corrected by hand they may also change by saying something new."""
    if old is Trust.CORRECTED:
        return new in (Trust.USER, Trust.CORRECTED)
    order = list(Trust)
    return order.index(new) >= order.index(old)
