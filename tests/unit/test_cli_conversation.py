"""The chat without a terminal: lines in, a screen that remembers what it showed."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import click
import pytest

from omoide.cli.chat import typed
from omoide.cli.conversation import ChatLoop
from omoide.cli.views import contribution_lines
from omoide.domain import JobState, MemoryKind, Speaker
from omoide.engine.messages import Utterance
from omoide.errors import ModelUnavailable
from omoide.mechanisms.base import Contribution, PromptPlace
from omoide.testing import ScriptedModel
from omoide.testing.contracts.making import HOUR, START, fact

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from omoide.ports import Completion, Request

    from .conftest import World

M1 = "The user has a cat called Miso. The user lives in Oslo."
CAT = "I have a cat called Miso and I live in Oslo."


class PaperScreen:
    """Keeps what was shown, and tells when something more came."""

    rows = 24

    def __init__(self) -> None:
        self.shown = ""
        self.signs: list[str] = []
        self.forming: Callable[[], str] = str
        self.grew = asyncio.Event()

    def line(self, text: str = "") -> None:
        """Write it down."""
        self.piece(f"{click.unstyle(text)}\n")

    def piece(self, text: str) -> None:
        """Write it down."""
        self.shown += text
        self.grew.set()

    def waiting(self, what: str) -> PaperSign:
        """Note that there was a wait."""
        return PaperSign(self, what)

    def take(self) -> str:
        """What was shown since the last time."""
        shown, self.shown = self.shown, ""
        return shown


class PaperSign:
    """A sign that notes when it was up and when it was stopped."""

    def __init__(self, screen: PaperScreen, what: str) -> None:
        self._screen = screen
        self._what = what

    async def __aenter__(self) -> PaperSign:
        self._screen.signs.append(self._what)
        return self

    async def __aexit__(self, *raised: object) -> None:
        self.stop()

    def watch(self, forming: Callable[[], str]) -> None:
        """Keep what tells the words."""
        self._screen.forming = forming

    def stop(self) -> None:
        """Note it once."""
        if self._screen.signs[-1] != "stopped":
            self._screen.signs.append("stopped")


class Endless(ScriptedModel):
    """Counts until it is stopped."""

    async def stream(self, request: Request) -> AsyncGenerator[str | Completion, None]:
        """Numbers without end."""
        self.requests.append(request)
        number = 0
        while True:
            number += 1
            yield f"{number} "
            await asyncio.sleep(0)


@pytest.fixture
def screen() -> PaperScreen:
    """An empty one."""
    return PaperScreen()


@pytest.fixture
def talk(world: World, screen: PaperScreen) -> ChatLoop:
    """Ana talks."""
    return ana(world, screen)


def ana(world: World, screen: PaperScreen) -> ChatLoop:
    """A conversation of hers."""
    return ChatLoop(
        memory=world.memory,
        user="ana",
        screen=screen,
        clock=world.clock,
        idle=timedelta(minutes=30),
    )


async def test_a_stranger_is_greeted(talk: ChatLoop, screen: PaperScreen) -> None:
    """Who is new is told so, with where to find the commands."""
    await talk.greet()
    assert screen.take() == "Hello! We have not talked yet. Say something; /help lists commands.\n"


async def test_a_friend_is_greeted(world: World, talk: ChatLoop, screen: PaperScreen) -> None:
    """Who is known is told how much, since when, and that the last session is still digested."""
    await world.session("ana", CAT, answers=(M1,))
    world.replier.answers.append("Oh!")
    await (await world.memory.reply("ana", "My cat is ill.")).text()
    world.clock.advance(timedelta(hours=2))
    await talk.greet()
    greeting, state = screen.take().splitlines()
    assert greeting == (
        "Hello again! 2 sessions, the last one 2 hours ago; the memory has 2 sentences. "
        "/help lists commands."
    )
    assert state == "· session 2, ended 2 hours ago, is not in the memory yet: " + (
        "it is waiting to be digested"
    )


async def test_a_reply_streams_after_a_sign(
    world: World, talk: ChatLoop, screen: PaperScreen
) -> None:
    """It shows that it thinks until the first piece, then the reply and a line end."""
    world.replier.answers.append("How nice, a cat!")
    assert await talk.handle_line(CAT)
    assert screen.take() == "How nice, a cat!\n"
    assert screen.signs == ["thinking", "stopped"]


async def test_an_interrupt_stops_the_reply_and_keeps_it(
    make_world: Callable[..., Awaitable[World]], screen: PaperScreen
) -> None:
    """What was shown until Ctrl-C is recorded, and the talk goes on."""
    world = await make_world(model=Endless())
    talk = ana(world, screen)
    hearing = asyncio.create_task(talk.handle_line("Count!"))
    while "5 " not in screen.shown:
        screen.grew.clear()
        await screen.grew.wait()
    talk.interrupt()
    assert await hearing
    shown = screen.take()
    assert shown.endswith(" [stopped]\n")
    user, reply = await world.memory.turns("ana")
    assert (user.text, reply.speaker) == ("Count!", Speaker.ASSISTANT)
    assert reply.text.strip() == shown.removesuffix(" [stopped]\n").strip()
    assert not talk.busy


async def test_an_interrupt_with_nothing_to_stop(talk: ChatLoop) -> None:
    """A late Ctrl-C does nothing."""
    talk.interrupt()
    assert not talk.busy


async def test_a_model_out_of_reach_is_told(
    world: World, talk: ChatLoop, screen: PaperScreen
) -> None:
    """The error is one line, what was said is kept, and the talk goes on."""
    world.replier.answers.append(ModelUnavailable("the model\nis away"))
    assert await talk.handle_line(CAT)
    assert screen.take() == "! the model is away\n"
    assert [turn.text for turn in await world.memory.turns("ana")] == [CAT]


@pytest.mark.parametrize("line", ["", "   ", "\n"])
async def test_an_empty_line_says_nothing(
    world: World, talk: ChatLoop, screen: PaperScreen, line: str
) -> None:
    """Enter alone is no turn."""
    assert await talk.handle_line(line)
    assert screen.take() == ""
    assert await world.memory.turns("ana") == ()


async def test_commands(world: World, talk: ChatLoop, screen: PaperScreen) -> None:
    """Each command shows its part of the memory."""
    await world.session("ana", CAT, answers=(M1,))
    await talk.handle_line("/memory")
    assert "  1. You have a cat called Miso.\n" in screen.take()
    await talk.handle_line("/why oslo")
    assert "You live in Oslo.\n    you: I have a cat" in screen.take()
    await talk.handle_line("/history")
    assert screen.take().splitlines()[1].split()[:2] == ["1", "1"]
    await talk.handle_line("/help")
    assert "/forget TEXT" in screen.take()
    assert not await talk.handle_line("/quit")


async def test_why_tells_what_came_to_mind(
    world: World, talk: ChatLoop, screen: PaperScreen
) -> None:
    """After a reply, /why also shows what was recalled for it."""
    await world.session("ana", CAT, answers=(M1,))
    world.replier.answers.append("Poor Miso.")
    await talk.handle_line("My cat is ill.")
    screen.take()
    await talk.handle_line("/why")
    assert "Recalled for the last reply:\n" in screen.take()


async def test_why_marks_what_is_no_longer_true(
    world: World, talk: ChatLoop, screen: PaperScreen
) -> None:
    """What was recalled, and whose fact was replaced after the reply, says so, with the fact;
    before that it does not."""
    await world.session("ana", CAT, answers=(M1,))
    world.replier.answers.append("Poor Miso.")
    await talk.handle_line("My cat Miso is ill.")
    await talk.handle_line("/why")
    assert "no longer true" not in screen.take()
    world.clock.advance(timedelta(days=1))
    [cat] = [f for f in await world.memory.facts("ana") if "Miso" in f.text]
    await world.memory.correct("ana", cat.id, "The user has a dog.")
    await talk.handle_line("/why")
    shown = screen.take()
    assert "no longer true since " in shown
    assert shown.split("no longer true since ")[1].splitlines()[0].endswith("called Miso.")


def test_a_recalled_turn_has_what_no_longer_holds_of_it_below() -> None:
    """By the facts that rest on it, however they are worded; another turn has none."""
    turns = [
        Contribution(
            mechanism="search",
            place=PromptPlace.RECALLED,
            kind=MemoryKind.TURN,
            id=name,
            text=f"words of {name}",
            value=0.9,
            sources=(name,),
            time=START,
            why="rank 1",
        )
        for name in ("t1", "t2")
    ]
    over = replace(fact("The user lives in Oslo.", "t1", "t0"), ended=START + HOUR)
    lines = contribution_lines(turns, START + 2 * HOUR, over=[over])
    first, mark, second = map(click.unstyle, lines)
    assert first.startswith("words of t1")
    assert mark.strip().startswith("no longer true since ")
    assert mark.endswith(": The user lives in Oslo.")
    assert second.startswith("words of t2")


async def test_why_fits_the_screen_and_gives_a_date_once(
    world: World, talk: ChatLoop, screen: PaperScreen
) -> None:
    """What does not fit is counted, with how to see it; a session's date is not repeated."""
    await world.session("ana", CAT, answers=(M1,))
    screen.rows = 9
    await talk.handle_line("/why")
    first = screen.take()
    assert first.count("ago)") + first.count("just now)") == 1
    assert first.count("(session 1)") == 1
    screen.rows = 7
    world.replier.answers.append("Poor Miso.")
    await talk.handle_line("My cat is ill.")
    screen.take()
    await talk.handle_line("/why")
    shown = screen.take().splitlines()
    assert len(shown) == 6
    assert "more line" in shown[-1]
    assert "/why TEXT" in shown[-1]


