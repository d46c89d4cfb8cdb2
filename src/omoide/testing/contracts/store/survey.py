"""The contract of `SearchIndex.search_data`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omoide.domain import FactChanges, FactEnd, MemoryKind, Speaker
from omoide.errors import EmbedderMismatch
from omoide.language.terms import terms
from omoide.ports.store import JoinedReads, NamedSpeaker
from omoide.testing.contracts.making import (
    ANN,
    ANN_ELSEWHERE,
    BOB,
    HOUR,
    MINUTE,
    SPACE,
    START,
    event,
    fact,
    memo,
    rows,
    say,
    tell,
)
from omoide.testing.contracts.store.base import StoreSuite

if TYPE_CHECKING:
    from omoide.domain import Owner
    from omoide.ports import Store
    from omoide.ports.store import SearchData


async def search(store: Store, *wanted: str, owner: Owner = ANN) -> SearchData:
    """Search data of Ann's turns for terms and the first axis."""
    return await store.index.search_data(owner, wanted, space=SPACE, query=rows((1, 0, 0)))


def counted(found: SearchData, term: str) -> dict[str, float]:
    """How often a term occurs in which turn."""
    postings = found.postings[term]
    ids = [found.table.ids[row] for row in postings.rows]
    return dict(zip(ids, postings.counts.tolist(), strict=True))


def near(found: SearchData) -> dict[str, float | None]:
    """Each turn's cosine."""
    assert found.cosines is not None
    values = [None if np.isnan(c) else round(float(c), 4) for c in found.cosines]
    return dict(zip(found.table.ids, values, strict=True))


