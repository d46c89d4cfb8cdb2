"""The registry of mechanisms: every name a configuration can use, with its paper and cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.mechanisms.baselines.generative_agents import GenerativeAgents
from omoide.mechanisms.baselines.memory_bank import MemoryBank
from omoide.mechanisms.baselines.memory_bank_summaries import DailySummaries
from omoide.mechanisms.baselines.plain import (
    Bm25Baseline,
    FullContext,
    GoldMemory,
    SessionOnly,
    VectorBaseline,
)
from omoide.mechanisms.entry import MechanismEntry
from omoide.mechanisms.events.human_recall import HumanRecall
from omoide.mechanisms.facts.summary import FactSummary
from omoide.mechanisms.memos.mechanism import ChosenMemos, CompressedMemos, MemoChat
from omoide.mechanisms.memos.search import MemoChoice, MemoSearch
from omoide.mechanisms.memos.upkeep import MemoUpkeep
from omoide.mechanisms.parts import (
    FORMS,
    FUSED,
    PARTNERS,
    WRITERS,
    MechanismParts,
    lookup,
    profile_of,
    recall_settings,
    repeated_sentences,
    reply_form_for,
    reply_tokens_for,
)
from omoide.mechanisms.search.mechanism import SearchMechanism
from omoide.mechanisms.summary.mechanism import SummaryMechanism
from omoide.plugins import Group, Registry

if TYPE_CHECKING:
    from omoide.mechanisms.base import Mechanism

__all__ = [
    "BUILT_IN",
    "FORMS",
    "FUSED",
    "MECHANISMS",
    "PARTNERS",
    "WRITERS",
    "MechanismEntry",
    "MechanismParts",
    "lookup",
    "recall_settings",
    "reply_tokens_for",
]


def _summary(parts: MechanismParts) -> Mechanism:
    if parts.keeps_facts:
        return FactSummary(
            store=parts.store,
            keeper=parts.keeper,
            limit=parts.settings.max_sentences,
            further=parts.profile.further,
            embedder=parts.embedder,
            near=repeated_sentences(parts.settings),
            past_verbs=profile_of(parts.settings) == "small",
        )
    return SummaryMechanism(
        store=parts.store,
        iterator=parts.iteration,
        embedder=parts.embedder,
        near=repeated_sentences(parts.settings),
    )


def _memos(parts: MechanismParts) -> Mechanism:
    return CompressedMemos(
        store=parts.store,
        writer=parts.memos,
        compressor=parts.compressor,
        retrieval=MemoSearch(store=parts.store, embedder=parts.embedder),
        # As a layer they stay as they were written: search tells a question's topics with their
        # days, which a merged memo no longer has.
        upkeep=(
            MemoUpkeep(store=parts.store, embedder=parts.embedder)
            if "memos" in parts.settings.mechanisms
            else None
        ),
        room=parts.room,
    )


def _choice(parts: MechanismParts) -> MemoChoice:
    return MemoChoice(
        store=parts.store,
        model=parts.iterator,
        asker=parts.asker,
        otherwise=MemoSearch(store=parts.store, embedder=parts.embedder),
        room=parts.room,
    )


def _compressed_memos(parts: MechanismParts) -> Mechanism:
    return ChosenMemos(
        store=parts.store,
        writer=parts.memos,
        compressor=parts.compressor,
        choice=_choice(parts),
        room=parts.room,
    )


def _memochat(parts: MechanismParts) -> Mechanism:
    return MemoChat(store=parts.store, writer=parts.memos, choice=_choice(parts), room=parts.room)


def _human_recall(parts: MechanismParts) -> Mechanism:
    return HumanRecall(
        store=parts.store,
        embedder=parts.embedder,
        writer=parts.events,
        knobs=recall_settings(parts.settings),
    )


def _memory_bank(parts: MechanismParts) -> Mechanism:
    model = parts.iterator
    summaries = DailySummaries(
        store=parts.store,
        window=model.window,
        count=model.count,
        name=model.name,
        flags=parts.flags,
    )
    return MemoryBank(
        store=parts.store, embedder=parts.needed_embedder("memory-bank"), summaries=summaries
    )


BUILT_IN: dict[str, MechanismEntry] = {
    "summary": MechanismEntry(
        make=_summary,
        about="a short memory of both speakers, a new version after each session",
        paper="Wang et al. 2023 (Rsum)",
        calls="1 a session, for all mechanisms together (up to 2 if separate)",
    ),
    "search": MechanismEntry(
        make=lambda parts: SearchMechanism(
            parts.recall,
            budget=parts.budget,
            replies=parts.person or reply_form_for(parts.settings) != "small",
        ),
        about="turns that fit what was said, by words, meaning and context",
        paper="omoide",
        calls="none",
    ),
    "memos": MechanismEntry(
        make=_memos,
        about="dialogue by topic, summarised and compressed, found by search",
        paper="compressed memos, NLP 2025",
        calls="none of its own (separate: 1 a session of up to 20 lines)",
    ),
    "compressed-memos": MechanismEntry(
        make=_compressed_memos,
        about="dialogue by topic, summarised and compressed; a model chooses what is related",
        paper="Taniguchi & Minami 2025",
        calls="1 a session of up to 20 lines, 1 a reply",
    ),
    "memochat": MechanismEntry(
        make=_memochat,
        about="dialogue by topic, uncompressed; a model chooses what is related",
        paper="Lu et al. 2023 (MemoChat)",
        calls="1 a session, 1 a reply",
    ),
    "human-recall": MechanismEntry(
        make=_human_recall,
        about="events, recalled with a probability from relevance, time and past recalls",
        paper="Hou et al. 2024",
        calls="none of its own (separate: 1 a session)",
    ),
    "generative-agents": MechanismEntry(
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
    "memory-bank": MechanismEntry(
        make=_memory_bank,
        about="turn pairs that fade, daily and overall summaries, a portrait of the user",
        paper="Zhong et al. 2024 (MemoryBank)",
        calls="4 a session",
        needs="an embedder",
    ),
    "session": MechanismEntry(
        make=lambda _: SessionOnly(),
        about="the current session only",
        paper="baseline of Wang et al. 2023 (without memory)",
        calls="none",
    ),
    "context": MechanismEntry(
        make=lambda parts: FullContext(parts.store),
        about="the whole history; the oldest turns are dropped if it does not fit",
        paper="baseline of Wang et al. 2023 (context-only)",
        calls="none",
    ),
    "gold": MechanismEntry(
        make=lambda parts: GoldMemory(store=parts.store),
        about="a memory that people wrote, from notes of the kind `gold`",
        paper="baseline of Wang et al. 2023 (gold memory)",
        calls="none",
        needs="notes written by people",
    ),
    "bm25": MechanismEntry(
        make=lambda parts: Bm25Baseline(parts.store),
        about="the 5 past utterances with the best BM25 score",
        paper="baseline of Wang et al. 2023",
        calls="none",
    ),
    "dense": MechanismEntry(
        make=lambda parts: VectorBaseline(parts.store, embedder=parts.needed_embedder("dense")),
        about="the 5 past utterances with the nearest vectors",
        paper="baseline of Wang et al. 2023 (DPR)",
        calls="none",
        needs="an embedder",
    ),
}

MECHANISMS: Registry[MechanismEntry] = Registry(Group.MECHANISMS, own=BUILT_IN, kind=MechanismEntry)
"""The built-in mechanisms and those of plug-ins."""
