"""One exchange with a model of one's own, the context for it, and the ways to hand words over."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from omoide import Owner, Speaker, Utterance
from omoide.engine.asking import Asking
from omoide.errors import BadInput, StoreFull
from omoide.mechanisms.base import PromptPlace

from .conftest import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .conftest import World

CAT = "I adopted a cat called Miso."
M1 = "The user has a cat called Miso."


async def remembered(world: World) -> None:
    """Ana told of her cat a week ago."""
    await world.session("ana", CAT, answers=(M1,))


async def test_an_exchange_records_both_sides_and_brings_the_memory(world: World) -> None:
    """The words are there before the block, the reply after `finish`."""
    await remembered(world)
    async with world.memory.exchange("ana", "What is my cat called?") as turn:
        assert (await world.memory.turns("ana"))[-1].text == "What is my cat called?"
        system, asked = turn.messages
        assert (system["role"], asked["role"]) == ("system", "user")
        assert M1 in system["content"]
        assert M1 in asked["content"]
        assert CAT not in asked["content"]  # the sentence says the same
        assert asked["content"].endswith("What is my cat called?")
        assert {c.place for c in turn.why} == {PromptPlace.MEMORY, PromptPlace.RECALLED}
        await turn.finish("Miso!")
    assert [t.text for t in await world.memory.turns("ana")][-2:] == [
        "What is my cat called?",
        "Miso!",
    ]
    assert world.replier.requests == world.replier.requests[:1]  # the session's own, no other


async def test_a_chat_that_goes_on_after_a_pause_is_not_recalled_into_itself(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """The client sends its whole history, also what memory counts to a session that has ended; what
    it does not send may be recalled."""
    world = await make_world(
        settings=replace(SETTINGS, profile="large", mechanisms=("search",), recall_items=30)
    )
    await world.memory.record("ana", ["I adopted a cat called Miso in May."], session="other")
    history = [{"role": "user", "content": CAT}]
    async with world.memory.exchange("ana", history) as turn:
        await turn.finish("A cat called Miso, how sweet!")
    world.clock.advance(timedelta(hours=2))
    await world.memory.end_idle()
    history += [
        {"role": "assistant", "content": "A cat called Miso, how sweet!"},
        {"role": "user", "content": "What is my cat called?"},
    ]
    async with world.memory.exchange("ana", history) as turn:
        assert len(await world.memory.sessions("ana")) == 3
        shown = [c.text for c in turn.why]
    assert len(shown) == 1
    assert shown[0].endswith("in May.")


@pytest.mark.parametrize("profile", ["small", "large"])
async def test_a_long_page_is_shown_in_part(
    make_world: Callable[..., Awaitable[World]], profile: str
) -> None:
    """A turn that no budget has room for brings the sentence that is asked for."""
    world = await make_world(settings=replace(SETTINGS, profile=profile, max_turn_chars=50_000))
    day = "We walked along the river and nothing much happened. "
    page = day * 300 + "Grandma's ring is in the blue tin. " + day * 300
    await world.memory.record("ana", [page])
    await world.memory.end_session("ana")
    world.clock.advance(timedelta(days=7))
    context = await world.memory.context("ana", "Where is grandma's ring?")
    assert len(page) > 30_000
    shown = [c.text for c in context.contributions if c.place is PromptPlace.RECALLED]
    assert any("Grandma's ring is in the blue tin." in text for text in shown)
    assert sum(map(len, shown)) < 4000


async def test_code_keeps_its_lines_for_a_large_model(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """Python without line breaks and indentation cannot be read again; every line stays indented
    deeper than ours."""
    world = await make_world(
        settings=replace(SETTINGS, profile="large", mechanisms=("search",), recall_items=30)
    )
    code = "My retry helper:\n```python\ndef retry(n):\n    for i in range(n):\n        go(i)\n```"
    await world.memory.record("ana", [code])
    await world.memory.end_session("ana")
    world.clock.advance(timedelta(days=7))
    async with world.memory.exchange("ana", "What was my retry helper?") as turn:
        asked = turn.messages[-1]["content"]
    assert "\n  def retry(n):\n      for i in range(n):\n          go(i)\n  ```\n" in asked


async def test_a_text_is_sent_with_the_session_so_far(world: World) -> None:
    """Whoever gives one text at a time need keep no history."""
    for text, reply in (("Hi, I'm Ana.", "Hello Ana!"), ("How are you?", "Fine.")):
        async with world.memory.exchange("ana", text) as turn:
            await turn.finish(reply)
    async with world.memory.exchange("ana", "What did I say?") as turn:
        said = [m["content"] for m in turn.messages if m["role"] != "system"]
    assert said[:4] == ["Hi, I'm Ana.", "Hello Ana!", "How are you?", "Fine."]
    assert said[-1].endswith("What did I say?")


async def test_of_a_history_only_what_is_new_is_recorded(world: World) -> None:
    """A client's own messages go through as they came, with the memory put in."""
    await remembered(world)
    history: list[dict[str, Any]] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello."},
    ]
    async with world.memory.exchange("ana", history, session="app") as turn:
        await turn.finish("Hi!")
    history += [
        {"role": "assistant", "content": "Hi!"},
        {"role": "user", "content": "My cat?"},
    ]
    async with world.memory.exchange("ana", history, session="app") as turn:
        assert len(turn.messages) == len(history)
        assert turn.messages[0]["content"].startswith("Be brief.")
        assert M1 in turn.messages[0]["content"]
        await turn.finish("Miso.")
    texts = [t.text for t in await world.memory.turns("ana")]
    assert texts[-4:] == ["Hello.", "Hi!", "My cat?", "Miso."]


