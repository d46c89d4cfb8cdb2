"""The methods to compare: mechanisms by name, variants of them, and combinations.

Examples: `summary`, `summary+search`, `bm25:3`, `memos:random-50`, `gold`. Each is built like the
product, over its own store. `summary+memos+human-recall@fused` writes everything from one call per
session. `as:wang2023` is a preset: a paper's method with all its settings, of which some may be
set otherwise: `as:wang2023,mechanisms=bm25:5+summary,reply_form=retrieval+memory`.
`memos:random-50:forced` takes the best memos regardless of their similarity, with a budget
for all of them, so that a sweep compares compressions and not empty prompts.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.mechanisms import MECHANISMS, WRITERS, MechanismEntry, reply_tokens_for
from omoide.mechanisms.baselines import Bm25Baseline, GoldMemory, VectorBaseline
from omoide.mechanisms.memos import (
    CompressedMemos,
    FunctionWordCompressor,
    MemoSearch,
    NoCompression,
    RandomTokenCompressor,
)
from omoide.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from omoide.mechanisms import Mechanism, MechanismParts
    from omoide.mechanisms.memos import Compressor
    from omoide.ports import Analyser, Tokenizer

ALWAYS = ("context", "session", "bm25")
"""The baselines of every run: the full history, the current session only, plain retrieval."""
GOLD = "gold"
RIVALS = {
    "mem0": "mem0 with facts by the model",
    "mem0:raw": "mem0 without inference",
    "langmem": "langmem with memories by the model",
}
"""Other libraries."""
_WITHOUT_VECTORS = frozenset({"context", "session", "bm25", GOLD})


@dataclass(frozen=True, kw_only=True)
class Method:
    """One mechanism or a combination of several."""

    name: str
    mechanisms: tuple[str, ...]
    writer: str = ""
    """The writer of sessions, if not the one in the settings."""
    preset: str = ""
    """The preset that it is, if it is one."""
    changes: Mapping[str, str] = field(default_factory=dict)
    """Settings that it has otherwise than its preset, as text."""

    @property
    def needs_vectors(self) -> bool:
        """Whether any of its mechanisms uses vectors."""
        return any(_plain(name) not in _WITHOUT_VECTORS for name in self.mechanisms)

    def settings(self, base: Settings) -> Settings:
        """The settings of the method. All methods have the same token budget for memory, except
        that the full history (`context`) gets the whole window. A preset has its own settings."""
        given = {"preset": self.preset, **self.changes} if self.preset else {}
        changed = replace(base.changed(**given), mechanisms=self.mechanisms)
        if "context" in self.mechanisms:
            room = changed.window - reply_tokens_for(changed) - REPLY_TOKENS_RESERVED
            changed = replace(changed, memory_tokens=room)
        if any(name.endswith(FORCED) for name in self.mechanisms):
            changed = replace(changed, memory_tokens=max(base.memory_tokens, FORCED_ROOM))
        if "summary:paper" in self.mechanisms:
            changed = replace(changed, form="paper")
        return replace(changed, writer=self.writer) if self.writer else changed


REPLY_TOKENS_RESERVED = 1500
"""Tokens reserved for instructions and the current session when the rest is the full history."""
FORCED = ":forced"
AS = "as:"
"""Begins the name of a method that is a preset."""
ANYTHING = -2.0
"""Below every possible similarity."""
FORCED_ROOM = 4800
"""Enough tokens for the three best memos uncompressed: otherwise the longest would be left out of
the budget."""


def parse(name: str, known: Mapping[str, MechanismEntry]) -> Method:
    """The method of that name. Raises `BadInput` that lists the known names."""
    if name.startswith(AS):
        return _preset(name, known)
    named, _, writer = name.partition("@")
    if writer and writer not in WRITERS:
        raise BadInput(
            f"the writer after @ must be {' or '.join(WRITERS)}, got {writer!r} in {name}"
        )
    mechanisms = _mechanisms(named, known)
    called = "+".join(mechanisms) + (f"@{writer}" if writer else "")
    return Method(name=called, mechanisms=mechanisms, writer=writer)


def _preset(name: str, known: Mapping[str, MechanismEntry]) -> Method:
    """A preset's method, `as:NAME,setting=value,…`."""
    preset, *given = name.removeprefix(AS).split(",")
    changes: dict[str, str] = {}
    for one in given:
        setting, mark, value = one.partition("=")
        if not mark:
            raise BadInput(f"{name}: wanted SETTING=VALUE after the preset, got {one!r}")
        changes[setting.strip()] = value.strip()
    mechanisms = changes.pop("mechanisms", "")
    settings = Settings.of(preset, **changes)
    return Method(
        name=name,
        mechanisms=_mechanisms(mechanisms, known) if mechanisms else settings.mechanisms,
        preset=str(settings.preset),
        changes=changes,
    )


