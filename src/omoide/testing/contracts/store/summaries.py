"""The contract of `SummaryStore`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omoide.domain import Origin, Speaker
from omoide.errors import StaleVersion
from omoide.testing.contracts.making import (
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
from omoide.testing.contracts.store.base import StoreSuite

if TYPE_CHECKING:
    from omoide.ports import Store


class SummariesContract(StoreSuite):
    """The contract of `SummaryStore`."""

    async def test_commit_keeps_every_field(self, store: Store) -> None:
        """A version comes back unchanged."""
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
    async def test_number_must_follow(self, store: Store, number: int) -> None:
        """A version whose number does not follow the newest is stale, and nothing is written."""
        await store.summaries.commit(ANN, version(1))
        with pytest.raises(StaleVersion):
            await store.summaries.commit(ANN, version(number, session=2))
        assert len(await store.summaries.history(ANN)) == 1

    async def test_first_number_is_one(self, store: Store) -> None:
        """The first stored version is 1, since the empty M_0 is not stored."""
        with pytest.raises(StaleVersion):
            await store.summaries.commit(ANN, version(2))
        assert await store.summaries.history(ANN) == ()

    async def test_one_digest_for_a_session(self, store: Store) -> None:
        """A second DIGEST of one session is stale; a rollback is not, nor another owner's
        digest."""
        await store.summaries.commit(ANN, version(1))
        with pytest.raises(StaleVersion, match="session 1"):
            await store.summaries.commit(ANN, version(2))
        await store.summaries.commit(ANN, version(2, origin=Origin.ROLLBACK))
        await store.summaries.commit(ANN, version(3, origin=Origin.ROLLBACK))
        await store.summaries.commit(ANN, version(4, session=2))
        await store.summaries.commit(BOB, version(1))
        assert [v.number for v in await store.summaries.history(ANN)] == [1, 2, 3, 4]

    async def test_find_chooses(self, store: Store) -> None:
        """The newest, by number, by the newest session included, or by time."""
        for number, session, hours in ((1, None, 0), (2, 1, 1), (3, 3, 3)):
            at = START + hours * HOUR
            await store.summaries.commit(ANN, version(number, session=session, at=at))
        rollback = version(4, session=1, at=START + 5 * HOUR, origin=Origin.ROLLBACK)
        await store.summaries.commit(ANN, rollback)

        async def number_of(**choice: object) -> int | None:
            summary = await store.summaries.find(ANN, **choice)  # type: ignore[arg-type]
            return None if summary is None else summary.number

        assert await number_of() == 4
        assert await number_of(number=2) == 2
        assert await number_of(number=9) is None
        assert await number_of(session=0) == 1
        assert await number_of(session=1) == 4
        assert await number_of(session=3) == 4
        assert await number_of(at=START + 3 * HOUR) == 3
        assert await number_of(at=START + 2 * HOUR) == 2
        assert await number_of(at=START - HOUR) is None

    async def test_versions_belong_to_their_owner(self, store: Store) -> None:
        """No owner sees or counts another's versions."""
        await store.summaries.commit(ANN, version(1))
        for other in (BOB, ANN_ELSEWHERE):
            assert await store.summaries.find(other) is None
            assert await store.summaries.find(other, number=1) is None
            assert await store.summaries.history(other) == ()
            await store.summaries.commit(other, version(1, sentence("theirs")))
        found = await store.summaries.find(ANN)
        assert found is not None
        assert found.sentences == ()

    async def test_set_aside(self, store: Store) -> None:
        """Rejected answers come back oldest first, and only for their owner."""
        await tell(store, ANN, "one", key="a")
        await tell(store, ANN, "two", key="b")
        kept = [rejected("one"), rejected("two", session=2), rejected("one")]
        for answer in kept:
            await store.summaries.add_rejected(ANN, answer)
        assert await store.summaries.rejected(ANN) == tuple(kept)
        assert await store.summaries.rejected(BOB) == ()
        assert await store.summaries.rejected(ANN_ELSEWHERE) == ()

    async def test_two_processes_cannot_both_follow(self, stores: tuple[Store, Store]) -> None:
        """If two processes rewrite the same version, the second gets `StaleVersion`."""
        one, two = stores
        await one.summaries.commit(ANN, version(1))
        await two.summaries.commit(ANN, version(2, session=2))
        with pytest.raises(StaleVersion):
            await one.summaries.commit(ANN, version(2, session=3))

    async def test_version_made_from_erased_words(self, store: Store) -> None:
        """A version that cites a turn or digests a session erased meanwhile is stale."""
        await tell(store, ANN, "secret", "fine", key="a")
        await tell(store, ANN, "more", key="b")
        await store.archive.erase(ANN, turns=["secret"])
        with pytest.raises(StaleVersion, match="erased"):
            await store.summaries.commit(ANN, version(1, sentence("A secret.", "secret", "fine")))
        await store.summaries.commit(ANN, version(1, sentence("Fine.", "fine")))
        await store.archive.erase(ANN, session=2)
        with pytest.raises(StaleVersion, match="erased"):
            await store.summaries.commit(ANN, version(2, sentence("More."), session=2))

    async def test_an_answer_about_an_erased_session_is_not_kept(self, store: Store) -> None:
        """It would bring the erased text back."""
        await tell(store, ANN, "one", key="a")
        await tell(store, ANN, "two", key="b")
        await store.archive.erase(ANN, session=2)
        await store.summaries.add_rejected(ANN, rejected("quotes two", session=2))
        assert await store.summaries.rejected(ANN) == ()