class SurveyContract(StoreSuite):
    """The contract of `SearchIndex.search_data`."""

    async def test_outline_tells_of_each_turn(self, store: Store) -> None:
        """Session, speaker, time and length are those of the turn; there is one feature value per
        turn if the store keeps features."""
        said = [
            say("I moved to Lisbon yesterday. 東京", id="a"),
            say("Really? Why?", id="b", at=START + MINUTE, speaker=Speaker.ASSISTANT, name="Mo"),
            say("On 3 March 2024, or in May 2023.", id="c", at=START + 5 * HOUR),
        ]
        turns = await store.turns.append(ANN, said, session=None, idle=HOUR)
        table = (await search(store)).table
        assert list(table.ids) == ["a", "b", "c"]
        assert table.session.tolist() == [1, 1, 2]
        assert [table.speakers[i] for i in table.voice] == [
            NamedSpeaker(speaker=Speaker.USER, name=None),
            NamedSpeaker(speaker=Speaker.ASSISTANT, name="Mo"),
            NamedSpeaker(speaker=Speaker.USER, name=None),
        ]
        assert table.time.astype(object).tolist() == [t.time.replace(tzinfo=None) for t in turns]
        assert table.length.tolist() == [len(terms(t.text)) for t in turns]
        assert table.features is None or len(table.features.values) == len(turns)

    async def test_any_id_and_name_comes_back(self, store: Store) -> None:
        """Ids and names come back as they were given, whatever characters are in them."""
        ids, names = ["a b,c", "\x1f", "d\x1fe", "\n"], [None, "", " ", "Mo \x1f Li, jr"]
        said = [
            say("tea", id=name, name=who, at=START + n * MINUTE)
            for n, (name, who) in enumerate(zip(ids, names, strict=True))
        ]
        turns = await store.turns.append(ANN, said, session=None, idle=HOUR)
        table = (await search(store)).table
        assert list(table.ids) == ids
        assert [table.row_by_id[name] for name in ids] == [0, 1, 2, 3]
        assert [table.speakers[i].name for i in table.voice] == [turn.name for turn in turns]

    async def test_ended_facts_are_not_overlooked(self, store: Store) -> None:
        """Search data tells that there are ended facts, also if no fact holds any more."""
        await tell(store, ANN, "I live in Rome.")
        await store.facts.apply(ANN, FactChanges(added=(fact("She lives in Rome."),)))
        end = FactEnd(id="She lives in Rome.", at=START + HOUR)
        await store.facts.apply(ANN, FactChanges(ended=(end,)))
        assert (await search(store)).ended_facts

    async def test_sessions_side_by_side_stand_apart(self, store: Store) -> None:
        """Turns of overlapping sessions are grouped by session, and all other columns
        accordingly."""
        await tell(store, ANN, "a tea today", key="one")
        await tell(store, ANN, "b tea today", key="two")
        await search(store)
        await tell(store, ANN, "c tea today", key="one")
        await tell(store, ANN, "d", key="two")
        ids = ["a tea today", "c tea today", "b tea today"]
        await store.index.put(ANN, SPACE, ids=ids, vectors=rows((1, 0, 0), (1, 1, 0), (0, 1, 0)))
        found = await search(store, "c", "tea")
        assert list(found.table.ids) == [*ids, "d"]
        assert dict(found.table.row_by_id) == {name: i for i, name in enumerate([*ids, "d"])}
        assert found.table.session.tolist() == [1, 1, 2, 2]
        assert counted(found, "c") == {"c tea today": 1}
        assert near(found) == {ids[0]: 1, ids[1]: 0.7071, ids[2]: 0, "d": None}

    async def test_postings_are_counted(self, store: Store) -> None:
        """Each term that occurs comes with its turns and counts."""
        await tell(store, ANN, "tea and tea", "tea", "coffee")
        await tell(store, BOB, "tea tea tea")
        found = await search(store, "tea", "tea", "coffe", "absent")
        assert found.postings.keys() == {"tea", "coffe"}
        assert counted(found, "tea") == {"tea and tea": 2, "tea": 1}
        await tell(store, ANN, "猫と黒猫", "猫", "犬")
        assert counted(await search(store, "猫"), "猫") == {"猫と黒猫": 2, "猫": 1}

    async def test_turns_without_a_vector(self, store: Store) -> None:
        """A turn without a vector is in the table, with NaN as its cosine."""
        await tell(store, ANN, "a", "b")
        assert (await search(store)).cosines is None
        await store.index.put(ANN, SPACE, ids=["b"], vectors=rows((1, 0, 0)))
        assert near(await search(store)) == {"a": None, "b": 1}
        without = await store.index.search_data(ANN, ["a"])
        assert without.cosines is None
        assert counted(without, "a") == {"a": 1}

    async def test_what_came_since_is_seen(self, stores: tuple[Store, Store]) -> None:
        """What another process records, embeds or erases is seen at once, whatever is cached."""
        one, two = stores
        await tell(one, ANN, "a tea", "b tea")
        assert counted(await search(two, "tea"), "tea") == {"a tea": 1, "b tea": 1}
        await tell(one, ANN, "c tea yesterday")
        await one.index.put(ANN, SPACE, ids=["c tea yesterday"], vectors=rows((1, 0, 0)))
        found = await search(two, "tea")
        assert near(found) == {"a tea": None, "b tea": None, "c tea yesterday": 1}
        await one.archive.erase(ANN, turns=["a tea"])
        found = await search(two, "tea")
        assert counted(found, "tea") == {"b tea": 1, "c tea yesterday": 1}
        await one.archive.erase(ANN)
        assert list((await search(two, "tea")).table.ids) == []
        await tell(one, ANN, "d tea")
        assert counted(await search(two, "tea"), "tea") == {"d tea": 1}

    async def test_an_old_survey_stays_as_it_was(self, store: Store) -> None:
        """Search data that a caller holds does not change."""
        await tell(store, ANN, "a", "b")
        before = await search(store, "a")
        await tell(store, ANN, "c", "a again")
        await store.archive.erase(ANN, turns=["b"])
        await search(store, "a")
        assert list(before.table.ids) == ["a", "b"]
        assert dict(before.table.row_by_id) == {"a": 0, "b": 1}
        assert "c" not in before.table.row_by_id
        assert len(before.table.session) == 2
        assert counted(before, "a") == {"a": 1}

    async def test_each_owner_sees_their_own(self, store: Store) -> None:
        """Search data contains nothing of other owners or tenants, and is empty for an unknown
        owner."""
        for owner in (ANN, BOB, ANN_ELSEWHERE):
            await tell(store, owner, f"tea of {owner.tenant} {owner.user}")
        await store.index.put(BOB, SPACE, ids=["tea of acme bob"], vectors=rows((1, 0, 0)))
        found = await search(store, "tea")
        assert list(found.table.ids) == ["tea of acme ann"]
        assert counted(found, "tea") == {"tea of acme ann": 1}
        stranger = await search(store, "tea", owner=replace(ANN, user="nobody"))
        assert list(stranger.table.ids) == []
        assert stranger.postings == {}

    async def test_which_other_kinds_there_are(self, store: Store) -> None:
        """Events and memos are listed as soon as one can be found."""
        await tell(store, ANN, "a")
        assert (await search(store)).other_kinds == frozenset()
        await store.events.add(ANN, [event("tea")])
        assert (await search(store)).other_kinds == {MemoryKind.EVENT}
        await store.memos.add(ANN, [memo("tea")])
        assert (await search(store)).other_kinds == {MemoryKind.EVENT, MemoryKind.MEMO}

    async def test_vectors_of_another_space(self, store: Store) -> None:
        """A query that does not fit its space is rejected."""
        await tell(store, ANN, "a")
        await store.index.put(ANN, SPACE, ids=["a"], vectors=rows((1, 0, 0)))
        with pytest.raises(EmbedderMismatch):
            await store.index.search_data(ANN, [], space=SPACE, query=rows((1, 0)))
        with pytest.raises(EmbedderMismatch):
            await store.index.search_data(
                ANN, [], space=replace(SPACE, version="2"), query=rows((1, 0, 0))
            )

    async def test_reads_together(self, store: Store) -> None:
        """A store that can run reads together gives what it gives one by one, and the caller gets
        the error that is raised between two reads."""
        index = store.index
        if not isinstance(index, JoinedReads):
            pytest.skip("reads of this store run one by one")
        await tell(store, ANN, "a tea", "b")

        async def reads() -> tuple[list[str], dict[str, float]]:
            turns = await store.turns.read(ANN)
            return [turn.id for turn in turns], counted(await search(store, "tea"), "tea")

        assert await index.together(ANN, reads) == (["a tea", "b"], {"a tea": 1})
        assert await index.together(ANN, reads) == await reads()

        async def wrong() -> None:
            await store.turns.read(ANN)
            raise KeyError("not of the store")

        with pytest.raises(KeyError, match="not of the store"):
            await index.together(ANN, wrong)
        assert [turn.id for turn in await store.turns.read(ANN)] == ["a tea", "b"]
