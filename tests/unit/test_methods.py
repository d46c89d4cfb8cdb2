"""The choices of presets that a process keeps for moments: few, fresh, no erased user's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

from omoide import Owner
from omoide.engine.methods import FRESH, KEY, KIND, MOST_KNOWN, Methods
from omoide.presets import PRESETS
from omoide.testing import FrozenClock

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from omoide.domain import Note
    from omoide.engine.methods import Method

    from .conftest import World


def named(user: str) -> Owner:
    """The owner with this name."""
    return Owner(tenant="default", user=user)


ANA, BOB, CEM = named("ana"), named("bob"), named("cem")
NOW = FrozenClock().now()


class CountedNotes:
    """Notes of a store that count how often each owner's are read."""

    def __init__(self) -> None:
        self.kept: dict[Owner, Note] = {}
        self.reads: list[Owner] = []

    async def read(self, owner: Owner, *, kind: str | None = None) -> tuple[Note, ...]:
        """Count it."""
        assert kind == KIND
        self.reads.append(owner)
        return (self.kept[owner],) if owner in self.kept else ()

    async def put(self, owner: Owner, note: Note) -> None:
        """Keep the one note of the owner."""
        assert (note.kind, note.key) == (KIND, KEY)
        self.kept[owner] = note

    async def remove(self, owner: Owner, **_: object) -> int:
        """Remove the one note of the owner."""
        return int(self.kept.pop(owner, None) is not None)


@dataclass
class OnlyNotes:
    """A store that has nothing but notes."""

    notes: CountedNotes


class Kept:
    """Methods over counted notes, and the seconds that have passed. Users may choose; the methods
    of presets are made in name only."""

    def __init__(self, usual: Method) -> None:
        self.notes = CountedNotes()
        self.seconds = 0.0
        self.usual = usual
        self.methods = self.another_process()

    def another_process(self) -> Methods:
        """Methods over the same notes that know nothing yet."""
        return Methods(
            OnlyNotes(self.notes),  # type: ignore[arg-type]
            usual=self.usual,
            make=self._made,
            seconds=lambda: self.seconds,
        )

    def _made(self, name: str) -> Method:
        return replace(self.usual, settings=replace(self.usual.settings, preset=PRESETS[name].name))

    async def reads(self, owner: Owner) -> int:
        """How often the store is read for the owner's method now."""
        before = len(self.notes.reads)
        await self.methods.of(owner)
        return len(self.notes.reads) - before


@pytest.fixture
def kept(world: World) -> Kept:
    """Methods of a memory that was opened without a preset."""
    return Kept(world.runtime.methods.usual)


async def chosen(methods: Methods, owner: Owner) -> str:
    """The preset of the method that the owner's memory works by."""
    return str((await methods.of(owner)).settings.preset)


async def test_a_choice_is_read_once_for_a_message(kept: Kept) -> None:
    """What was read counts until `FRESH` seconds have passed, and is read again after that."""
    assert await kept.reads(ANA) == 1
    kept.seconds += FRESH
    assert await kept.reads(ANA) == 0
    kept.seconds += 0.001
    assert await kept.reads(ANA) == 1
    kept.seconds += FRESH
    assert await kept.reads(ANA) == 0


async def test_a_choice_of_another_process_is_followed_when_it_is_read_again(kept: Kept) -> None:
    """Another process writes the note; this one follows it as soon as what it read is old."""
    assert await chosen(kept.methods, ANA) == "omoide"
    await kept.another_process().choose(ANA, "hou2024", now=NOW)
    assert await chosen(kept.methods, ANA) == "omoide"
    kept.seconds += FRESH + 0.001
    assert await chosen(kept.methods, ANA) == "hou2024"


async def test_ones_own_choice_is_followed_at_once(kept: Kept) -> None:
    """Choosing does not wait for what was read before to be old, there and back."""
    assert await chosen(kept.methods, ANA) == "omoide"
    await kept.methods.choose(ANA, "hou2024", now=NOW)
    assert await chosen(kept.methods, ANA) == "hou2024"
    assert await chosen(kept.methods, BOB) == "omoide"
    await kept.methods.choose(ANA, "omoide", now=NOW)
    assert await chosen(kept.methods, ANA) == "omoide"
    assert not kept.notes.kept


async def test_no_more_choices_are_kept_than_allowed_and_the_oldest_goes_first(kept: Kept) -> None:
    """One user too many drops the one who was read longest ago, and nobody else."""
    users = [named(f"user {number}") for number in range(MOST_KNOWN)]
    for user in users:
        await kept.methods.of(user)
    assert kept.methods.known == tuple(users)
    await kept.methods.name(users[0])  # reads again: it is the second that is oldest now
    await kept.methods.of(ANA)
    assert kept.methods.known == (*users[2:], users[0], ANA)
    assert await kept.reads(users[0]) == 0
    assert await kept.reads(users[1]) == 1
    assert len(kept.methods.known) == MOST_KNOWN


async def test_what_is_too_old_to_count_is_not_kept(kept: Kept) -> None:
    """A user who was erased by another process is not named here for long."""
    await kept.methods.of(ANA)
    kept.seconds += FRESH
    await kept.methods.of(BOB)
    assert kept.methods.known == (ANA, BOB)
    kept.seconds += 0.001
    await kept.methods.of(CEM)
    assert kept.methods.known == (BOB, CEM)


async def test_an_erased_user_is_not_kept(world: World) -> None:
    """A user who comes again under the same name does not meet the erased one's choice."""
    memory, methods = world.memory, world.runtime.methods
    for user in (ANA.user, BOB.user):
        await memory.choose_preset(user, "hou2024")
    assert [await memory.preset(user) for user in (ANA.user, BOB.user)] == ["hou2024"] * 2
    assert list(methods.known) == [ANA, BOB]
    await memory.erase(ANA.user)
    assert list(methods.known) == [BOB]
    assert await chosen(methods, ANA) == "omoide"
    assert await chosen(methods, BOB) == "hou2024"


async def test_a_choice_survives_the_erasure_of_a_part(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """Erasing a turn erases every note, but the choice quotes nobody: it is put back."""
    world = await make_world()
    world.replier.answers.append("Go on.")
    await (await world.memory.reply(ANA.user, "I moved to Lyon.")).text()
    await world.memory.choose_preset(ANA.user, "hou2024")
    turns = await world.memory.turns(ANA.user)
    await world.memory.erase(ANA.user, turns=[turns[0].id])
    assert await world.memory.preset(ANA.user) == "hou2024"