async def test_the_next_reply_is_prepared_while_the_user_types(
    world: World, screen: PaperScreen
) -> None:
    """Preparing begins when asked and after each reply; a reply waits for it, and an error in it
    is left to the reply."""
    done: list[str] = []
    may_end = asyncio.Event()

    async def prepare(begun: str) -> None:
        assert not begun
        await may_end.wait()
        done.append("prepared")
        raise ModelUnavailable("no model")

    talk = ChatLoop(
        memory=world.memory,
        user="ana",
        screen=screen,
        clock=world.clock,
        idle=timedelta(minutes=30),
        prepare=prepare,
    )
    talk.prepare()
    talk.prepare()
    world.replier.answers.append("Hello!")
    reply = asyncio.ensure_future(talk.handle_line("Hi"))
    for _ in range(20):
        await asyncio.sleep(0)
    assert not world.replier.requests
    may_end.set()
    await reply
    assert "Hello!" in screen.take()
    await talk.leave()
    assert done == ["prepared"] * 2


async def test_what_is_typed_is_read_before_it_is_sent(world: World, screen: PaperScreen) -> None:
    """Whole words, every now and then, one reading at a time; no commands, and nothing again."""
    read: list[str] = []

    async def prepare(begun: str) -> None:
        await asyncio.sleep(0)
        read.append(begun)

    talk = ChatLoop(
        memory=world.memory,
        user="ana",
        screen=screen,
        clock=world.clock,
        idle=timedelta(minutes=30),
        prepare=prepare,
    )

    async def typed(text: str) -> None:
        for end in range(1, len(text) + 1):
            talk.typing(text[:end])
            for _ in range(4):
                await asyncio.sleep(0)

    await typed("/forget everything that I said about the boat")
    assert read == []
    await typed("Do you know where my sister lives now?")
    assert read == ["Do you know where", "Do you know where my sister lives"]
    await typed("Do you know where my")  # taken back
    assert len(read) == 2
    world.replier.answers.append("In Bergen.")
    await talk.handle_line("Do you know where my sister lives now?")
    await typed("今日は仙台の図書館で一日中ずっと働いていました。")
    assert read[2] == ""
    assert "今日は仙台の図書館で一日中ずっと".startswith(read[3])


