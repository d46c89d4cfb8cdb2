"""The parts that mechanisms are built from: the store, the models, the settings, the writers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from omoide.claims.attribution import Partner
from omoide.errors import BadInput
from omoide.mechanisms.events.scoring import RecallSettings
from omoide.mechanisms.events.writer import ModelEventWriter, NullEventWriter
from omoide.mechanisms.facts.keeper import FactKeeper
from omoide.mechanisms.facts.profiles import profile_for
from omoide.mechanisms.facts.sources import FactEvents, FactMemos
from omoide.mechanisms.fused.json_form import JsonDigestSource, JsonForm
from omoide.mechanisms.fused.notes import NoteDigestSource, RuleMemoMaker
from omoide.mechanisms.fused.shared import SharedDigest, SharedEvents, SharedMemos
from omoide.mechanisms.memos.compressors import COMPRESSORS, TextTools
from omoide.mechanisms.memos.writer import MemoWriter
from omoide.mechanisms.reply_room import kept_for_reply
from omoide.mechanisms.search.gate import BUDGETS, RecallBudget
from omoide.mechanisms.summary.both_form import BothForm
from omoide.mechanisms.summary.forms import PaperForm, SummaryForm
from omoide.mechanisms.summary.mechanism import NEAR
from omoide.mechanisms.summary.small_form import SmallForm
from omoide.mechanisms.summary.summariser import RecursiveSummary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeVar

    from omoide.mechanisms.base import Ask, ReplyRequest
    from omoide.mechanisms.events.writer import EventWriter
    from omoide.mechanisms.facts.profiles import Profile
    from omoide.mechanisms.memos.compression import Compressor
    from omoide.mechanisms.memos.writer import MemoMaker
    from omoide.mechanisms.search.recall import Recall
    from omoide.mechanisms.summary.summariser import Summariser
    from omoide.ports import ChatModel, Clock, Embedder, Store
    from omoide.settings import Settings

    T = TypeVar("T")

FORMS: dict[str, Callable[[Partner], SummaryForm]] = {
    "small": SmallForm,
    "paper": lambda _: PaperForm(),
}
FUSED: dict[str, Callable[[Partner], SummaryForm]] = {
    "small": BothForm,
    "paper": lambda _: JsonForm(),
}
"""The forms used instead when one call writes everything."""
PARTNERS = {"assistant": False, "person": True}
WRITERS = ("facts", "separate", "fused")
GUARDS = {"refuse": False, "flag": True}
RELEVANCE = {"calibrated": True, "cosine": False}


@dataclass(frozen=True, kw_only=True)
class MechanismParts:
    """The parts that mechanisms are built from."""

    settings: Settings
    store: Store
    model: ChatModel
    iterator: ChatModel
    embedder: Embedder | None
    recall: Recall
    clock: Clock
    asker: Callable[[ReplyRequest], Ask]
    """Asks the summariser's model on behalf of a reply and records the call in the ledger."""
    text_tools: TextTools = field(default_factory=TextTools)
    """What compression needs to split text into words and tokens."""

    def needed_embedder(self, name: str) -> Embedder:
        """The embedder, for a mechanism that requires one. Raises `BadInput` if there is none."""
        if self.embedder is None:
            raise BadInput(f"the mechanism {name} needs an embedder; set OMOIDE_EMBEDDER")
        return self.embedder

    @property
    def fused(self) -> bool:
        """Whether one call writes for all mechanisms, each with its own guards."""
        return self._writer == "fused"

    @property
    def keeps_facts(self) -> bool:
        """Whether sessions are digested into facts, from which the mechanisms take theirs."""
        return self._writer == "facts"

    @property
    def layers(self) -> tuple[str, ...]:
        """The mechanisms that are written from the summary's facts but do not add to prompts."""
        used = self.settings.mechanisms
        if not self.keeps_facts or "summary" not in used or self.settings.layers == ("none",):
            return ()
        return tuple(name for name in self.settings.layers if name not in used)

    @property
    def _writer(self) -> str:
        lookup(FORMS, self.settings.form, "form")  # it decides the writer unless that is set
        return lookup({name: name for name in WRITERS}, self.settings.effective_writer, "writer")

    @property
    def profile(self) -> Profile:
        """How the model that writes memory is asked, by its strength."""
        settings = self.settings
        return profile_for(settings.profile, model=self.iterator.name, remote=settings.remote)

    @cached_property
    def keeper(self) -> FactKeeper:
        """The writer of facts, shared by all mechanisms of this memory."""
        settings, profile = self.settings, self.profile
        return FactKeeper(
            store=self.store,
            model=self.iterator,
            form=profile.form_for(
                self.iterator, Partner(person=self.person, persona=settings.persona)
            ),
            known=profile.known,
            known_long=profile.known_long,
            newest=profile.newest,
        )

    @property
    def budget(self) -> RecallBudget:
        """How much recall may bring to a prompt."""
        return budget_for(self.settings)

    @property
    def room(self) -> int:
        """About how many tokens of the current session fit into a reply's prompt."""
        return session_room(self.settings, window=self.model.window)

    @property
    def person(self) -> bool:
        """Whether the user talks with a human, who is remembered like the user."""
        return lookup(PARTNERS, self.settings.partner, "partner")

    @property
    def small(self) -> bool:
        """Whether the model is asked for notes instead of JSON."""
        return self.settings.form == "small"

    @property
    def flags(self) -> bool:
        """Whether an answer with faults is taken and flagged instead of refused."""
        return lookup(GUARDS, self.settings.guards, "guards")

    @property
    def compressor(self) -> Compressor:
        """The compressor of memos' dialogue."""
        make = lookup(COMPRESSORS, self.settings.compression, "compression")
        percent = self.settings.compression_percent
        if not 0 <= percent <= 100:
            raise BadInput(f"compression_percent must be between 0 and 100, not {percent}")
        tools = replace(self.text_tools, keep_negation=self.settings.keep_negation)
        return make(percent / 100, tools)

    @cached_property
    def iteration(self) -> Summariser:
        """The summariser. If fused, all mechanisms of this memory share it."""
        forms = FUSED if self.fused else FORMS
        partner = Partner(person=self.person, persona=self.settings.persona)
        iterator = RecursiveSummary(
            model=self.iterator,
            form=lookup(forms, self.settings.form, "form")(partner),
            limit=self.settings.max_sentences,
            flags=self.flags,
        )
        if not self.fused:
            return iterator
        summarised = "summary" in self.settings.mechanisms
        return SharedDigest(store=self.store, iterator=iterator, summarised=summarised)

    @property
    def events(self) -> EventWriter:
        """The writer of events."""
        if self.keeps_facts:
            return FactEvents(self.keeper, store=self.store)
        model = self.iterator
        separate = ModelEventWriter(
            window=model.window,
            count=model.count,
            name=model.name,
            flags=self.flags,
            free=self.profile.name == "large",
        )
        if not isinstance(self.iteration, SharedDigest):
            return separate
        if self.small:
            return SharedEvents(
                self.iteration, NoteDigestSource(embedder=self.embedder), NullEventWriter()
            )
        return SharedEvents(self.iteration, JsonDigestSource(), separate)

    @property
    def memos(self) -> MemoMaker:
        """The writer of memos."""
        if self.keeps_facts:
            return FactMemos(self.keeper, embedder=self.embedder)
        separate = MemoWriter(model=self.iterator, flags=self.flags)
        if not isinstance(self.iteration, SharedDigest):
            return separate
        if self.small:
            by_rule = RuleMemoMaker(embedder=self.embedder)
            return SharedMemos(self.iteration, NoteDigestSource(embedder=self.embedder), by_rule)
        return SharedMemos(self.iteration, JsonDigestSource(), separate)


