"""Our databases keep the features of turns, and hand them out as the ranking would read them."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omoide.documents import DocumentStore, MemoryDocuments
from omoide.domain import FactChanges, Owner
from omoide.language.terms import informativeness
from omoide.mechanisms.search import features as features_module
from omoide.mechanisms.search.features import FeatureReader, features_of, gathered
from omoide.testing.contracts.making import ANN, BOB, HOUR, fact, tell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Turn
    from omoide.ports import Store
    from omoide.ports.store import Features


async def kept(store: Store) -> Features:
    """Ann's features."""
    features = (await store.index.search_data(ANN, [])).table.features
    assert features is not None
    return features


async def test_features_are_those_of_the_text(store: Store) -> None:
    """How much each turn tells, and the days it names."""
    said = ("I moved to Lisbon. 東京", "Really? Why?", "On 3 March 2024, or in May 2023.")
    turns = await tell(store, ANN, *said)
    features = await kept(store)
    assert features.values.tolist() == pytest.approx([informativeness(text) for text in said])
    march, may = date(2024, 3, 3).toordinal(), date(2023, 5, 1).toordinal()
    assert features.spans.tolist() == [[2, march, march], [2, may, may + 30]]
    fresh = gathered([features_of(turn) for turn in turns])
    np.testing.assert_array_equal(features.spans, fresh.spans)
    np.testing.assert_allclose(features.values, fresh.values)


async def test_features_move_with_their_turns(store: Store) -> None:
    """Sessions side by side stand apart, erasure closes the gap, and spans go along."""
    await tell(store, ANN, "a tea today", key="one")
    await tell(store, ANN, "b tea today", key="two")
    assert (await kept(store)).spans[:, 0].tolist() == [0, 1]
    await tell(store, ANN, "c tea today", key="one")
    await tell(store, ANN, "d", key="two")
    assert (await kept(store)).spans[:, 0].tolist() == [0, 2, 1]
    await store.archive.erase(ANN, turns=["a tea today"])
    assert (await kept(store)).spans[:, 0].tolist() == [1, 0]
    await store.archive.erase(ANN)
    assert (await kept(store)).spans.shape == (0, 3)


async def test_a_store_without_features_ranks_alike(store: Store) -> None:
    """What is read out of the texts is what our databases have kept, also after an erasure."""
    bare = DocumentStore(MemoryDocuments())
    read = FeatureReader(bare)
    for there in (store, bare):
        await tell(there, ANN, "I moved to Lisbon yesterday.", "Why?", "In May 2023.", key="k")
        await there.turns.end(ANN, at=(await there.turns.sessions(ANN))[0].last + HOUR)
    for gone in ((), ("Why?",)):
        for there in (store, bare):
            await there.archive.erase(ANN, turns=gone)
        survey = await read(ANN, await bare.index.search_data(ANN, []))
        assert survey.table.features is not None
        features = await kept(store)
        np.testing.assert_allclose(survey.table.features.values, features.values)
        np.testing.assert_array_equal(survey.table.features.spans, features.spans)


async def test_features_are_kept_of_those_who_were_asked_about_lately(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Texts are read once as long as their owner is among the last few, and again afterwards."""
    monkeypatch.setattr(features_module, "_OWNERS", 2)
    bare = DocumentStore(MemoryDocuments())
    cleo = Owner(tenant=ANN.tenant, user="cleo")
    for owner in (ANN, BOB, cleo):
        await tell(bare, owner, "I moved to Lisbon yesterday.")
    read_turns, asked = bare.turns.read, list[str]()

    async def counted(owner: Owner, **only: Any) -> Sequence[Turn]:  # noqa: ANN401 - passed on
        asked.append(owner.user)
        return await read_turns(owner, **only)

    monkeypatch.setattr(bare.turns, "read", counted)
    read = FeatureReader(bare)
    for owner in (ANN, BOB, ANN, cleo, ANN, BOB):
        await read(owner, await bare.index.search_data(owner, []))
    assert asked == [ANN.user, BOB.user, cleo.user, BOB.user]


async def test_ended_facts_are_looked_for_only_if_there_are_any(store: Store) -> None:
    """Nobody need look for ended facts while every fact that was stored can be found."""
    await tell(store, ANN, "I live in Rome.")
    await store.facts.apply(ANN, FactChanges(added=(fact("She lives in Rome."),)))
    assert not (await store.index.search_data(ANN, [])).ended_facts
