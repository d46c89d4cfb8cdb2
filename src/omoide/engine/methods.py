"""The method that a user's memory works by: the configured one, or a preset that they chose.

A choice is a note, so it is durable, exported and erased with its user, and every process that
works on the store follows it. A memory that was opened as a paper's preset is that for everybody;
one that was opened as `omoide` lets each user choose. What a former method wrote stays: the chosen
one does not read it, unless both write the same kind of memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from omoide.domain import Note
from omoide.domain.text import several
from omoide.engine.context import ContextBuilder
from omoide.errors import BadInput
from omoide.mechanisms.base import DigestsOpenSessions, Participants
from omoide.mechanisms.facts.layers import FactLayer
from omoide.mechanisms.parts import (
    checks_replies,
    cuts_loops,
    lookup,
    may_loop,
    memory_room,
    reply_form_for,
    reply_tokens_for,
    session_room,
)
from omoide.mechanisms.reply_forms import FORMS, without_penalty
from omoide.presets import DEFAULT, PRESETS
from omoide.settings import preset_named

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime, tzinfo

    from omoide.domain import Owner
    from omoide.mechanisms.base import Mechanism
    from omoide.mechanisms.parts import MechanismParts
    from omoide.mechanisms.registry import MechanismEntry
    from omoide.ports import Store
    from omoide.settings import Settings

KIND = "preset"
KEY = "chosen"
FRESH = 2.0
"""Seconds for which a choice that was read counts: a message asks for it up to three times. A
choice made by another process is followed that much later."""
MOST_KNOWN = 4096
"""How many owners' choices are kept."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """Settings, and what was made by them: the mechanisms and what asks them."""

    settings: Settings
    mechanisms: tuple[Mechanism, ...]
    layers: tuple[FactLayer, ...]
    contexts: ContextBuilder

    @property
    def follows(self) -> bool:
        """Whether a mechanism digests sessions while they are open."""
        return any(isinstance(m, DigestsOpenSessions) for m in self.mechanisms)


def make_method(
    parts: MechanismParts,
    known: Mapping[str, MechanismEntry],
    mechanisms: Sequence[str | Mechanism] | None = None,
) -> Method:
    """What the settings of the parts make of the other parts. `mechanisms` are names, looked up in
    `known`, or objects; those of the settings if None, and their layers."""
    settings, store = parts.settings, parts.store
    used = _made(several(mechanisms or settings.mechanisms), known, parts)
    layers = tuple(
        FactLayer(mechanism, store=store)
        for mechanism in _made(() if mechanisms else parts.layers, known, parts)
    )
    paper = PRESETS[settings.preset].settings
    narrow = min(settings.window, parts.model.window) if "window" in paper else None
    window = narrow or parts.model.window
    form = lookup(FORMS, reply_form_for(settings), "reply form")
    contexts = ContextBuilder(
        store,
        used,
        layers=layers,
        form=form if may_loop(settings) else without_penalty(form),
        budget=memory_room(settings, window=window),
        room=session_room(settings, window=window),
        company=Participants(
            persona=settings.persona,
            user_name=settings.user_name,
            timezone=zone_of(settings.timezone),
        ),
        checked=checks_replies(settings),
        cut_loops=cuts_loops(settings),
        window=narrow,
        reply_tokens=reply_tokens_for(settings),
    )
    return Method(settings=settings, mechanisms=used, layers=layers, contexts=contexts)


def _made(
    mechanisms: Sequence[str | Mechanism],
    known: Mapping[str, MechanismEntry],
    parts: MechanismParts,
) -> tuple[Mechanism, ...]:
    return tuple(
        lookup(known, mechanism, "mechanism").make(parts)
        if isinstance(mechanism, str)
        else mechanism
        for mechanism in mechanisms
    )


def zone_of(name: str) -> tzinfo | None:
    """The time zone of that name; None, for the machine's, if it is empty. Raises `BadInput` for a
    name that is none."""
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise BadInput(
            f"OMOIDE_TIMEZONE={name!r} is not a time zone; give one like Asia/Tokyo"
        ) from error


class Methods:
    """The methods that are in use, by the name of their preset."""

    def __init__(
        self,
        store: Store,
        *,
        usual: Method,
        make: Callable[[str], Method] | None,
        seconds: Callable[[], float] = monotonic,
    ) -> None:
        """`usual` is the configured method; `make` makes that of a preset. Without it, or if the
        configured one is a paper's, nobody can choose. `seconds` is a clock that never goes
        back."""
        self._store = store
        self.usual = usual
        self._make = make if usual.settings.preset == DEFAULT else None
        self._made = {str(usual.settings.preset): usual}
        self._seconds = seconds
        self._known: dict[Owner, tuple[str, float]] = {}
        """Choices and when they were read, the oldest first."""

    @property
    def open(self) -> bool:
        """Whether users may choose."""
        return self._make is not None

    @property
    def known(self) -> tuple[Owner, ...]:
        """The owners whose choice is kept, the one that was read longest ago first."""
        return tuple(self._known)

    async def name(self, owner: Owner) -> str:
        """The name of the preset that the owner's memory works by."""
        usual = str(self.usual.settings.preset)
        if self._make is None:
            return usual
        chosen = next(
            (n.text for n in await self._store.notes.read(owner, kind=KIND) if n.key == KEY), usual
        )
        name = chosen if chosen in PRESETS else usual
        self._keep(owner, name)
        return name

    async def of(self, owner: Owner) -> Method:
        """The owner's method, by a choice that may have been read some moments ago."""
        name, read = self._known.get(owner, ("", 0.0))
        if not name or self._seconds() - read > FRESH:
            name = await self.name(owner)
        return self._of(name)

    def forget(self, owner: Owner) -> None:
        """Keep nothing of the owner, who chose something else or was erased."""
        self._known.pop(owner, None)

    def _keep(self, owner: Owner, name: str) -> None:
        """Keep what was read, and drop what is too old to count or too much."""
        now = self._seconds()
        self.forget(owner)
        self._known[owner] = (name, now)
        while (oldest := next(iter(self._known))) != owner and (
            len(self._known) > MOST_KNOWN or now - self._known[oldest][1] > FRESH
        ):
            del self._known[oldest]

    async def choose(self, owner: Owner, name: str, *, now: datetime) -> None:
        """Let the owner's memory work by that preset from now on. Raises `BadInput` if there is
        none, if it cannot work here, or if nobody may choose."""
        preset_named(name)
        if self._make is None:
            raise BadInput(
                f"this memory was opened as {self.usual.settings.preset} for everybody; only one "
                "that was opened without a preset lets its users choose"
            )
        self._of(name)  # raises now instead of at the next reply, such as for want of an embedder
        if name == self.usual.settings.preset:
            await self._store.notes.remove(owner, kind=KIND, keys=[KEY])
        else:
            await self._store.notes.put(owner, Note(kind=KIND, key=KEY, text=name, time=now))
        self.forget(owner)

    async def follows(self, owner: Owner) -> bool:
        """Whether the owner's method digests sessions while they are open."""
        return (await self.of(owner)).follows

    def _of(self, name: str) -> Method:
        if name not in self._made and self._make is not None:
            self._made[name] = self._make(name)
        return self._made[name]


async def put_back(store: Store, owner: Owner, before: Sequence[Note]) -> int:
    """Put back the choice that an erasure of turns removed only because it removes all notes: it
    quotes nobody. Returns how many notes that were."""
    if not before or await store.notes.read(owner, kind=KIND):
        return 0
    for note in before:
        await store.notes.put(owner, note)
    return len(before)