def profile_of(settings: Settings) -> str:
    """Whether the model that replies is "small" or "large"."""
    remote = "://" in settings.model
    return profile_for(settings.profile, model=settings.model, remote=remote).name


def repeated_sentences(settings: Settings) -> int:
    """How many sentences of the summary are repeated next to the message: as set, else by the
    profile."""
    if settings.repeated_sentences >= 0:
        return settings.repeated_sentences
    return NEAR if profile_of(settings) == "small" else 0


def reply_form_for(settings: Settings) -> str:
    """The name of the reply form: as set, else `small` for a small local model and `chat` for any
    other."""
    usual = settings.effective_reply_form
    if not settings.reply_form and profile_of(settings) == "large":
        return "chat"
    return usual


def may_loop(settings: Settings) -> bool:
    """Whether the model that replies may repeat itself endlessly. What a large one repeats, it
    means."""
    return profile_of(settings) == "small"


def cuts_loops(settings: Settings) -> bool:
    """Whether a reply that has begun to repeat itself endlessly is cut off."""
    return may_loop(settings) and not lookup(GUARDS, settings.guards, "guards")


def checks_replies(settings: Settings) -> bool:
    """Whether replies are checked before they are shown: a small model's, in its own form."""
    return reply_form_for(settings) == "small" and profile_of(settings) == "small"


def budget_for(settings: Settings) -> RecallBudget:
    """How much memory a prompt may hold: as set, else by the model's profile."""
    usual = BUDGETS[profile_of(settings)]
    return replace(
        usual,
        items=settings.recall_items or usual.items,
        tokens=settings.recall_tokens or usual.tokens,
        memory=settings.memory_tokens if settings.memory_tokens > 0 else usual.memory,
    )


REPLY_TOKENS = {"small": 400, "large": 4000}
"""Most tokens of a reply, by the model's profile."""


def reply_tokens_for(settings: Settings) -> int:
    """Most tokens of a reply: as set, else by the model's profile."""
    return settings.reply_tokens or REPLY_TOKENS[profile_of(settings)]


WHOLE = -1
"""The value of `memory_tokens` for all that the window holds."""
LAST_WORDS = 1500
"""Tokens that memory then leaves in the window for the instructions and the latest turns."""


def memory_room(settings: Settings, *, window: int) -> int:
    """Most tokens of memory in a reply's prompt."""
    if settings.memory_tokens == WHOLE:
        kept = kept_for_reply(reply_tokens_for(settings), window=window)
        return max(window - kept - LAST_WORDS, window // 4)
    return budget_for(settings).memory


def session_room(settings: Settings, *, window: int) -> int:
    """About how many tokens of the current session fit into a reply's prompt."""
    kept = kept_for_reply(reply_tokens_for(settings), window=window)
    return max(window - kept - budget_for(settings).memory - 800, 0)


def recall_settings(settings: Settings) -> RecallSettings:
    """How events fade and are recalled."""
    return RecallSettings(
        unit=timedelta(seconds=settings.event_fading),
        spacing=timedelta(seconds=settings.event_spacing),
        threshold=settings.event_threshold,
        feeling=settings.event_emotion,
        most=settings.event_items,
        calibrated=lookup(RELEVANCE, settings.event_relevance, "event relevance"),
        labels=settings.event_labels,
        retires=settings.retire_events,
    )


def lookup(known: Mapping[str, T], name: str, what: str) -> T:
    """The entry of that name. Raises `BadInput`, listing the names, if there is none."""
    if name not in known:
        raise BadInput(f"there is no {what} {name!r}; choose from {', '.join(sorted(known))}")
    return known[name]
