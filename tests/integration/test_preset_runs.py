"""A run of each preset over a small dialogue with a scripted model: what is sent, what is kept."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from omoide.bootstrap import word_analyser
from omoide.domain import MemoryKind, Owner, Speaker
from omoide.engine.messages import Utterance
from omoide.errors import BadInput
from omoide.language import pack
from omoide.mechanisms.memos.compressors import TextTools
from omoide.presets import DEFAULT, PRESETS
from omoide.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from omoide.ports import Request
    from omoide.testing import Answer
    from tests.unit.conftest import World

OWNER = Owner(tenant="default", user="ana")
SAID = (
    (Speaker.USER, "I adopted a cat called Miso from the shelter in Oslo."),
    (Speaker.ASSISTANT, "How lovely! I once had a parrot."),
    (Speaker.USER, "She sleeps on the piano all day long."),
    (Speaker.ASSISTANT, "Pianos are warm."),
)
ADOPTED = "User adopted a cat called Miso from the shelter in Oslo."
EVENT = {
    "text": ADOPTED,
    "topics": ["pets"],
    "keywords": ["kitten"],
    "participants": ["User"],
}
EVENTS = json.dumps({"events": [EVENT]})
MEMOS = json.dumps(
    {"memos": [{"topic": "Miso the cat", "start": 1, "end": 4, "summary": "A cat was adopted."}]}
)
RATINGS = json.dumps({"ratings": [7]})
DAY = "The User adopted a cat called Miso in Oslo."
PORTRAIT = "The User is fond of animals and gentle with them."
MEMORY = "The user adopted a cat called Miso. The assistant once had a parrot."
DIGESTS: dict[str, tuple[str, ...]] = {
    "wang2023": (MEMORY,),
    "hou2024": (EVENTS,),
    "taniguchi2025": (MEMOS,),
    "memochat": (MEMOS,),
    "memorybank": (DAY, PORTRAIT, DAY, PORTRAIT),
    "generative-agents": (EVENTS, RATINGS),
}
CHOICES = {"taniguchi2025": '{"numbers": [1]}', "memochat": '{"numbers": [1]}'}
SELDOM = {"importance_reflection"}
"""Prompts that a short dialogue does not reach."""
ASKED = "Do you remember my cat Miso from the shelter in Oslo?"

Maker = "Callable[..., Awaitable[World]]"


def settings_of(preset: str, **fields: object) -> Settings:
    """The preset as a user has it, in a time zone that is the same everywhere."""
    return Settings.of(preset, timezone="UTC", **fields)


async def digested(world: World, *answers: Answer) -> None:
    """The dialogue is recorded as a session and digested with these answers. Turns have ids of
    their own, since MemoryBank's draw depends on them: by these it forgets nothing in a day."""
    day = f"day-{world.clock.now():%d}"
    talk = [
        Utterance(speaker=who, text=text, id=f"{day}-{place}")
        for place, (who, text) in enumerate(SAID)
    ]
    await world.memory.record("ana", talk)
    world.iterator.answers.extend(answers)
    await world.memory.end_session("ana")
    await world.memory.run_jobs()
    world.clock.advance(timedelta(days=1))


async def asked(world: World, *choices: str, text: str = ASKED) -> Request:
    """The request for a reply to a message."""
    world.iterator.answers.extend(choices)
    world.replier.answers.append("Of course!")
    await (await world.memory.reply("ana", text)).text()
    return world.replier.requests[-1]


def text_of(request: Request) -> str:
    """All of a prompt."""
    return "\n".join(message.content for message in request.messages)


def recognised(request: Request, prompts: tuple[str, ...]) -> set[str]:
    """Which of these English prompts a request was made from: their longest fixed part is in it."""
    found = set()
    for name in prompts:
        fixed = re.split(r"\$\w+|^=== \w+\n", pack("en").prompt(name) or "", flags=re.MULTILINE)
        if max((piece.strip() for piece in fixed), key=len) in text_of(request):
            found.add(name)
    return found