async def test_people_are_spoken_to_by_name_in_their_language(
    world: World, talk: ChatLoop, screen: PaperScreen
) -> None:
    """The memory says "you" in the language it is written in, and the greeting has the name."""
    japanese = "ユーザーの名前は由美である。 ユーザーは京都に住んでいる。"
    await world.session("ana", "由美です。京都に住んでいます。", answers=(japanese,))
    await talk.greet()
    assert screen.take().startswith("Hello again, 由美! ")
    await talk.handle_line("/memory")
    shown = screen.take()
    assert "What is remembered about you" in shown
    assert "ユーザー" not in shown
    assert "京都に住んでいる" in shown


async def test_an_unknown_command_says_so(
    world: World, talk: ChatLoop, screen: PaperScreen
) -> None:
    """A slip is not sent to the model; a space before the slash sends it."""
    assert await talk.handle_line("/mem")
    assert "There is no command /mem. Did you mean /memory?" in screen.take()
    world.replier.answers.append("A path.")
    await talk.handle_line(" /etc/hosts")
    assert [t.text for t in await world.memory.turns("ana")] == ["/etc/hosts", "A path."]


async def test_forgetting_asks_first(world: World, talk: ChatLoop, screen: PaperScreen) -> None:
    """What goes is shown; only yes removes it."""
    await world.session("ana", CAT, answers=(M1,))
    await talk.handle_line("/forget Miso")
    assert "  - You have a cat called Miso." in screen.take()
    assert talk.asking
    await talk.handle_line("no")
    assert screen.take() == "Nothing was removed.\n"
    assert len(await world.memory.turns("ana")) == 2
    await talk.handle_line("/forget Miso")
    await talk.handle_line("y")
    assert "Removed: 1 turn, 2 sentences." in screen.take()
    assert "Miso" not in (await world.memory.summary("ana")).text
    assert not talk.asking


