"""The contract of `Summaries`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omoide.domain import Origin, Speaker
from omoide.errors import StaleVersion
from tests.contract.making import (
    ANN,
    ANN_ELSEWHERE,
    BOB,
    HOUR,
    START,
    rejected,
    sentence,
    tell,
    version,
)

if TYPE_CHECKING:
    from omoide.ports import Store


async def test_commit_keeps_every_field(store: Store) -> None:
    """A version comes back as it was committed."""
    summary = version(
        1,
        sentence("Ann likes 東京.", "t1", "t2"),
        sentence("It rains.", about=None),
        sentence("I promised.", "t3", about=Speaker.ASSISTANT),
        notes=("two parts", "one retry"),
    )
    await store.summaries.commit(ANN, summary)
    assert await store.summaries.find(ANN) == summary
    assert await store.summaries.history(ANN) == (summary,)


@pytest.mark.parametrize("number", [0, 1, 3])
async def test_number_must_follow(store: Store, number: int) -> None:
    """A version whose number does not follow the newest is stale, and nothing is written."""
    await store.summaries.commit(ANN, version(1))
    with pytest.raises(StaleVersion):
        await store.summaries.commit(ANN, version(number, session=2))
    assert len(await store.summaries.history(ANN)) == 1


async def test_first_number_is_one(store: Store) -> None:
    """The first stored version is 1, since the empty M_0 is not stored."""
    with pytest.raises(StaleVersion):
        await store.summaries.commit(ANN, version(2))
    assert await store.summaries.history(ANN) == ()


async def test_one_digest_for_a_session(store: Store) -> None:
    """A second DIGEST of one session is stale; a rollback to it is not, nor another's digest."""
    await store.summaries.commit(ANN, version(1))
    with pytest.raises(StaleVersion, match="session 1"):
        await store.summaries.commit(ANN, version(2))
    await store.summaries.commit(ANN, version(2, origin=Origin.ROLLBACK))
    await store.summaries.commit(ANN, version(3, origin=Origin.ROLLBACK))
    await store.summaries.commit(ANN, version(4, session=2))
    await store.summaries.commit(BOB, version(1))
    assert [v.number for v in await store.summaries.history(ANN)] == [1, 2, 3, 4]


async def test_find_chooses(store: Store) -> None:
    """The newest; that number; the newest knowing no later session; the newest not after."""
    for number, session, hours in ((1, None, 0), (2, 1, 1), (3, 3, 3)):
        at = START + hours * HOUR
        await store.summaries.commit(ANN, version(number, session=session, at=at))
    rollback = version(4, session=1, at=START + 5 * HOUR, origin=Origin.ROLLBACK)
    await store.summaries.commit(ANN, rollback)

    async def found(**choice: object) -> int | None:
        summary = await store.summaries.find(ANN, **choice)  # type: ignore[arg-type]
        return None if summary is None else summary.number

    assert await found() == 4
    assert await found(number=2) == 2
    assert await found(number=9) is None
    assert await found(session=0) == 1
    assert await found(session=1) == 4
    assert await found(session=3) == 4
    assert await found(at=START + 3 * HOUR) == 3
    assert await found(at=START + 2 * HOUR) == 2
    assert await found(at=START - HOUR) is None


async def test_versions_belong_to_their_owner(store: Store) -> None:
    """Nobody sees or counts another's versions."""
    await store.summaries.commit(ANN, version(1))
    for other in (BOB, ANN_ELSEWHERE):
        assert await store.summaries.find(other) is None
        assert await store.summaries.find(other, number=1) is None
        assert await store.summaries.history(other) == ()
        await store.summaries.commit(other, version(1, sentence("theirs")))
    found = await store.summaries.find(ANN)
    assert found is not None
    assert found.sentences == ()


async def test_set_aside(store: Store) -> None:
    """Answers kept aside come back oldest first, to their owner alone."""
    await tell(store, ANN, "one", key="a")
    await tell(store, ANN, "two", key="b")
    kept = [rejected("one"), rejected("two", session=2), rejected("one")]
    for answer in kept:
        await store.summaries.set_aside(ANN, answer)
    assert await store.summaries.aside(ANN) == tuple(kept)
    assert await store.summaries.aside(BOB) == ()
    assert await store.summaries.aside(ANN_ELSEWHERE) == ()


async def test_two_processes_cannot_both_follow(stores: tuple[Store, Store]) -> None:
    """Of two who rewrite the same version, the second is told that it is stale."""
    one, two = stores
    await one.summaries.commit(ANN, version(1))
    await two.summaries.commit(ANN, version(2, session=2))
    with pytest.raises(StaleVersion):
        await one.summaries.commit(ANN, version(2, session=3))


async def test_version_made_from_erased_words(store: Store) -> None:
    """A version that cites a turn, or digests a session, which was erased meanwhile is stale."""
    await tell(store, ANN, "secret", "fine", key="a")
    await tell(store, ANN, "more", key="b")
    await store.archive.erase(ANN, turns=["secret"])
    with pytest.raises(StaleVersion, match="erased"):
        await store.summaries.commit(ANN, version(1, sentence("A secret.", "secret", "fine")))
    await store.summaries.commit(ANN, version(1, sentence("Fine.", "fine")))
    await store.archive.erase(ANN, session=2)
    with pytest.raises(StaleVersion, match="erased"):
        await store.summaries.commit(ANN, version(2, sentence("More."), session=2))


async def test_an_answer_about_an_erased_session_is_not_kept(store: Store) -> None:
    """It would bring the erased words back."""
    await tell(store, ANN, "one", key="a")
    await tell(store, ANN, "two", key="b")
    await store.archive.erase(ANN, session=2)
    await store.summaries.set_aside(ANN, rejected("quotes two", session=2))
    assert await store.summaries.aside(ANN) == ()
