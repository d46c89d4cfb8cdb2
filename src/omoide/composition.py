"""Settings, a store and models become a memory: what bootstrap and tests have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.engine import Limits, Memory
from omoide.errors import BadInput
from omoide.memory.baselines import Baseline, Bm25, ContextOnly, Dense
from omoide.memory.forms import Form, PaperForm
from omoide.memory.recall import Recall
from omoide.memory.recursive_summary import RecursiveSummary
from omoide.memory.replies import FORMS as REPLY_FORMS
from omoide.memory.search import Search
from omoide.memory.small_form import SmallForm
from omoide.memory.summary import SummaryMechanism

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeVar

    from omoide.memory.mechanism import Mechanism
    from omoide.ports import ChatModel, Clock, Embedder, Store
    from omoide.settings import Settings

    T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What mechanisms are made of."""

    settings: Settings
    store: Store
    model: ChatModel
    iterator: ChatModel
    embedder: Embedder | None
    recall: Recall

    def needed_embedder(self, name: str) -> Embedder:
        """The embedder, for a mechanism that cannot do without."""
        if self.embedder is None:
            raise BadInput(f"the mechanism {name} needs an embedder; set OMOIDE_EMBEDDER")
        return self.embedder


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A mechanism that can be named in a configuration."""

    make: Callable[[Parts], Mechanism]
    about: str
    paper: str
    calls: str
    """Model calls it makes."""
    needs: str = ""


FORMS: dict[str, Form] = {"small": SmallForm(), "paper": PaperForm()}

MECHANISMS: dict[str, Entry] = {
    "summary": Entry(
        make=lambda parts: SummaryMechanism(
            store=parts.store,
            iterator=RecursiveSummary(
                model=parts.iterator,
                form=chosen(FORMS, parts.settings.form, "form"),
                limit=parts.settings.sentences,
            ),
            embedder=parts.embedder,
        ),
        about="a short memory of both speakers, rewritten after each session",
        paper="Wang et al. 2023 (Rsum)",
        calls="1 a session",
    ),
    "search": Entry(
        make=lambda parts: Search(
            parts.recall, k=parts.settings.recall, budget=parts.settings.recall_tokens
        ),
        about="turns of earlier sessions by words and vectors, fused",
        paper="omoide",
        calls="none",
    ),
    "session": Entry(
        make=lambda _: Baseline(),
        about="the current session only",
        paper="baseline of Wang et al. 2023 (without memory)",
        calls="none",
    ),
    "context": Entry(
        make=lambda parts: ContextOnly(parts.store),
        about="all history, the oldest left out where it does not fit",
        paper="baseline of Wang et al. 2023 (context-only)",
        calls="none",
    ),
    "bm25": Entry(
        make=lambda parts: Bm25(parts.store),
        about="the 5 past utterances with the best BM25 score",
        paper="baseline of Wang et al. 2023",
        calls="none",
    ),
    "dense": Entry(
        make=lambda parts: Dense(parts.store, embedder=parts.needed_embedder("dense")),
        about="the 5 past utterances with the nearest vectors",
        paper="baseline of Wang et al. 2023 (DPR)",
        calls="none",
        needs="an embedder",
    ),
}


def compose(
    settings: Settings,
    *,
    store: Store,
    model: ChatModel,
    iterator: ChatModel,
    embedder: Embedder | None,
    clock: Clock,
    worker: str,
) -> Memory:
    """A memory of these parts, as the settings say."""
    recall = Recall(store=store, embedder=embedder)
    parts = Parts(
        settings=settings,
        store=store,
        model=model,
        iterator=iterator,
        embedder=embedder,
        recall=recall,
    )
    return Memory(
        tenant=settings.tenant,
        store=store,
        model=model,
        iterator=iterator,
        mechanisms=[
            chosen(MECHANISMS, name, "mechanism").make(parts) for name in settings.mechanisms
        ],
        reply_form=chosen(REPLY_FORMS, settings.reply_form, "reply form"),
        recall=recall,
        embedder=embedder,
        clock=clock,
        worker=worker,
        limits=Limits(
            idle=settings.idle,
            memory_tokens=settings.memory_tokens,
            reply_tokens=settings.reply_tokens,
            longest=settings.longest,
        ),
    )


def chosen(known: Mapping[str, T], name: str, what: str) -> T:
    """The entry of that name, or an error that lists the names."""
    if name not in known:
        raise BadInput(f"there is no {what} {name!r}; there are {', '.join(sorted(known))}")
    return known[name]