async def test_forgetting_nothing(talk: ChatLoop, screen: PaperScreen) -> None:
    """Without words, or with words nobody said, nothing is asked."""
    await talk.handle_line("/forget")
    assert "/forget what?" in screen.take()
    await talk.handle_line("/forget zebras")
    assert screen.take() == "Nothing that is stored says 'zebras'.\n"
    assert not talk.asking


async def test_ending_a_session(world: World, talk: ChatLoop, screen: PaperScreen) -> None:
    """/end ends this chat's session, leaves other programs' alone, and the news tells of it."""
    await talk.greet()
    other = [Utterance(speaker=Speaker.USER, text="From elsewhere.")]
    await world.memory.record("ana", other, session="thread")
    world.replier.answers.append("I see.")
    await talk.handle_line(CAT)
    screen.take()
    await talk.handle_line("/end")
    assert screen.take() == (
        "The session has ended; the memory is updated while no reply is awaited.\n"
    )
    assert [s.key for s in await world.memory.sessions("ana") if s.open] == ["thread"]
    world.iterator.answers.append(M1)
    await world.memory.run_jobs()
    (line,) = await talk.news.fetch()
    assert "memory updated after session 2: version 1, 2 new" in line
    assert await talk.news.fetch() == []
    await talk.handle_line("/end")
    assert screen.take() == "No session is open.\n"


async def test_a_rejected_update_is_news_once(world: World, talk: ChatLoop) -> None:
    """Why the memory was not updated is told, once."""
    await talk.greet()
    await world.session("ana", CAT, answers=("", "", ""))
    (line,) = await talk.news.fetch()
    assert "the memory was not updated: " in line
    assert await talk.news.fetch() == []


async def test_silence_ends_the_session(world: World, talk: ChatLoop, screen: PaperScreen) -> None:
    """After the idle time the session ends once; the next line begins another."""
    world.replier.answers.extend(["I see.", "Hello again."])
    await talk.handle_line(CAT)
    screen.take()
    world.clock.advance(timedelta(minutes=29))
    await talk.on_idle()
    assert screen.take() == ""
    world.clock.advance(timedelta(minutes=1))
    await talk.on_idle()
    await talk.on_idle()
    assert screen.take() == (
        "The session ended after 30 minutes of silence; your next line starts another.\n"
    )
    await talk.handle_line("Hello?")
    assert [s.open for s in await world.memory.sessions("ana")] == [False, True]


async def test_leaving_finishes_the_memory(
    world: World, talk: ChatLoop, screen: PaperScreen
) -> None:
    """On exit the session ends, a sign shows the work, and the outcome is told."""
    await talk.greet()
    world.replier.answers.append("I see.")
    world.iterator.answers.append(M1)
    await talk.handle_line(CAT)
    screen.take()
    await talk.leave()
    assert "· memory updated after session 1: version 1, 2 new\n" in screen.take()
    assert any("updating the memory with session 1" in sign for sign in screen.signs)


