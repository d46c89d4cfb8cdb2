"""Compression of a memo's dialogue: paper C (Taniguchi & Minami, NLP 2025), section 2.2.

The paper drops a share of the model's tokens at random, or a share of the particles and
auxiliaries. Both are here, the second for five languages; `compression_budget` has a third method
that considers what the words say. No method asks a model, and the turns keep the original.

Departures: the speaker is never dropped; a token that is part of a character is dropped only with
the whole character; names, numbers and dates are never function words, whatever their part of
speech, and neither is negation, except for auxiliaries if `keep_negation` is off, as in the paper.
"""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from omoide.errors import BadInput
from omoide.ports.analysis import Role, Word
from omoide.prompts.transcript import line, spoken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from omoide.domain import Turn
    from omoide.ports.analysis import Analyser, Tokenizer


class Compressor(Protocol):
    """A way of making dialogue shorter."""

    @property
    def name(self) -> str:
        """Its name in a memo: the method and its ratio."""

    async def shorten(
        self, turns: Sequence[Turn], *, language: str, weight: Mapping[str, float]
    ) -> tuple[str, ...]:
        """The shortened text of each turn, in order; empty if nothing is left. `weight` is the
        rarity of each term in what this user has said."""


async def compress(
    compressor: Compressor, turns: Sequence[Turn], *, language: str, weight: Mapping[str, float]
) -> str:
    """The compressed dialogue, one line per turn with its speaker."""
    shortened = await compressor.shorten(turns, language=language, weight=weight)
    return "\n".join(
        line(replace(turn, text=text), language)
        for turn, text in zip(turns, shortened, strict=True)
        if text
    )


class NoCompression:
    """No compression: MemoChat."""

    name = "none"

    async def shorten(
        self, turns: Sequence[Turn], *, language: str, weight: Mapping[str, float]
    ) -> tuple[str, ...]:
        """The full texts."""
        del language, weight
        return tuple(" ".join(spoken(turn).split()) for turn in turns)


class RandomTokenCompressor:
    """The paper's first method: drops a share of the model's tokens at random.

    Without a tokenizer, words count as tokens (characters in Chinese, Japanese and Korean).
    """

    def __init__(self, *, share: float, tokenizer: Tokenizer | None = None, seed: int = 0) -> None:
        self._share = checked_share(share)
        self._tokenizer = tokenizer
        self._seed = seed

    @property
    def name(self) -> str:
        """The method with its ratio."""
        return f"random {self._share:.0%}"

    async def shorten(
        self, turns: Sequence[Turn], *, language: str, weight: Mapping[str, float]
    ) -> tuple[str, ...]:
        """Each turn's text without the tokens that were drawn."""
        del language, weight
        cut = [await self._pieces(" ".join(spoken(turn).split())) for turn in turns]
        places = [(t, p) for t, pieces in enumerate(cut) for p in range(len(pieces))]
        gone = drawn_places(places, share=self._share, seed=f"{self._seed}:{_first(turns)}")
        return tuple(
            "".join(piece for p, piece in enumerate(pieces) if (t, p) not in gone).strip()
            for t, pieces in enumerate(cut)
        )

    async def _pieces(self, text: str) -> Sequence[str]:
        if self._tokenizer is not None:
            return await self._tokenizer.pieces(text)
        return _PIECE.findall(text)


_PIECE = re.compile(
    r"[\u3005\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]\s*"
    r"|[^\s\u3005\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+\s*"
)


class FunctionWordCompressor:
    """The paper's second method: drops a share of the particles and auxiliaries. With
    `keep_negation`, which is ours, auxiliaries that negate stay."""

    def __init__(
        self,
        *,
        share: float,
        analyser: Callable[[str], Analyser],
        keep_negation: bool = True,
        seed: int = 0,
    ) -> None:
        self._share = checked_share(share)
        self._dropped = {Role.FUNCTION} if keep_negation else {Role.FUNCTION, Role.NEGATION}
        self._analyser = analyser
        self._seed = seed

    @property
    def name(self) -> str:
        """The method with its ratio."""
        return f"function words {self._share:.0%}"

    async def shorten(
        self, turns: Sequence[Turn], *, language: str, weight: Mapping[str, float]
    ) -> tuple[str, ...]:
        """Each turn's text without the function words that were drawn."""
        del weight
        analyser = self._analyser(language)
        analysed = [await analyser.words(" ".join(spoken(turn).split())) for turn in turns]
        places = [
            (t, w)
            for t, words in enumerate(analysed)
            for w, word in enumerate(words)
            if word.role in self._dropped
        ]
        gone = drawn_places(places, share=self._share, seed=f"{self._seed}:{_first(turns)}")
        return tuple(
            rejoined((word, (t, w) not in gone) for w, word in enumerate(words))
            for t, words in enumerate(analysed)
        )


def checked_share(share: float) -> float:
    """The share, if it is between 0 and 1. Raises `BadInput` otherwise."""
    if not 0 <= share <= 1:
        raise BadInput(f"the share of words to drop must be between 0 and 1, not {share}")
    return share


def drawn_places(
    places: Sequence[tuple[int, int]], *, share: float, seed: str
) -> frozenset[tuple[int, int]]:
    """A random share of the places; the same seed gives the same ones."""
    dice = random.Random(seed)  # noqa: S311 - picks words, guards nothing
    return frozenset(dice.sample(places, round(share * len(places))))


def rejoined(words: Iterable[tuple[Word, bool]]) -> str:
    """The kept words joined to text, with spaces where needed."""
    kept: list[Word] = []
    for word, keep in words:
        if keep:
            kept.append(word)
        elif kept:
            kept[-1] = replace(kept[-1], space=_between(kept[-1], word))
    text = "".join(word.text + word.space for word in kept)
    return _ORPHAN.sub(r"\1", _LEADING.sub("", text)).strip()


_ORPHAN = re.compile(r"(?:\s*[,、，])+\s*([.!?。！？])")
_LEADING = re.compile(r"^[\s,、，;:]+")


def _between(before: Word, dropped: Word) -> str:
    """The space after a word if its neighbour is dropped."""
    if before.space:
        return before.space if dropped.space else ""
    return dropped.space if before.text[-1:].isalnum() else ""


def _first(turns: Sequence[Turn]) -> str:
    return turns[0].id if turns else ""
