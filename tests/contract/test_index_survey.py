"""The contract of `Index.survey`."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omoide.domain import Kind, Speaker
from omoide.errors import EmbedderMismatch
from omoide.language.terms import telling, terms
from omoide.ports.store import Voice
from tests.contract.making import (
    ANN,
    ANN_ELSEWHERE,
    BOB,
    HOUR,
    MINUTE,
    SPACE,
    START,
    event,
    memo,
    rows,
    say,
    tell,
)

if TYPE_CHECKING:
    from omoide.domain import Owner
    from omoide.ports import Store
    from omoide.ports.store import Survey


async def survey(store: Store, *wanted: str, owner: Owner = ANN) -> Survey:
    """Ann's turns in the light of terms and the first axis."""
    return await store.index.survey(owner, wanted, space=SPACE, query=rows((1, 0, 0)))


def counted(found: Survey, term: str) -> dict[str, float]:
    """How often a term occurs in which turn."""
    postings = found.postings[term]
    ids = [found.outline.ids[place] for place in postings.places]
    return dict(zip(ids, postings.counts.tolist(), strict=True))


def near(found: Survey) -> dict[str, float | None]:
    """Each turn's cosine."""
    assert found.cosines is not None
    values = [None if np.isnan(c) else round(float(c), 4) for c in found.cosines]
    return dict(zip(found.outline.ids, values, strict=True))


async def test_outline_tells_of_each_turn(store: Store) -> None:
    """Session, voice, time, length, telling and named days are those of the turn."""
    said = [
        say("I moved to Lisbon yesterday. 東京", id="a"),
        say("Really? Why?", id="b", at=START + MINUTE, speaker=Speaker.ASSISTANT, name="Mo"),
        say("On 3 March 2024, or in May 2023.", id="c", at=START + 5 * HOUR),
    ]
    turns = await store.turns.append(ANN, said, session=None, idle=HOUR)
    outline = (await survey(store)).outline
    assert list(outline.ids) == ["a", "b", "c"]
    assert outline.session.tolist() == [1, 1, 2]
    assert [outline.voices[i] for i in outline.voice] == [
        Voice(speaker=Speaker.USER, name=None),
        Voice(speaker=Speaker.ASSISTANT, name="Mo"),
        Voice(speaker=Speaker.USER, name=None),
    ]
    assert outline.time.astype(object).tolist() == [t.time.replace(tzinfo=None) for t in turns]
    assert outline.length.tolist() == [len(terms(t.text)) for t in turns]
    assert outline.telling.tolist() == pytest.approx([telling(t.text) for t in turns])
    day = START.date()
    assert outline.named.tolist() == [
        [0, (day - timedelta(1)).toordinal(), (day - timedelta(1)).toordinal()],
        [2, date(2024, 3, 3).toordinal(), date(2024, 3, 3).toordinal()],
        [2, date(2023, 5, 1).toordinal(), date(2023, 5, 31).toordinal()],
    ]


async def test_sessions_side_by_side_stand_apart(store: Store) -> None:
    """Turns of sessions that went on at once stand session by session, and all else moves along."""
    await tell(store, ANN, "a tea today", key="one")
    await tell(store, ANN, "b tea today", key="two")
    await survey(store)
    await tell(store, ANN, "c tea today", key="one")
    await tell(store, ANN, "d", key="two")
    ids = ["a tea today", "c tea today", "b tea today"]
    await store.index.put(ANN, SPACE, ids=ids, vectors=rows((1, 0, 0), (1, 1, 0), (0, 1, 0)))
    found = await survey(store, "c", "tea")
    assert list(found.outline.ids) == [*ids, "d"]
    assert dict(found.outline.places) == {name: i for i, name in enumerate([*ids, "d"])}
    assert found.outline.session.tolist() == [1, 1, 2, 2]
    assert found.outline.named[:, 0].tolist() == [0, 2, 1]
    assert counted(found, "c") == {"c tea today": 1}
    assert near(found) == {ids[0]: 1, ids[1]: 0.7071, ids[2]: 0, "d": None}


async def test_postings_are_counted(store: Store) -> None:
    """Each term that occurs comes with the turns that have it, and how often."""
    await tell(store, ANN, "tea and tea", "tea", "coffee")
    await tell(store, BOB, "tea tea tea")
    found = await survey(store, "tea", "tea", "coffe", "absent")
    assert found.postings.keys() == {"tea", "coffe"}
    assert counted(found, "tea") == {"tea and tea": 2, "tea": 1}
    await tell(store, ANN, "猫と黒猫", "猫", "犬")
    assert counted(await survey(store, "猫"), "猫") == {"猫と黒猫": 2, "猫": 1}