def _mechanisms(names: str, known: Mapping[str, MechanismEntry]) -> tuple[str, ...]:
    """Mechanisms joined by +. Raises `BadInput` that lists the known ones."""
    mechanisms = tuple(part.strip() for part in names.split("+"))
    for mechanism in mechanisms:
        if mechanism not in known:
            raise BadInput(
                f"unknown method {mechanism!r}; known methods: {', '.join(sorted(known))}, "
                "combinations such as summary+search, and presets such as as:wang2023"
            )
    return mechanisms


def choose(
    names: Sequence[str],
    known: Mapping[str, MechanismEntry],
    *,
    usual: Sequence[str],
    only: bool = False,
) -> tuple[Method, ...]:
    """The methods to run: those named, or the task's defaults; baselines first, unless `only`."""
    wanted = [*(() if only else ALWAYS), *(names or usual)]
    return tuple(parse(name, known) for name in dict.fromkeys(wanted))


def registry(
    *,
    gold: Mapping[str, Sequence[str]] | None = None,
    analyser: Callable[[str], Analyser] | None = None,
    tokenizer: Tokenizer | None = None,
) -> dict[str, MechanismEntry]:
    """Every mechanism of the product, and variants for benchmarks only."""
    known = dict(MECHANISMS)
    for k in (3, 5):
        known[f"bm25:{k}"] = _entry(_bm25(k), f"the {k} utterances with the best BM25 score")
        known[f"dense:{k}"] = _entry(
            _dense(k),
            f"the {k} utterances with the nearest vectors",
            needs=MECHANISMS["dense"].needs,
        )
    known["summary:paper"] = replace(
        MECHANISMS["summary"], about="the summary, with the paper's prompt"
    )
    for name, (compressor, about) in _compressions(analyser, tokenizer).items():
        known[name] = _entry(_memos(compressor), about)
        known[name + FORCED] = _entry(
            _memos(compressor, least=ANYTHING),
            f"{about}; the best are used regardless of similarity",
        )
    for name, about in RIVALS.items():
        known[name] = _entry(
            _rival(name), f"{about}; extra rivals", needs=MECHANISMS["dense"].needs
        )
    known[GOLD] = _entry(
        lambda _: GoldMemory(gold or {}), "the annotated memory, if the data set has one"
    )
    return known


def _compressions(
    analyser: Callable[[str], Analyser] | None, tokenizer: Tokenizer | None
) -> dict[str, tuple[Compressor, str]]:
    """Paper C's sweep of compressions. Those by function words need an analyser; those at random
    drop a model's tokens if there is a tokenizer."""
    compressions: dict[str, tuple[Compressor, str]] = {
        "memos:whole": (NoCompression(), "memos without compression")
    }
    for share in (25, 50, 75):
        about = f"memos without {share} % of the tokens, at random (words without --tokens)"
        random = RandomTokenCompressor(share=share / 100, tokenizer=tokenizer)
        compressions[f"memos:random-{share}"] = (random, about)
    if analyser is None:
        return compressions
    for share in (25, 50, 75, 100):
        words = FunctionWordCompressor(share=share / 100, analyser=analyser)
        about = f"memos without {share} % of the function words"
        compressions[f"memos:function-{share}"] = (words, about)
    return compressions


def _plain(name: str) -> str:
    return name.partition(":")[0]


def _entry(
    make: Callable[[MechanismParts], Mechanism], about: str, *, needs: str = ""
) -> MechanismEntry:
    return MechanismEntry(
        make=make, about=about, paper="a variant for benchmarks", calls="as its kind", needs=needs
    )


def _bm25(k: int) -> Callable[[MechanismParts], Mechanism]:
    return lambda parts: Bm25Baseline(parts.store, k=k)


def _dense(k: int) -> Callable[[MechanismParts], Mechanism]:
    return lambda parts: VectorBaseline(parts.store, embedder=parts.needed_embedder("dense"), k=k)


def _rival(name: str) -> Callable[[MechanismParts], Mechanism]:
    def make(parts: MechanismParts) -> Mechanism:
        from omoide_bench.rivals.langmem import open_langmem
        from omoide_bench.rivals.mem0 import open_mem0
        from omoide_bench.rivals.method import Rival

        return Rival(
            name,
            open_client=open_langmem if name == "langmem" else open_mem0,
            embedder=parts.needed_embedder(name),
            items=parts.budget.items,
            infer=name != "mem0:raw",
        )

    return make


def _memos(
    compressor: Compressor, *, least: float | None = None
) -> Callable[[MechanismParts], Mechanism]:
    """Memos without merging or folding, so that only the compression differs; `least` overrides
    the product's similarity threshold."""
    return lambda parts: CompressedMemos(
        store=parts.store,
        writer=parts.memos,
        compressor=compressor,
        retrieval=MemoSearch(store=parts.store, embedder=parts.embedder, least=least),
        room=parts.room,
    )
