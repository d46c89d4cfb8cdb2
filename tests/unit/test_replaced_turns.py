"""A reply that takes another's place: the former is gone, and nothing else is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import Speaker
from omoide.language.terms import terms
from omoide.testing.contracts.making import ANN, BOB, HOUR, say, tell

if TYPE_CHECKING:
    from pathlib import Path


async def test_only_the_words_of_the_former_reply_are_not_found_any_more(tmp_path: Path) -> None:
    """Those of the user's other turns, and of other users, are."""
    store = await SqliteStore.open(tmp_path / "db")
    for owner in (ANN, BOB):
        await tell(store, owner, "green tea", "black coffee")
    former = say("coffee with milk", speaker=Speaker.ASSISTANT)
    again = say("coffee with sugar", speaker=Speaker.ASSISTANT)
    await store.turns.append(ANN, [former], session=None, idle=HOUR)
    await store.turns.append(ANN, [again], session=None, idle=HOUR, replaces=[former.id])

    async def found(word: str) -> list[set[str]]:
        hits = [await store.index.search_words(owner, terms(word), k=9) for owner in (ANN, BOB)]
        return [{hit.id for hit in some} for some in hits]

    assert await found("milk") == [set(), set()]
    assert await found("sugar") == [{again.id}, set()]
    assert await found("coffee") == [{"black coffee", again.id}, {"black coffee"}]
    assert await found("tea") == [{"green tea"}, {"green tea"}]
    await store.close()
