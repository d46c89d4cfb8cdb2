"""Finding everything that states a fact, so that it can be forgotten."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from omoide.domain import FactErasure, TurnPlace
from omoide.errors import BadInput, NoSuchFact
from omoide.language import content_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from omoide import domain
    from omoide.domain import RecallResult, Sentence, Summary, Turn
    from omoide.ports import Erased


@dataclass(frozen=True, kw_only=True)
class FactMentions:
    """Everything that states a fact: sentences of any version and stored facts, the turns that
    support them, and turns that say it."""

    sentences: tuple[str, ...]
    turns: tuple[Turn, ...]
    stored: tuple[domain.Fact, ...] = ()
    """The stored facts that state it, ended ones too."""
    also_removed: tuple[str, ...] = ()
    """Sentences of the newest version and facts that say something else, but go too because the
    same turns support them."""

    @property
    def empty(self) -> bool:
        """Whether nothing states it."""
        return not (self.sentences or self.turns or self.stored)


class FactReader(Protocol):
    """What finding and forgetting a fact needs of a memory."""

    async def history(self, user: str) -> tuple[Summary, ...]:
        """All versions of the summary."""

    async def facts(
        self, user: str, *, ids: Sequence[str] | None = None, ended: bool = False
    ) -> tuple[domain.Fact, ...]:
        """The facts of these ids, or all."""

    async def recall(self, user: str, query: str, *, k: int) -> RecallResult:
        """What is relevant to `query`."""

    async def turns(self, user: str, *, ids: Sequence[str] | None = None) -> tuple[Turn, ...]:
        """The turns of these ids, or all."""

    async def erase(
        self, user: str, *, turns: Sequence[str], sentences: Sequence[str], facts: Sequence[str]
    ) -> Erased:
        """Remove for good."""


class Forgetting:
    """The methods that forget a fact wherever it is stated: of any memory, a server's too."""

    async def find_fact(self: FactReader, user: str, text: str) -> FactMentions:
        """Find everything that contains `text` itself, or all of its terms."""
        if not text.strip():
            raise BadInput("which fact? Give some of its words")
        matches = _Matcher(text)
        history = await self.history(user)
        every = [sentence for version in history for sentence in version.sentences]
        sentences = [sentence for sentence in every if matches(sentence.text)]
        facts = await self.facts(user, ended=True)
        stored = [fact for fact in facts if matches(fact.text)]
        cited = {source for sentence in sentences for source in sentence.sources}
        cited |= {source for fact in stored for source in fact.sources}
        near = await self.recall(user, text, k=50)
        cited |= {item.sources[0] for item in near if item.sources and matches(item.text)}
        turns = [t for t in await self.turns(user) if t.id in cited or matches(t.text)]
        ids = {turn.id for turn in turns}
        erasure = FactErasure(turns={turn.id: TurnPlace(turn.session, turn.time) for turn in turns})
        erased = erasure.of(facts)
        newest = [erased.restated(s, ids) for s in history[-1].sentences] if history else []
        also: list[Sentence | domain.Fact] = [
            s for s in newest if s.text not in _texts(sentences) and not ids.isdisjoint(s.sources)
        ]
        also += [fact for fact in erased.removed.values() if fact not in stored]
        return FactMentions(
            sentences=_texts(sentences),
            turns=tuple(turns),
            stored=tuple(stored),
            also_removed=_texts(also),
        )

    async def forget(
        self: FactReader, user: str, fact: FactMentions | str, *, words: bool = False
    ) -> Erased:
        """Erase everything that states the fact, as `find_fact` found it. With the id of a stored
        fact: that fact, and its text wherever memory has it; with `words`, also the turns that
        support it, and with them whatever else rests on these. Raises `NoSuchFact`."""
        if isinstance(fact, str):
            stored = await self.facts(user, ids=[fact])
            if not stored:
                raise NoSuchFact(f"there is no fact {fact[:80]!r}; list the facts for their ids")
            turns = await self.turns(user, ids=stored[0].sources) if words else ()
            fact = FactMentions(sentences=(stored[0].text,), turns=turns, stored=stored)
        return await self.erase(
            user,
            turns=[turn.id for turn in fact.turns],
            sentences=list(fact.sentences),
            facts=[stored.id for stored in fact.stored],
        )


class _Matcher:
    def __init__(self, text: str) -> None:
        self._text = _normalised(text)
        self._terms = content_terms(text)

    def __call__(self, text: str) -> bool:
        if self._text in _normalised(text):
            return True
        return bool(self._terms) and set(self._terms) <= set(content_terms(text))


def _normalised(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _texts(items: Iterable[Sentence | domain.Fact]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item.text for item in items))
