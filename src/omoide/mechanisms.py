"""Every mechanism that a configuration can name, with its paper and what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from omoide.accounts import Account
from omoide.domain import Purpose
from omoide.errors import BadInput
from omoide.memory.baselines.generative_agents import GenerativeAgents
from omoide.memory.baselines.memory_bank import MemoryBank
from omoide.memory.baselines.memory_bank_summaries import DailySummaries
from omoide.memory.baselines.plain import Bm25, ContextOnly, Dense, Gold, SessionOnly
from omoide.memory.events.human_recall import HumanRecall
from omoide.memory.events.writer import ModelWriter, Unwritten
from omoide.memory.fused.notes import CodeScribe, Notes
from omoide.memory.fused.shared import Shared, SharedEvents, SharedMemos
from omoide.memory.fused.whole import Answers, WholeForm
from omoide.memory.memos.compression_budget import Budget
from omoide.memory.memos.mechanism import MemoChat, Memos
from omoide.memory.memos.search import MemoChoice, MemoSearch
from omoide.memory.memos.upkeep import Upkeep
from omoide.memory.memos.writer import MemoWriter
from omoide.memory.search.mechanism import Search
from omoide.memory.summary.both_form import BothForm
from omoide.memory.summary.forms import Form, PaperForm
from omoide.memory.summary.iterator import RecursiveSummary
from omoide.memory.summary.mechanism import SummaryMechanism
from omoide.memory.summary.partner import Partner
from omoide.memory.summary.small_form import SmallForm

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeVar

    from omoide.memory.events.writer import Writer
    from omoide.memory.mechanism import Ask, Mechanism, Moment
    from omoide.memory.memos.writer import Scribe
    from omoide.memory.search.recall import Recall
    from omoide.memory.summary.iterator import Iterator
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
    clock: Clock

    def needed_embedder(self, name: str) -> Embedder:
        """The embedder, for a mechanism that cannot do without."""
        if self.embedder is None:
            raise BadInput(f"the mechanism {name} needs an embedder; set OMOIDE_EMBEDDER")
        return self.embedder

    @property
    def fused(self) -> bool:
        """Whether all mechanisms write from one call."""
        return chosen(WRITERS, self.settings.writer, "writer")

    @property
    def room(self) -> int:
        """About how many tokens of the current session a reply's prompt holds."""
        taken = self.settings.reply_tokens + self.settings.memory_tokens + 800
        return max(self.model.window - taken, 0)

    @property
    def person(self) -> bool:
        """Whether the user talks with somebody who has a life of their own."""
        return chosen(PARTNERS, self.settings.partner, "partner")

    @property
    def small(self) -> bool:
        """Whether the model is to be asked for notes, not for JSON."""
        return self.settings.form == "small"

    @cached_property
    def iteration(self) -> Iterator:
        """What rewrites the memory; fused, the same for all mechanisms of this memory."""
        forms = FUSED if self.fused else FORMS
        partner = Partner(person=self.person, persona=self.settings.persona)
        iterator = RecursiveSummary(
            model=self.iterator,
            form=chosen(forms, self.settings.form, "form")(partner),
            limit=self.settings.sentences,
        )
        if not self.fused:
            return iterator
        summarised = "summary" in self.settings.mechanisms
        return Shared(store=self.store, iterator=iterator, summarised=summarised)

    @property
    def events(self) -> Writer:
        """Who writes events down."""
        model = self.iterator
        alone = ModelWriter(window=model.window, count=model.count, name=model.name)
        if not isinstance(self.iteration, Shared):
            return alone
        if self.small:
            return SharedEvents(self.iteration, Notes(embedder=self.embedder), Unwritten())
        return SharedEvents(self.iteration, Answers(), alone)

    @property
    def memos(self) -> Scribe:
        """Who writes memos."""
        alone = MemoWriter(model=self.iterator)
        if not isinstance(self.iteration, Shared):
            return alone
        if self.small:
            code = CodeScribe(embedder=self.embedder)
            return SharedMemos(self.iteration, Notes(embedder=self.embedder), code)
        return SharedMemos(self.iteration, Answers(), alone)

    def asker(self, moment: Moment) -> Ask:
        """Asks the iterator on behalf of a reply; the call is written into the account."""
        account = Account(
            ledger=self.store.ledger,
            clock=self.clock,
            owner=moment.owner,
            session=moment.session[-1].session,
        )
        return account.asker(self.iterator, Purpose.CHOOSE)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A mechanism that can be named in a configuration."""

    make: Callable[[Parts], Mechanism]
    about: str
    paper: str
    calls: str
    """Model calls it makes."""
    needs: str = ""


FORMS: dict[str, Callable[[Partner], Form]] = {"small": SmallForm, "paper": lambda _: PaperForm()}
FUSED: dict[str, Callable[[Partner], Form]] = {"small": BothForm, "paper": lambda _: WholeForm()}
"""What takes their place when one call is to give everything."""
PARTNERS = {"assistant": False, "person": True}
WRITERS = {"separate": False, "fused": True}


def _summary(parts: Parts) -> Mechanism:
    return SummaryMechanism(
        store=parts.store,
        iterator=parts.iteration,
        embedder=parts.embedder,
    )


def _memos(parts: Parts) -> Mechanism:
    return Memos(
        store=parts.store,
        writer=parts.memos,
        compressor=Budget(share=0.25),
        retrieval=MemoSearch(store=parts.store, embedder=parts.embedder),
        upkeep=Upkeep(store=parts.store, embedder=parts.embedder),
        room=parts.room,
    )


def _memochat(parts: Parts) -> Mechanism:
    return MemoChat(
        store=parts.store,
        writer=parts.memos,
        choice=MemoChoice(
            store=parts.store,
            model=parts.iterator,
            asker=parts.asker,
            otherwise=MemoSearch(store=parts.store, embedder=parts.embedder),
            room=parts.room,
        ),
        room=parts.room,
    )


def _memory_bank(parts: Parts) -> Mechanism:
    model = parts.iterator
    summaries = DailySummaries(
        store=parts.store, window=model.window, count=model.count, name=model.name
    )
    return MemoryBank(
        store=parts.store, embedder=parts.needed_embedder("memory-bank"), summaries=summaries
    )


MECHANISMS: dict[str, Entry] = {
    "summary": Entry(
        make=_summary,
        about="a short memory of both speakers, rewritten after each session",
        paper="Wang et al. 2023 (Rsum)",
        calls="up to 2 a session (form small), 1 (form paper, or fused)",
    ),
    "search": Entry(
        make=lambda parts: Search(
            parts.recall,
            k=parts.settings.recall,
            budget=parts.settings.recall_tokens,
            replies=parts.person or parts.settings.asks_by != "small",
        ),
        about="turns of earlier sessions by words and vectors, fused",
        paper="omoide",
        calls="none",
    ),
    "memos": Entry(
        make=_memos,
        about="dialogue by topic, summarised and compressed, found by search",
        paper="compressed memos, NLP 2025",
        calls="1 a session of up to 20 lines; fused, none of its own",
    ),
    "memochat": Entry(
        make=_memochat,
        about="dialogue by topic, uncompressed; a model chooses what is related",
        paper="Lu et al. 2023 (MemoChat)",
        calls="1 a session, 1 a reply",
    ),
    "human-recall": Entry(
        make=lambda parts: HumanRecall(
            store=parts.store, embedder=parts.embedder, writer=parts.events
        ),
        about="events that come to mind when relevance, time and past recalls make it probable",
        paper="Hou et al. 2024",
        calls="1 a session; fused, none of its own",
    ),
    "generative-agents": Entry(
        make=lambda parts: GenerativeAgents(
            store=parts.store,
            embedder=parts.needed_embedder("generative-agents"),
            writer=parts.events,
        ),
        about="events by recency, importance and relevance; not together with human-recall",
        paper="Park et al. 2023 (Generative Agents)",
        calls="2 a session, 3 when it reflects",
        needs="an embedder",
    ),
    "memory-bank": Entry(
        make=_memory_bank,
        about="turn pairs that fade, daily and global summaries, a portrait",
        paper="Zhong et al. 2024 (MemoryBank)",
        calls="4 a session",
        needs="an embedder",
    ),
    "session": Entry(
        make=lambda _: SessionOnly(),
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
    "gold": Entry(
        make=lambda parts: Gold(store=parts.store),
        about="a memory that people wrote, from notes of the kind `gold`",
        paper="baseline of Wang et al. 2023 (gold memory)",
        calls="none",
        needs="notes written by people",
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


def chosen(known: Mapping[str, T], name: str, what: str) -> T:
    """The entry of that name, or an error that lists the names."""
    if name not in known:
        raise BadInput(f"there is no {what} {name!r}; there are {', '.join(sorted(known))}")
    return known[name]