async def test_a_block_that_is_left_without_a_reply_keeps_the_words(world: World) -> None:
    """A model that fails loses nothing that was said."""
    with pytest.raises(RuntimeError):
        async with world.memory.exchange("ana", CAT):
            raise RuntimeError("the model is down")
    assert [t.text for t in await world.memory.turns("ana")] == [CAT]


async def test_a_fault_of_memory_is_raised_or_noted(world: World) -> None:
    """Strict raises it; tolerant goes on with what was asked, and says so."""

    async def full(*_: object, **__: object) -> None:
        raise StoreFull("no space")

    world.store.turns.append = full  # type: ignore[method-assign, assignment]
    with pytest.raises(StoreFull):
        async with world.memory.exchange("ana", CAT):
            pytest.fail("nothing was recorded")
    async with world.memory.exchange("ana", CAT, tolerant=True) as turn:
        assert [type(problem) for problem in turn.problems] == [StoreFull]
        assert turn.messages == [{"role": "user", "content": CAT}]
        assert turn.session is None
        await turn.finish("Nice!")


@pytest.mark.parametrize("step", ["summaries.find", "turns.read"])
@pytest.mark.parametrize("fault", [ZeroDivisionError("x"), TypeError("x"), KeyError("x")])
async def test_no_step_of_memory_stops_a_tolerant_exchange(
    world: World, step: str, fault: Exception
) -> None:
    """Whatever a step raises, the words are recorded and the messages go out."""
    await remembered(world)

    async def broken(*_: object, **__: object) -> None:
        raise fault

    side, _, name = step.partition(".")
    setattr(getattr(world.store, side), name, broken)
    async with world.memory.exchange("ana", "My cat?", tolerant=True) as turn:
        assert turn.problems
        assert turn.messages[-1]["content"].endswith("My cat?")
        assert turn.session == 2


@pytest.mark.parametrize(
    ("name", "stored"),
    [("Ben", "Ben"), (" Ben\u200b\n", "Ben"), ("x" * 300, "x" * 256), ("\x00", None), (7, None)],
)
async def test_who_speaks_in_a_group_is_recorded(
    world: World, name: object, stored: str | None
) -> None:
    """Messages carry the speaker's name; one that cannot be stored does not cost the words."""
    sent = [{"role": "user", "name": name, "content": "I am allergic to nuts."}]
    async with world.memory.exchange("trip", sent) as turn:
        await turn.finish("Noted.")
    said, _ = await world.memory.turns("trip")
    assert (said.text, said.name) == ("I am allergic to nuts.", stored)


