"""Very long messages and histories: understood by their ends, recorded whole, in short steps."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from omoide.engine import messages as engine_messages
from omoide.engine import recorder
from omoide.engine.messages import incoming
from omoide.language.sentences import MOST_READ
from omoide.mechanisms.search import mechanism
from omoide.mechanisms.search.excerpt import excerpt

from .conftest import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .conftest import World

    MakeWorld = Callable[..., Awaitable[World]]

BOAT = "I sail my boat Nerissa on the lake."
ASKED = "What is my boat called?"
PAGE = " ".join(f"w{i}" for i in range(5_000))
"""A document of 29,000 characters that no two words of are the same."""
SEARCH = replace(SETTINGS, mechanisms=("search",))


def user(text: str) -> dict[str, Any]:
    """A message of the user's."""
    return {"role": "user", "content": text}


@pytest.mark.parametrize("text", [f"{ASKED}\n\n{PAGE}", f"{PAGE}\n\n{ASKED}"])
async def test_who_pastes_a_document_is_understood(make_world: MakeWorld, text: str) -> None:
    """Where they ask before or after it; the rest of it is not searched for."""
    world = await make_world(settings=SEARCH)
    await world.memory.record("ana", BOAT, session="first")
    exchange = await world.memory.begin("ana", [user(text)])
    assert "Nerissa" in exchange.messages[0]["content"][: -len(PAGE)]
    assert exchange.context is not None
    assert len(exchange.context.reply_request.text) <= MOST_READ + 1
    for words in ("w2499", "w17"):  # all of it can be found later
        found = await world.memory.recall("ana", words, k=1)
        assert words in found[0].text


async def test_a_message_is_not_recalled_into_its_own_prompt(make_world: MakeWorld) -> None:
    """It is too long for one turn, and its turns would be found by its own words."""
    world = await make_world(settings=replace(SEARCH, profile="large", recall_items=30))
    exchange = await world.memory.begin("ana", [user(f"{PAGE}\n\nWhat do w17 and w4990 mean?")])
    assert len(exchange.turns) == 3
    assert exchange.why == ()


async def test_a_long_message_is_recorded_in_steps(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that other writers wait for each of them only; sent again, it is known."""
    monkeypatch.setattr(recorder, "AT_ONCE", 20_000)
    append, sizes = world.store.turns.append, list[int]()

    async def counted(owner: Any, said: Any, **how: Any) -> Any:  # noqa: ANN401 - whatever is given
        sizes.append(len(said))
        return await append(owner, said, **how)

    world.store.turns.append = counted  # type: ignore[method-assign]
    exchange = await world.memory.begin("ana", [user(PAGE)])
    assert sizes == [2, 1]
    assert "".join(turn.text for turn in exchange.turns) == PAGE
    assert exchange.turns.new == {turn.id for turn in exchange.turns}
    again = await world.memory.begin("ana", [user(PAGE)])
    assert again.repeated
    assert len(await world.memory.turns("ana")) == 3


async def test_an_excerpt_of_a_long_turn_holds_up_nobody(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is cut in a thread."""
    threads, cut = set[int](), excerpt

    def noted(text: str, about: str, *, tokens: int) -> str:
        threads.add(threading.get_ident())
        return cut(text, about, tokens=tokens)

    monkeypatch.setattr(mechanism, "excerpt", noted)
    settings = replace(SEARCH, profile="large", max_turn_chars=100_000)
    world = await make_world(settings=settings)
    await world.memory.record("ana", f"{PAGE}. {BOAT} {PAGE}", session="first")
    exchange = await world.memory.begin("ana", [user(ASKED)])
    assert "Nerissa" in exchange.why[0].text
    assert threads
    assert threading.get_ident() not in threads


def test_of_an_endless_history_the_last_messages_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the client had dropped the others; the message stands where it stood."""
    monkeypatch.setattr(engine_messages, "MOST_MESSAGES", 3)
    last = [user("b"), {"role": "assistant", "content": "c"}, user("d")]
    [words] = incoming([user("a"), *last], session=None).words
    assert (words.text, words.index, words.first) == ("d", 3, False)
    [alone] = incoming(last, session=None).words
    assert (words.id, alone.index) == (alone.id, 2)
