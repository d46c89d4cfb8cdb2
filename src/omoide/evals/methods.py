"""What is compared: mechanisms by name, variants of them, and combinations.

`summary`, `summary+search`, `bm25:3`, `memos:random-50`, `gold`. Each is composed as the product
is, over a store of its own. `summary+memos+human-recall@fused` writes all of it from one call a
session. `memos:random-50:forced` takes the best memos whatever their likeness,
with room for all of them, so that a sweep of compressions compares compressions and not silence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.mechanisms import MECHANISMS, WRITERS, Entry
from omoide.memory.baselines.plain import Bm25, Dense, Gold
from omoide.memory.memos.compression import FunctionWords, RandomTokens, Whole
from omoide.memory.memos.mechanism import Memos
from omoide.memory.memos.search import MemoSearch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from omoide.mechanisms import Parts
    from omoide.memory.mechanism import Mechanism
    from omoide.memory.memos.compression import Compressor
    from omoide.ports.analysis import Analyser
    from omoide.settings import Settings

ALWAYS = ("context", "session", "bm25")
"""All history, the current session alone, plain retrieval: what any memory must be seen beside."""
GOLD = "gold"
_WITHOUT_VECTORS = frozenset({"context", "session", "bm25", GOLD})


@dataclass(frozen=True, kw_only=True)
class Method:
    """One way of remembering, or several together."""

    name: str
    mechanisms: tuple[str, ...]
    writer: str = ""
    """How sessions are written down, if not as the settings say."""

    @property
    def needs_gold(self) -> bool:
        """Whether it reads what people wrote."""
        return GOLD in self.mechanisms

    @property
    def needs_vectors(self) -> bool:
        """Whether anything of it would look at a vector."""
        return any(_plain(name) not in _WITHOUT_VECTORS for name in self.mechanisms)

    def settings(self, base: Settings) -> Settings:
        """The settings with which it is composed. All methods have the same budget of tokens for
        what they remember, except that all history is given all the room there is."""
        changed = replace(base, mechanisms=self.mechanisms)
        if "context" in self.mechanisms:
            changed = replace(changed, memory_tokens=base.window - base.reply_tokens - ROOM)
        if any(name.endswith(FORCED) for name in self.mechanisms):
            changed = replace(changed, memory_tokens=max(base.memory_tokens, FORCED_ROOM))
        if "summary:paper" in self.mechanisms:
            changed = replace(changed, form="paper")
        return replace(changed, writer=self.writer) if self.writer else changed


ROOM = 1500
"""Tokens left to the instructions and the current session when the rest holds all history."""
FORCED = ":forced"
ANYTHING = -2.0
"""Below every likeness there is."""
FORCED_ROOM = 4800
"""Tokens that hold the three best memos uncompressed: what is forced in must not be left out for
want of room, or the longest would be."""


def parse(name: str, known: Mapping[str, Entry]) -> Method:
    """The method of that name. Raises `BadInput` that lists the names there are."""
    named, _, writer = name.partition("@")
    if writer and writer not in WRITERS:
        raise BadInput(f"a method is written {' or '.join(WRITERS)}, not {writer!r}, as in {name}")
    mechanisms = tuple(part.strip() for part in named.split("+"))
    for mechanism in mechanisms:
        if mechanism not in known:
            raise BadInput(
                f"no method is called {mechanism!r}; there are {', '.join(sorted(known))}, "
                "and combinations such as summary+search"
            )
    called = "+".join(mechanisms) + (f"@{writer}" if writer else "")
    return Method(name=called, mechanisms=mechanisms, writer=writer)


def choose(
    names: Sequence[str], known: Mapping[str, Entry], *, usual: Sequence[str], only: bool = False
) -> tuple[Method, ...]:
    """The methods to run: those named, or the task's usual ones; the baselines first unless
    `only` the named are wanted."""
    wanted = [*(() if only else ALWAYS), *(names or usual)]
    return tuple(parse(name, known) for name in dict.fromkeys(wanted))


def registry(
    *,
    gold: Mapping[str, Sequence[str]] | None = None,
    analyser: Callable[[str], Analyser] | None = None,
) -> dict[str, Entry]:
    """Every mechanism of the product, and the variants that only benchmarks want."""
    known = dict(MECHANISMS)
    for k in (3, 5):
        known[f"bm25:{k}"] = _entry(_bm25(k), f"the {k} utterances with the best BM25 score")
        known[f"dense:{k}"] = _entry(
            _dense(k),
            f"the {k} utterances with the nearest vectors",
            needs=MECHANISMS["dense"].needs,
        )
    known["summary:paper"] = replace(
        MECHANISMS["summary"], about="the summary, asked for by the paper's prompt"
    )
    for name, (compressor, about) in _compressions(analyser).items():
        known[name] = _entry(_memos(compressor), about)
        known[name + FORCED] = _entry(
            _memos(compressor, least=ANYTHING), f"{about}; the best enter, however unlike"
        )
    known[GOLD] = _entry(
        lambda _: Gold(gold or {}), "the memory that people wrote, where a data set has it"
    )
    return known


def _compressions(
    analyser: Callable[[str], Analyser] | None,
) -> dict[str, tuple[Compressor, str]]:
    """Paper C's sweep. Function words take something that knows them."""
    found: dict[str, tuple[Compressor, str]] = {
        "memos:whole": (Whole(), "memos without compression")
    }
    for share in (25, 50, 75):
        about = f"memos without {share} % of the words, at random"
        found[f"memos:random-{share}"] = (RandomTokens(share=share / 100), about)
    if analyser is None:
        return found
    for share in (25, 50, 75, 100):
        words = FunctionWords(share=share / 100, analyser=analyser)
        about = f"memos without {share} % of the function words"
        found[f"memos:function-{share}"] = (words, about)
    return found


def _plain(name: str) -> str:
    return name.partition(":")[0]


def _entry(make: Callable[[Parts], Mechanism], about: str, *, needs: str = "") -> Entry:
    return Entry(
        make=make, about=about, paper="a variant for benchmarks", calls="as its kind", needs=needs
    )


def _bm25(k: int) -> Callable[[Parts], Mechanism]:
    return lambda parts: Bm25(parts.store, k=k)


def _dense(k: int) -> Callable[[Parts], Mechanism]:
    return lambda parts: Dense(parts.store, embedder=parts.needed_embedder("dense"), k=k)


def _memos(compressor: Compressor, *, least: float | None = None) -> Callable[[Parts], Mechanism]:
    """Without merging or folding, so that nothing but the compression differs; `least` is the
    likeness from which a memo is related, if not the product's own."""
    return lambda parts: Memos(
        store=parts.store,
        writer=parts.memos,
        compressor=compressor,
        retrieval=MemoSearch(store=parts.store, embedder=parts.embedder, least=least),
        room=parts.room,
    )
