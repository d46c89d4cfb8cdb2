"""Finding all that says a certain thing, so that it can be forgotten."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.language import content_terms

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omoide.domain import Sentence, Turn
    from omoide.engine import Memory
    from omoide.ports import Erased


@dataclass(frozen=True, kw_only=True)
class Fact:
    """Everything that says it: sentences of any version, the turns they rest on, and turns with
    the words themselves."""

    sentences: tuple[str, ...]
    turns: tuple[Turn, ...]
    along: tuple[str, ...] = ()
    """Sentences of the newest memory that say something else and go because they rest on the
    same turns."""

    @property
    def empty(self) -> bool:
        """Whether nothing says it."""
        return not self.sentences and not self.turns


async def find_fact(memory: Memory, user: str, text: str) -> Fact:
    """All that holds the words of `text`: as they stand there, or all of its terms."""
    if not text.strip():
        raise BadInput("which fact? Give some of its words")
    says = _Matcher(text)
    history = await memory.history(user)
    every = [sentence for version in history for sentence in version.sentences]
    sentences = [sentence for sentence in every if says(sentence.text)]
    cited = {source for sentence in sentences for source in sentence.sources}
    near = await memory.recall(user, text, k=50)
    cited |= {item.sources[0] for item in near if item.sources and says(item.text)}
    turns = [t for t in await memory.turns(user) if t.id in cited or says(t.text)]
    found = {turn.id for turn in turns}
    newest = history[-1].sentences if history else ()
    along = [s for s in newest if not found.isdisjoint(s.sources) and s not in sentences]
    return Fact(sentences=_texts(sentences), turns=tuple(turns), along=_texts(along))


async def forget(memory: Memory, user: str, fact: Fact) -> Erased:
    """Remove it for good."""
    return await memory.erase(
        user, turns=[turn.id for turn in fact.turns], sentences=list(fact.sentences)
    )


class _Matcher:
    def __init__(self, text: str) -> None:
        self._words = _plain(text)
        self._terms = content_terms(text)

    def __call__(self, text: str) -> bool:
        if self._words in _plain(text):
            return True
        return bool(self._terms) and set(self._terms) <= set(content_terms(text))


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _texts(sentences: Iterable[Sentence]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(sentence.text for sentence in sentences))
