"""Finding everything that states a fact, so that it can be forgotten."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.domain import FactErasure, TurnPlace
from omoide.errors import BadInput, NoSuchFact
from omoide.language import content_terms

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omoide import domain
    from omoide.domain import Sentence, Turn
    from omoide.engine.memory import Memory
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


async def find_fact(memory: Memory, user: str, text: str) -> FactMentions:
    """Find everything that contains `text` itself, or all of its terms."""
    if not text.strip():
        raise BadInput("which fact? Give some of its words")
    matches = _Matcher(text)
    history = await memory.history(user)
    every = [sentence for version in history for sentence in version.sentences]
    sentences = [sentence for sentence in every if matches(sentence.text)]
    facts = await memory.facts(user, ended=True)
    stored = [fact for fact in facts if matches(fact.text)]
    cited = {source for sentence in sentences for source in sentence.sources}
    cited |= {source for fact in stored for source in fact.sources}
    near = await memory.recall(user, text, k=50)
    cited |= {item.sources[0] for item in near if item.sources and matches(item.text)}
    turns = [t for t in await memory.turns(user) if t.id in cited or matches(t.text)]
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
    memory: Memory, user: str, fact: FactMentions | str, *, words: bool = False
) -> Erased:
    """Erase everything that states the fact. With the id of a stored fact: that fact, and its text
    wherever memory has it; with `words`, also the turns that support it, and with them whatever
    else rests on these. Raises `NoSuchFact`."""
    if isinstance(fact, str):
        stored = await memory.facts(user, ids=[fact])
        if not stored:
            raise NoSuchFact(f"there is no fact {fact[:80]!r}; list the facts for their ids")
        turns = await memory.turns(user, ids=stored[0].sources) if words else ()
        fact = FactMentions(sentences=(stored[0].text,), turns=turns, stored=stored)
    return await memory.erase(
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
