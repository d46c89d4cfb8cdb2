"""Questions about the user, in five languages: `asked.*.toml`.

    [sort.brother]
    what = "your brother's name"                    what a friend says they were not told
    ask = ["What is my brother called?"]
    back = ["What is he called?"]                   what the friend may ask in turn
    fact = ["User's brother is called {man}.", …]   as the memory has it
    told = "My brother is called {man}."            as the user told it
    known = ["Your brother is called {man}."]       the answer
    near = ["User's sister is called {girl}.",      what is not the answer but looks like it;
            "> Tom's brother {man*} was there."]    behind `>` in the user's own words
    without = ["city"]                              sorts whose facts would answer it, too

The gaps are those of `omoide_tune.own.phrases`; `slots` has more of them. `unknown` and `known` are
ways to say that `{what}` is not known, and the answer `{x}`. `world` has questions about the world.
The kinds differ from those of the benchmark `unknown` (`omoide_bench.unknown`), which stay unseen.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from omoide_tune.own.phrases import PhraseFiller, book

if TYPE_CHECKING:
    import random

    from omoide_tune.own.phrases import PhraseBook


@dataclass(frozen=True, kw_only=True)
class QuestionKind:
    """A kind of fact that a user may have stated."""

    name: str
    what: str
    ask: tuple[str, ...]
    back: tuple[str, ...]
    fact: tuple[str, ...]
    told: str
    known: tuple[str, ...]
    near: tuple[str, ...]
    without: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class WorldQuestions:
    """Questions about the world: `{0}` is the subject, `{1}` the answer."""

    ask: tuple[str, ...]
    answer: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]

    def filled(self, phrase: str, pair: tuple[str, str]) -> str:
        """A phrase with its gaps filled; the phrase filler does the particles."""
        return phrase.replace("{0}", pair[0]).replace("{1}", pair[1])


@dataclass(frozen=True, kw_only=True)
class AskedPhrases:
    """All question phrases of a language."""

    book: PhraseBook
    unknown: tuple[str, ...]
    known: tuple[str, ...]
    sorts: tuple[QuestionKind, ...]
    worlds: tuple[WorldQuestions, ...]

    def pen(self, dice: random.Random) -> PhraseFiller:
        """A filler for the gaps that repeats no value."""
        return PhraseFiller(book=self.book, dice=dice, polite=False, voice={})


@cache
def asked(language: str) -> AskedPhrases:
    """The question phrases of a language."""
    text = (resources.files(__package__) / f"asked.{language}.toml").read_text("utf-8")
    read = tomllib.loads(text)
    own = book(language)
    more = {name: tuple(values) for name, values in read["slots"].items()}
    return AskedPhrases(
        book=replace(own, slots={**own.slots, **more}),
        unknown=tuple(read["unknown"]),
        known=tuple(read["known"]),
        sorts=tuple(QuestionKind(name=name, **_frozen(of)) for name, of in read["sort"].items()),
        worlds=tuple(
            WorldQuestions(
                ask=tuple(one["ask"]),
                answer=tuple(one["answer"]),
                pairs=tuple((about, answer) for about, answer in one["pairs"]),
            )
            for one in read["world"]
        ),
    )


def _frozen(fields: dict[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()}
