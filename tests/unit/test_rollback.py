"""What a version that was brought back knows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.domain import Origin
from omoide.engine.versions import When
from omoide.testing.contracts.making import ANN, sentence, tell, version

if TYPE_CHECKING:
    from .conftest import World


async def test_a_version_that_is_brought_back_keeps_its_language_and_the_newest_session(
    world: World,
) -> None:
    """It is written in the old version's language, and includes all sessions that were digested:
    with the old version's session, the ones since would be digested again."""
    store, memory = world.store, world.runtime.memory("acme")
    for key in ("one", "two"):
        await tell(store, ANN, f"words {key}", key=key)
    old = replace(version(1, sentence("Tôi thích trà.", "words one"), session=1), language="vi")
    new = version(2, sentence("Likes tea.", "words two"), session=2)
    await store.summaries.commit(ANN, old)
    await store.summaries.commit(ANN, new)
    back = await memory.rollback(ANN.user, When(version=1))
    assert (back.number, back.session, back.language) == (3, 2, "vi")
    assert (back.origin, back.restored, back.text) == (Origin.ROLLBACK, 1, "Tôi thích trà.")
    assert await memory.summary(ANN.user) == back
