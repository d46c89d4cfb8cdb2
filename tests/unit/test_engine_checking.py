"""Damaged data is named part by part, and a fact that is corrected finds its place."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from omoide.domain import Sentence, empty_summary
from omoide.engine.asking import Answer
from omoide.engine.checking import unreadable
from omoide.engine.corrections import _Correction
from omoide.errors import StoreCorrupt, StoreLocked

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from omoide.domain import Turn
    from omoide.engine.memory import Memory
    from omoide.errors import StoreError

NOW = datetime(2026, 1, 5, tzinfo=UTC)


@dataclass
class Damaged:
    """A memory of which some parts cannot be read."""

    parts: tuple[object, ...]
    error: type[StoreError] = StoreCorrupt
    read: list[object] = field(default_factory=list)

    def _reading(self, part: object) -> None:
        self.read.append(part)
        if part in self.parts:
            raise self.error("x")

    async def sessions(self, user: str) -> list[SimpleNamespace]:
        """Two of them."""
        self._reading("sessions")
        return [SimpleNamespace(number=1), SimpleNamespace(number=2)]

    async def turns(self, user: str, *, session: int) -> None:
        """Of one session."""
        self._reading(session)

    async def facts(self, user: str, *, ended: bool) -> None:
        """Those that have ended, too."""
        assert ended
        self._reading("facts")

    def __getattr__(self, name: str) -> Callable[[str], Awaitable[None]]:
        async def reading(user: str) -> None:
            self._reading(name)

        return reading


async def found(*parts: object) -> tuple[str, ...]:
    """What is named if these parts are damaged."""
    return await unreadable(cast("Memory", Damaged(parts)), "ana")


async def test_each_damaged_part_is_named() -> None:
    """Sessions by their number; of a list that cannot be read nothing else is said."""
    assert await found() == ()
    assert await found(2) == ("session 2",)
    assert await found(1, "facts", "calls") == ("session 1", "facts", "the ledger of model calls")
    assert await found("history", "events", "memos", "rejected") == (
        "the versions of the summary",
        "events",
        "memos",
        "rejected answers",
    )
    assert await found("sessions", "facts") == ("the list of sessions",)


async def test_what_is_only_locked_is_not_damaged() -> None:
    """Another error is passed on."""
    for part in ("sessions", "events"):
        with pytest.raises(StoreLocked):
            await unreadable(cast("Memory", Damaged((part,), StoreLocked)), "ana")


def test_a_corrected_fact_takes_its_place_in_the_summary() -> None:
    """One that the summary does not state joins at the end, if there is room."""
    old = [Sentence(text=text) for text in ("One.", "Two.", "Three.")]
    newest = replace(empty_summary(NOW), sentences=tuple(old))
    new = Sentence(text="New.")

    def texts(index: int | None, limit: int) -> list[str]:
        correction = _Correction(newest=newest, index=index, fact=None, text="New.")
        return [s.text for s in correction.sentences(new, limit=limit)]

    assert texts(1, 3) == ["One.", "New.", "Three."]
    assert texts(0, 3) == ["New.", "Two.", "Three."]
    assert texts(None, 4) == ["One.", "Two.", "Three.", "New."]
    assert texts(None, 3) == ["One.", "Two.", "Three."]


def test_only_a_reply_that_may_come_again_has_an_id_of_its_own() -> None:
    """The same reply to the same turn has the same; one that broke off has another."""
    turn = cast("Turn", SimpleNamespace(id="t1"))
    assert Answer(text="Hi.").id(turn) is None
    once = Answer(text="Hi.", once=True)
    assert once.id(turn) == Answer(text="Hi.", once=True).id(turn) is not None
    others = (
        Answer(text="Ho.", once=True).id(turn),
        Answer(text="Hi.", once=True, complete=False).id(turn),
        once.id(cast("Turn", SimpleNamespace(id="t2"))),
    )
    assert len({once.id(turn), *others, None}) == 5