async def test_thoughts_are_not_recorded_as_said(world: World) -> None:
    """A model's thoughts about the user are nobody's word."""
    for thought in ("<think>She has a dog?</think>\n\nHow lovely!", "<think>She has a dog?"):
        async with world.memory.exchange("ana", "I have a cat.") as turn:
            await turn.finish(thought)
    assert [t.text for t in await world.memory.turns("ana")] == [
        "I have a cat.",
        "How lovely!",
        "I have a cat.",
    ]


async def test_context_records_nothing(world: World) -> None:
    """It is what an exchange would bring, for a prompt of one's own."""
    await remembered(world)
    before = await world.memory.turns("ana")
    context = await world.memory.context("ana", "What is my cat called?")
    assert M1 in context.text
    assert CAT not in context.text  # the sentence says the same
    assert context.messages[-1]["content"].endswith("What is my cat called?")
    assert [c.text for c in context.recalled] == [c.text for c in context.contributions[1:]]
    assert await world.memory.turns("ana") == before
    nobody = await world.memory.context("bob", "What is my cat called?")
    assert (nobody.text, nobody.messages[-1]["content"]) == ("", "What is my cat called?")


async def test_context_keeps_to_its_budget(world: World) -> None:
    """A small budget brings less, one that is none is refused."""
    await remembered(world)
    whole = await world.memory.context("ana", "My cat Miso?")
    small = await world.memory.context("ana", "My cat Miso?", budget=whole.contributions[0].tokens)
    assert 0 < len(small.contributions) < len(whole.contributions)
    with pytest.raises(BadInput, match="at least 1"):
        await world.memory.context("ana", "My cat?", budget=0)


async def test_context_of_messages_goes_by_the_last_words(world: World) -> None:
    """And leaves the caller's own messages in their places."""
    await remembered(world)
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": "Hi!"},
        {"role": "user", "content": [{"type": "text", "text": "And my cat?"}]},
        {"role": "tool", "tool_call_id": "c", "content": "rain"},
    ]
    context = await world.memory.context("ana", messages)
    assert context.reply_request.text == "And my cat?"
    assert [m["role"] for m in context.messages] == ["system", "user", "assistant", "user", "tool"]
    assert len(context.messages[3]["content"]) == 2
    with pytest.raises(BadInput, match="no message is the user's"):
        await world.memory.context("ana", messages[1:2])


async def test_words_may_be_given_in_many_ways(world: World) -> None:
    """A text, a message, a value of ours, or a list of them."""
    at = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    await world.memory.record("ana", "One")
    await world.memory.record("ana", {"role": "user", "content": "Two", "id": "two"})
    await world.memory.record(
        "ana",
        [
            {"role": "system", "content": "Be nice."},
            {"role": "assistant", "content": [{"type": "text", "text": "Three"}], "time": at},
            {"role": "user", "content": "Four", "name": "Ana", "time": at.isoformat()},
            Utterance(speaker=Speaker.USER, text="Five", time=at + timedelta(minutes=1)),
            {"role": "assistant", "content": None, "tool_calls": []},
            "Six",
        ],
    )
    turns = await world.memory.turns("ana")
    assert [(t.speaker.value, t.text) for t in turns] == [
        ("user", "One"),
        ("user", "Two"),
        ("assistant", "Three"),
        ("user", "Four"),
        ("user", "Five"),
        ("user", "Six"),
    ]
    assert (turns[1].id, turns[3].name) == ("two", "Ana")
    assert [turn.time for turn in turns[2:4]] == [at, at]


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ([42], "message 0 is 42"),
        ([{"content": "Hi"}], "role and content"),
        ([{"role": "user", "content": "Hi", "time": "soon"}], "ISO 8601"),
        ([Utterance(speaker="tool", text="Hi")], "the speaker of message 0 is 'tool'"),  # type: ignore[arg-type]
        ([Utterance(speaker=Speaker.USER, text=None)], "the text of message 0 is None"),  # type: ignore[arg-type]
    ],
)
async def test_what_is_no_message_is_told(world: World, said: Any, wanted: str) -> None:  # noqa: ANN401 - wrong on purpose
    """The error says which one, and what to give."""
    with pytest.raises(BadInput, match=wanted):
        await world.memory.record("ana", said)