async def test_the_words_of_a_reply_can_be_seen_as_they_form(
    world: World, talk: ChatLoop, screen: PaperScreen
) -> None:
    """Before the first sentence has been checked."""
    world.replier.answers.append("What a lovely evening.")
    await talk.handle_line("Hello!")
    assert screen.forming() == "What a lovely evening."


async def test_leaving_without_waiting(world: World, talk: ChatLoop, screen: PaperScreen) -> None:
    """An interrupt leaves the work for the next start, where it is still waiting."""
    world.replier.answers.append("I see.")
    await talk.handle_line(CAT)
    asked = asyncio.Event()

    async def stall(_: Request) -> str:
        asked.set()
        await asyncio.Event().wait()
        return "never"

    world.iterator.answers.append(stall)
    screen.take()
    leaving = asyncio.create_task(talk.leave())
    await asked.wait()
    talk.interrupt()
    await leaving
    assert screen.take() == "The memory of session 1 will be updated at the next start.\n"
    (job, *_) = [j for j in await world.memory.jobs("ana") if j.session == 1]
    assert job.state is JobState.WAITING


async def test_leaving_with_nothing_said(talk: ChatLoop, screen: PaperScreen) -> None:
    """Nothing to do, nothing to say."""
    await talk.leave()
    assert screen.take() == ""
    assert screen.signs == []


@pytest.mark.parametrize("leaving", [EOFError, KeyboardInterrupt])
def test_a_plain_prompt_reads_until_the_user_leaves(leaving: type[BaseException]) -> None:
    """Without prompt_toolkit, lines come from `input`; Ctrl-D and Ctrl-C leave."""
    keys = iter(["Hello.", "  ", "I live in Oslo."])

    def read(_: str) -> str:
        for line in keys:
            return line
        raise leaving

    assert list(typed(read)) == ["Hello.", "I live in Oslo."]


async def test_a_chat_of_the_past_stays_one_session(world: World, screen: PaperScreen) -> None:
    """Its turns look idle to the clock, so the worker looks for idle sessions only once."""
    past = world.clock.now() - timedelta(weeks=3)
    talk = ChatLoop(
        memory=world.memory,
        user="ana",
        screen=screen,
        clock=world.clock,
        idle=timedelta(minutes=30),
        at=past,
    )
    rounds, looks = 0, 0

    async def tenants() -> tuple[str, ...]:
        nonlocal rounds
        rounds += 1
        return (world.memory.tenant,)

    async def end_idle(_: str) -> int:
        nonlocal looks
        looks += 1
        return await world.memory.end_idle()

    jobs = world.runtime.worker.run(
        tenants, every=0.001, end_idle=end_idle, idle_every=talk.idle_every
    )
    working = asyncio.create_task(jobs)
    for said in ("I live in Oslo.", "I have a cat."):
        before = rounds
        while rounds < before + 3:  # noqa: ASYNC110 - what the worker does, not how long
            await asyncio.sleep(0)
        world.replier.answers.append("I see.")
        await talk.handle_line(said)
    working.cancel()
    await asyncio.wait([working])
    assert looks == 1
    [session] = await world.memory.sessions("ana")
    assert (session.open, session.turns) == (True, 4)
    assert ana(world, screen).idle_every < math.inf


class Local(ScriptedModel):
    """A model that has to be loaded."""

    loaded = 0

    async def prepare(self, request: Request, *, begun: str = "") -> None:
        """Not asked for here."""
        del begun
        raise AssertionError(request)

    async def count(self, text: str) -> int:
        """Loads it."""
        self.loaded += 1
        return await super().count(text)


async def test_only_a_model_of_this_machine_is_loaded_ahead(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """An endpoint is not asked for anything."""
    local = Local(name="local")
    world = await make_world(model=local)
    await world.runtime.load_model()
    assert local.loaded == 1
    away = await make_world(model=ScriptedModel(name="away"))
    await away.runtime.load_model()