@pytest.mark.parametrize("name", [name for name in PRESETS if name != DEFAULT])
async def test_a_preset_sends_its_prompts_and_no_others(
    make_world: Callable[..., Awaitable[World]], name: str
) -> None:
    """Every request of a session and a reply is one of its prompts, at temperature 0; every prompt
    is sent; the reply knows of the cat."""
    world = await make_world(
        settings=settings_of(name), text_tools=TextTools(analyser=word_analyser)
    )
    await digested(world, *DIGESTS[name])
    reply = await asked(world, *([CHOICES[name]] if name in CHOICES else []))
    assert world.iterator.answers == world.replier.answers  # both are used up
    assert [job.error for job in await world.memory.jobs("ana") if job.error] == []
    requests = [*world.iterator.requests, *world.replier.requests]
    names = [recognised(request, PRESETS[name].prompts) for request in requests]
    assert all(names)
    assert set().union(*names) == set(PRESETS[name].prompts) - SELDOM
    assert {request.temperature for request in requests} == {0.0}
    assert "Miso" in text_of(reply).replace(ASKED, "")
    assert len(world.iterator.requests) == len(DIGESTS[name]) + (name in CHOICES)


async def test_wang2023_shows_the_old_memory_and_the_whole_session(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """M_1 and both speakers' words go into the second prompt, with the limit of 20 sentences."""
    world = await make_world(settings=settings_of("wang2023"))
    await digested(world, MEMORY)
    await digested(world, MEMORY)
    first, second = (text_of(request) for request in world.iterator.requests)
    assert "Previous memory:\n(none)\n" in first
    assert f"Previous memory:\n{MEMORY.replace('. ', '.' + chr(10), 1)}" in second
    assert "at most 20 sentences" in second
    for _, said in SAID:
        assert said in second


async def test_wang2023_shows_the_memory_once(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """Each sentence stands in the reply's prompt exactly once, and so it does when search runs
    beside it."""
    for fields in ({}, {"mechanisms": ("summary", "bm25"), "repeated_sentences": 5}):
        world = await make_world(settings=settings_of("wang2023", **fields))
        await digested(world, MEMORY)
        prompt = text_of(await asked(world))
        for sentence in ("The user adopted a cat called Miso.", "The assistant once had a parrot."):
            assert prompt.count(sentence) == 1


LONG = " ".join(
    f"The user told the assistant at length about relative number {n}, who lives in a town far "
    f"away, keeps {n} bees and {n} goats, and writes a long letter about them every single week."
    for n in range(60)
)


async def test_wang2023_shows_all_of_a_long_memory(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """The paper has no limit but the window's; ours stays within its tokens."""
    world = await make_world(settings=settings_of("wang2023"))
    await digested(world, LONG)
    assert text_of(await asked(world)).count("relative number") == 60
    ours = await make_world(settings=settings_of("wang2023", memory_tokens=1600))
    await digested(ours, LONG)
    assert text_of(await asked(ours)).count("relative number") < 60


@pytest.mark.parametrize(("guards", "whole"), [("flag", True), ("refuse", False)])
async def test_a_papers_preset_does_not_cut_a_reply_that_loops(
    make_world: Callable[..., Awaitable[World]], guards: str, whole: bool
) -> None:
    """Guards flag there; ours ends the reply once it repeats itself."""
    loop = "I like rice cakes. " * 40
    world = await make_world(settings=settings_of("wang2023", guards=guards))
    world.replier.answers.append(loop)
    said = await (await world.memory.reply("ana", "What do you like?")).text()
    assert (said.strip() == loop.strip()) is whole


async def test_taniguchi2025_offers_every_memo_that_fits(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """The paper has no limit, so the choice is not made among the 64 best of a search."""
    settings = settings_of("taniguchi2025", compression_percent=100, window=8192)
    world = await make_world(settings=settings, text_tools=TextTools(analyser=word_analyser))
    for n in range(70):
        said = [Utterance(speaker=Speaker.USER, text=f"I saw cat number {n} in Oslo.", id=f"u{n}")]
        await world.memory.record("ana", said)
        memo = {"topic": f"cat {n}", "start": 1, "end": 1, "summary": f"Cat {n} was seen."}
        world.iterator.answers.append(json.dumps({"memos": [memo]}))
        await world.memory.end_session("ana")
        await world.memory.run_jobs()
        world.clock.advance(timedelta(days=1))
    await asked(world, '{"numbers": [0]}')
    assert "70. cat 69: Cat 69 was seen." in text_of(world.iterator.requests[-1])


BAD = {
    "an echo": "She sleeps on the piano all day long.",
    "unsupported": "The user owns three castles on the moon. The user is a king.",
    "another language": "用户养了一只叫味噌的猫，住在奥斯陆的旧公寓里。",
    "too many": " ".join(f"The user adopted cat number {n} called Miso." for n in range(30)),
}


@pytest.mark.parametrize("fault", BAD)
async def test_wang2023_takes_an_answer_as_it_is(
    make_world: Callable[..., Awaitable[World]], fault: str
) -> None:
    """One call, the words unchanged, and what the guards found is noted with the version."""
    world = await make_world(settings=settings_of("wang2023"))
    await digested(world, BAD[fault])
    memory = await world.memory.summary("ana")
    assert memory.number == 1
    assert "".join(memory.text.split()) == "".join(BAD[fault].split())
    assert any(note.startswith("flagged: ") for note in memory.notes)
    assert len(world.iterator.requests) == 1
    assert await world.memory.rejected("ana") == ()


async def test_ours_refuses_what_wang2023_flags(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """The same settings with guards that refuse ask three times and keep the old memory."""
    world = await make_world(settings=settings_of("wang2023", guards="refuse"))
    await digested(world, *(BAD["unsupported"],) * 3)
    assert (await world.memory.summary("ana")).number == 0
    assert len(world.iterator.requests) == 3


async def test_wang2023_keeps_the_old_memory_if_nothing_can_be_read(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """An empty answer is asked for once and changes nothing."""
    world = await make_world(settings=settings_of("wang2023"))
    await digested(world, MEMORY)
    await digested(world, "")
    assert (await world.memory.summary("ana")).number == 1
    assert len(world.iterator.requests) == 2
    (rejected,) = await world.memory.rejected("ana")
    assert rejected.problems


async def test_a_flag_quotes_nothing_that_was_said(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """A memory that drops what was known is taken; the note says so without the words."""
    world = await make_world(settings=settings_of("wang2023"))
    await digested(world, "The user adopted a cat called Miso. The user plays chess in Lima.")
    before = (await world.memory.summary("ana")).text
    assert "chess" in before
    await digested(world, "The user sleeps on the piano. The assistant likes the shelter in Oslo.")
    newest = await world.memory.summary("ana")
    assert newest.number == 2
    assert not any("chess" in note for note in newest.notes)


async def test_hou2024_has_persona_name_and_clock(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """The system message says who, to whom and when to the minute; the one recalled event comes
    with how long ago it was and its topics and keywords, and nothing else of the past."""
    settings = settings_of("hou2024", persona="a gardener", user_name="Ana")
    world = await make_world(settings=settings)
    other = {**EVENT, "text": "User adopted a cat called Miso from Oslo.", "topics": []}
    await digested(world, json.dumps({"events": [EVENT, other]}))
    world.clock.advance(timedelta(minutes=17))
    system, last = (await asked(world)).messages
    assert "a gardener" in system.content
    assert "You know Ana better than anyone" in system.content
    assert f"{world.clock.now():%Y-%m-%d, %H:%M}" in system.content
    assert "Miso" not in system.content
    lines = [line for line in last.content.splitlines() if line.startswith("- ")]
    assert len(lines) == 1
    assert "yesterday" in lines[0]
    assert "(pets, kitten)" in lines[0]


async def test_hou2024_takes_events_as_they_are_and_retires_none(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """An event that nobody told is kept and flagged, and one that a newer contradicts stays."""
    texts = ("User lives in Oslo with a cat.", "User is the queen of an island nobody knows.")
    listed = json.dumps({"events": [{**EVENT, "text": text} for text in texts]})
    world = await make_world(settings=settings_of("hou2024"))
    await digested(world, listed)
    kept = [event.text for event in await world.memory.events("ana")]
    assert texts[0] in kept
    (note,) = await world.memory.notes("ana", kind="flagged")
    assert note.text.startswith("flagged: ")
    await digested(world, json.dumps({"events": [{**EVENT, "text": "User moved to Bergen."}]}))
    assert all(event.superseded_by is None for event in await world.memory.events("ana"))
    assert len(world.iterator.requests) == 2


async def test_topics_and_keywords_count_in_an_events_relevance(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """With an embedder too: a word that only the keywords have makes the event more relevant."""
    found = {}
    for labels in (False, True):
        settings = settings_of(
            "hou2024", event_labels=labels, event_relevance="cosine", event_threshold=0.01
        )
        world = await make_world(settings=settings)
        await digested(world, EVENTS)
        (candidate,) = (await world.memory.explain("ana", "the kitten")).candidates
        assert candidate.by == "vector"
        found[labels] = candidate.relevance
    assert found[True] > found[False]


@pytest.mark.parametrize(("relevance", "found"), [("calibrated", 0), ("cosine", 1)])
async def test_relevance_may_be_the_bare_cosine(
    make_world: Callable[..., Awaitable[World]], relevance: str, found: int
) -> None:
    """An input that is the event itself has the relevance 1 of the paper, with any embedder; a
    calibrated one goes by words until there is a calibration."""
    settings = settings_of("hou2024", event_relevance=relevance, event_threshold=0.01)
    world = await make_world(settings=settings)
    await digested(world, EVENTS)
    (candidate,) = (await world.memory.explain("ana", ADOPTED)).candidates
    assert candidate.by == ("vector" if found else "words")
    if found:
        assert candidate.relevance == pytest.approx(1.0, abs=1e-5)


async def test_taniguchi2025_compresses_and_offers_noto(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """Function words are gone from the memo, the model sees NOTO and every memo, may take any
    number, and none if it says so."""
    settings = settings_of("taniguchi2025", compression_percent=100)
    world = await make_world(settings=settings, text_tools=TextTools(analyser=word_analyser))
    for _ in range(5):
        await digested(world, MEMOS)
    memos = await world.memory.memos("ana")
    assert {memo.method for memo in memos} == {"function words 100%"}
    assert all("the shelter" not in memo.compressed for memo in memos)
    assert all("shelter" in memo.compressed for memo in memos)
    reply = await asked(world, '{"numbers": [1, 2, 3, 4, 5]}')
    choice = text_of(world.iterator.requests[-1])
    assert "0. NOTO" in choice
    assert all(f"{n}. Miso the cat: A cat was adopted." in choice for n in range(1, 6))
    assert text_of(reply).count("A cat was adopted.") == 5
    await world.memory.end_session("ana")
    nothing = await asked(world, '{"numbers": [0]}')
    assert "A cat was adopted." not in text_of(nothing)


@pytest.mark.parametrize(
    ("compression", "percent", "method"),
    [
        ("function-words", 0, "function words 0%"),
        ("random", 25, "random 25%"),
        ("random", 100, "random 100%"),
        ("none", 25, "none"),
        ("budget", 50, "budget 50%"),
    ],
)
async def test_every_compression_and_rate_can_be_set(
    make_world: Callable[..., Awaitable[World]], compression: str, percent: int, method: str
) -> None:
    """Beside the paper's mechanism and ours; nothing is dropped at 0 %, everything at 100 %."""
    for mechanism in ("compressed-memos", "memos"):
        settings = settings_of(
            "taniguchi2025",
            mechanisms=(mechanism,),
            compression=compression,
            compression_percent=percent,
        )
        world = await make_world(settings=settings, text_tools=TextTools(analyser=word_analyser))
        await digested(world, MEMOS)
        (memo,) = await world.memory.memos("ana")
        assert memo.method == method
        if percent == 0 or compression == "none":
            assert memo.compressed.count("\n") == len(SAID) - 1
        if percent == 100:
            assert memo.compressed == ""


async def test_without_an_analyser_nothing_is_dropped_and_the_memo_says_what_to_install(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """By function words in any language, and by clauses in those written without spaces."""
    japanese = json.dumps(
        {"memos": [{"topic": "猫", "start": 1, "end": 2, "summary": "ユーザーは猫を飼っている。"}]}
    )
    said = ["猫を飼い始めました。名前は味噌です。", "ピアノの上で一日中寝ています。"]
    for preset, compression in (("taniguchi2025", "function-words"), ("taniguchi2025", "budget")):
        settings = settings_of(preset, compression=compression, compression_percent=75)
        world = await make_world(settings=settings)
        talk = [Utterance(speaker=Speaker.USER, text=text) for text in said]
        await world.memory.record("ana", talk)
        world.iterator.answers.append(japanese)
        await world.memory.end_session("ana")
        await world.memory.run_jobs()
        (memo,) = await world.memory.memos("ana")
        assert all(text in memo.compressed for text in said)
        assert memo.method.startswith("none: ")
        assert "pip install 'omoide[compress]'" in memo.method


async def test_an_impossible_rate_is_refused(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """With what was wanted and what came."""
    for fields, wanted in (
        ({"compression_percent": 101}, "between 0 and 100, not 101"),
        ({"compression": "zip"}, "no compression 'zip'"),
        ({"guards": "shout"}, "no guards 'shout'"),
    ):
        with pytest.raises(BadInput, match=wanted):
            await make_world(settings=settings_of("taniguchi2025", **fields))


@pytest.mark.parametrize("name", ["taniguchi2025", "memochat"])
async def test_the_part_of_a_session_that_has_memos_leaves_the_prompt(
    make_world: Callable[..., Awaitable[World]], name: str
) -> None:
    """The prompt has the last turns and the chosen memo instead of all that was said."""
    world = await make_world(
        settings=settings_of(name, idle=600), text_tools=TextTools(analyser=word_analyser)
    )
    for n in range(0, 24, 2):
        await world.memory.record(
            "ana",
            [
                Utterance(speaker=who, text=f"Train number {i} leaves platform {i} at noon.")
                for who, i in ((Speaker.USER, n), (Speaker.ASSISTANT, n + 1))
            ],
        )
    spans = [(1, 11), (1, 11)]
    for first, last in spans:
        memo = {"topic": "Trains", "start": first, "end": last, "summary": "Trains were listed."}
        world.iterator.answers.append(json.dumps({"memos": [memo]}))
    await world.memory.run_jobs()
    reply = await asked(world, '{"numbers": [0]}', text="Which one is next?")
    said = [m.content for m in reply.messages if m.role != "system"]
    assert said == [
        "Train number 22 leaves platform 22 at noon.",
        "Train number 23 leaves platform 23 at noon.",
        "Which one is next?",
    ]


async def test_ours_keeps_the_whole_session_in_the_prompt(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """`memos` recalls what no longer fits, and drops nothing that does."""
    settings = settings_of("taniguchi2025", mechanisms=("memos",))
    world = await make_world(settings=settings, text_tools=TextTools(analyser=word_analyser))
    talk = [Utterance(speaker=who, text=text) for who, text in SAID]
    await world.memory.record("ana", talk)
    reply = await asked(world)
    assert [m.content for m in reply.messages if m.role != "system"][:4] == [s for _, s in SAID]


async def test_generative_agents_asks_the_model_for_importance(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """The rating is the model's, and recall says so."""
    world = await make_world(settings=settings_of("generative-agents"))
    await digested(world, EVENTS, json.dumps({"ratings": [9]}))
    (note,) = await world.memory.notes("ana", kind="importance")
    assert note.text == "9"
    exchange = await world.memory.begin("ana", ASKED)
    (item,) = [c for c in exchange.why if c.kind is MemoryKind.EVENT]
    assert "importance 9" in item.why


async def test_memorybank_takes_a_summary_as_it_is(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """Four calls a session, none repeated, even if one is copied from the dialogue."""
    copied = "She sleeps on the piano all day long."
    world = await make_world(settings=settings_of("memorybank"))
    await digested(world, copied, PORTRAIT, DAY, PORTRAIT)
    (day,) = await world.memory.notes("ana", kind="bank-day")
    assert day.text == copied
    assert len(world.iterator.requests) == 4
    (flagged,) = await world.memory.notes("ana", kind="flagged")
    assert "memory-bank" in flagged.key


async def test_memory_says_which_preset_is_on(
    make_world: Callable[..., Awaitable[World]],
) -> None:
    """By its name, also where a setting was changed beside it."""
    world = await make_world(settings=replace(settings_of("hou2024"), event_items=2))
    assert world.memory.about.preset == "hou2024"
    assert (await make_world()).memory.about.preset == "omoide"