async def test_a_speaker_may_be_a_plain_text(world: World) -> None:
    """As whoever does not check types writes it."""
    said = Utterance(speaker="assistant", text="Hi")  # type: ignore[arg-type]
    [turn] = await world.memory.record("ana", said)
    assert turn.speaker is Speaker.ASSISTANT


async def test_recall_may_be_of_some_kinds_only(world: World) -> None:
    """Each item says what it is, where it is from and who said it."""
    await remembered(world)
    turns = await world.memory.recall("ana", "cat", kinds=["turn"])
    assert {item.kind.value for item in turns} == {"turn"}
    (told,) = [item for item in turns if item.text == CAT]
    assert told.id == told.sources[0] == (await world.memory.turns("ana"))[0].id
    sentences = await world.memory.recall("ana", "cat", kinds=["sentence"])
    assert [item.text for item in sentences] == [M1]
    with pytest.raises(BadInput, match="turn, event, memo, fact, sentence"):
        await world.memory.recall("ana", "cat", kinds=["dream"])


async def test_recall_may_be_limited_by_time_and_speaker(world: World) -> None:
    """Only what was said then and by whom comes back; the rest still counts as evidence."""
    first = world.clock.now()
    await world.memory.record("ana", [CAT, {"role": "assistant", "content": "A cat, lovely!"}])
    world.clock.advance(timedelta(days=30))
    await world.memory.record("ana", "My cat Miso is ill.")
    month = first + timedelta(days=15)

    async def texts(**limits: Any) -> set[str]:  # noqa: ANN401 - passed on
        found = await world.memory.recall("ana", "cat", **limits)
        return {item.text for item in found}

    assert await texts(since=month) == {"My cat Miso is ill."}
    assert await texts(until=month) == {CAT, "A cat, lovely!"}
    assert await texts(speaker="assistant") == {"A cat, lovely!"}
    assert await texts(speaker="user", until=month) == {CAT}
    assert await texts(since=month, until=month) == set()
    with pytest.raises(BadInput, match="no time zone"):
        await texts(since=month.replace(tzinfo=None))


async def test_words_that_come_late_are_waited_for(world: World) -> None:
    """An exchange whose patience ended goes on without memory, but its words are still being
    written: the next message is recorded after them, and closing waits for them."""
    append, slow = world.store.turns.append, asyncio.Event()

    async def held(*given: Any, **more: Any) -> Any:  # noqa: ANN401 - passed on
        await slow.wait()
        return await append(*given, **more)

    world.store.turns.append = held  # type: ignore[method-assign]
    exchanges, ana = world.runtime.exchanges, Owner(tenant="default", user="ana")

    def asking(text: str, patience: float) -> Asking:
        said = Utterance(speaker=Speaker.USER, text=text)
        words = Asking.words(ana, said, session=None, at=world.clock.now())
        return replace(words, tolerant=True, patience=patience)

    late = await exchanges.begin(asking("I moved to Lyon.", 0.01))
    assert [type(problem) for problem in late.problems] == [TimeoutError]
    closing = asyncio.ensure_future(exchanges.settled())
    following = asyncio.ensure_future(exchanges.begin(asking("And I like it.", 30.0)))
    for _ in range(20):
        await asyncio.sleep(0)
    assert not closing.done()
    world.store.turns.append = append  # type: ignore[method-assign]
    for _ in range(20):  # the second message would not be held any more, but waits for the first
        await asyncio.sleep(0.001)
    assert not following.done()
    slow.set()
    await closing
    await following
    said = [turn.text for turn in await world.memory.turns("ana")]
    assert said == ["I moved to Lyon.", "And I like it."]
    assert exchanges._writing == {}  # nothing is kept of who has been here