async def test_turns_without_a_vector(store: Store) -> None:
    """A turn that has no vector yet is in the outline, with a cosine that is not a number."""
    await tell(store, ANN, "a", "b")
    assert (await survey(store)).cosines is None
    await store.index.put(ANN, SPACE, ids=["b"], vectors=rows((1, 0, 0)))
    assert near(await survey(store)) == {"a": None, "b": 1}
    without = await store.index.survey(ANN, ["a"])
    assert without.cosines is None
    assert counted(without, "a") == {"a": 1}


async def test_what_came_since_is_seen(stores: tuple[Store, Store]) -> None:
    """What another process records, embeds or erases is seen at once, whatever is kept."""
    one, two = stores
    await tell(one, ANN, "a tea", "b tea")
    assert counted(await survey(two, "tea"), "tea") == {"a tea": 1, "b tea": 1}
    await tell(one, ANN, "c tea yesterday")
    await one.index.put(ANN, SPACE, ids=["c tea yesterday"], vectors=rows((1, 0, 0)))
    found = await survey(two, "tea")
    assert near(found) == {"a tea": None, "b tea": None, "c tea yesterday": 1}
    assert found.outline.named[:, 0].tolist() == [2]
    await one.archive.erase(ANN, turns=["a tea"])
    found = await survey(two, "tea")
    assert counted(found, "tea") == {"b tea": 1, "c tea yesterday": 1}
    assert found.outline.named[:, 0].tolist() == [1]
    await one.archive.erase(ANN)
    assert list((await survey(two, "tea")).outline.ids) == []
    await tell(one, ANN, "d tea")
    assert counted(await survey(two, "tea"), "tea") == {"d tea": 1}


async def test_an_old_survey_stays_as_it_was(store: Store) -> None:
    """What a caller holds does not change under its hands."""
    await tell(store, ANN, "a", "b")
    before = await survey(store, "a")
    await tell(store, ANN, "c", "a again")
    await store.archive.erase(ANN, turns=["b"])
    await survey(store, "a")
    assert list(before.outline.ids) == ["a", "b"]
    assert dict(before.outline.places) == {"a": 0, "b": 1}
    assert "c" not in before.outline.places
    assert len(before.outline.session) == 2
    assert counted(before, "a") == {"a": 1}


async def test_each_owner_sees_their_own(store: Store) -> None:
    """Nothing of another owner or tenant is surveyed; of a stranger there is nothing."""
    for owner in (ANN, BOB, ANN_ELSEWHERE):
        await tell(store, owner, f"tea of {owner.tenant} {owner.user}")
    await store.index.put(BOB, SPACE, ids=["tea of acme bob"], vectors=rows((1, 0, 0)))
    found = await survey(store, "tea")
    assert list(found.outline.ids) == ["tea of acme ann"]
    assert counted(found, "tea") == {"tea of acme ann": 1}
    stranger = await survey(store, "tea", owner=replace(ANN, user="nobody"))
    assert list(stranger.outline.ids) == []
    assert stranger.postings == {}
    assert stranger.outline.named.shape == (0, 3)


async def test_which_other_kinds_there_are(store: Store) -> None:
    """Events and memos are announced as soon as one can be found."""
    await tell(store, ANN, "a")
    assert (await survey(store)).others == frozenset()
    await store.events.add(ANN, [event("tea")])
    assert (await survey(store)).others == {Kind.EVENT}
    await store.memos.add(ANN, [memo("tea")])
    assert (await survey(store)).others == {Kind.EVENT, Kind.MEMO}


async def test_vectors_of_another_space(store: Store) -> None:
    """A query that is not of the space it claims is refused."""
    await tell(store, ANN, "a")
    await store.index.put(ANN, SPACE, ids=["a"], vectors=rows((1, 0, 0)))
    with pytest.raises(EmbedderMismatch):
        await store.index.survey(ANN, [], space=SPACE, query=rows((1, 0)))
    with pytest.raises(EmbedderMismatch):
        await store.index.survey(ANN, [], space=replace(SPACE, version="2"), query=rows((1, 0, 0)))
