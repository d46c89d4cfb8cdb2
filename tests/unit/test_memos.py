"""The mechanism: memos written once, found by what they say, chosen by a model or by search."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import MemoryKind, NewTurn, Owner, Speaker
from omoide.engine import complete
from omoide.errors import ModelStalled, ModelUnavailable
from omoide.mechanisms.base import PromptPlace, ReplyRequest, SessionToDigest
from omoide.mechanisms.memos.compression import NoCompression
from omoide.mechanisms.memos.compression_budget import BudgetCompressor
from omoide.mechanisms.memos.mechanism import CompressedMemos, MemoChat, MemoTrigger
from omoide.mechanisms.memos.search import MemoChoice, MemoSearch
from omoide.mechanisms.memos.writer import MemoWriter
from omoide.testing import HashEmbedder, ScriptedModel

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from omoide.ports import Store
    from omoide.testing import Answer

OWNER = Owner(tenant="t", user="u")
NOW = datetime(2026, 1, 5, tzinfo=UTC)
CAT = (
    "I adopted a cat called Miso last week.",
    "How sweet! Is she settling in?",
    "She sleeps on my laptop all day.",
    "Cats love warm places.",
)
JOB = (
    "On Friday I start as a nurse in Oslo.",
    "Congratulations! Which hospital?",
    "Ullevål, in the children's ward.",
    "They are lucky to have you.",
)


def memos_of(*stretches: tuple[str, int, int, str]) -> str:
    """A model's answer."""
    keys = ("topic", "start", "end", "summary")
    return json.dumps({"memos": [dict(zip(keys, one, strict=True)) for one in stretches]})


BOTH = memos_of(
    ("Miso the cat", 1, 4, "The User adopted a cat, Miso, who sleeps on the laptop."),
    ("Nursing job in Oslo", 5, 8, "The User starts on Friday as a nurse at Ullevål in Oslo."),
)


class World:
    """A store, models, and both mechanisms on them."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.writer = ScriptedModel(name="writer")
        self.chooser = ScriptedModel(name="chooser")
        self.search = MemoSearch(store=store, embedder=None, least=0.2)
        self.choice = MemoChoice(
            store=store,
            model=self.chooser,
            asker=lambda _: partial(complete, self.chooser),
            otherwise=self.search,
        )
        self.memos = CompressedMemos(
            store=store,
            writer=MemoWriter(model=self.writer),
            compressor=BudgetCompressor(share=0.5),
            retrieval=self.search,
        )
        self.memochat = MemoChat(
            store=store, writer=MemoWriter(model=self.writer), choice=self.choice
        )

    async def said(self, *texts: str, day: int = 0, ended: bool = True) -> SessionToDigest:
        """A session of these turns."""
        at = NOW + timedelta(days=day)
        said = [
            NewTurn(
                speaker=Speaker.ASSISTANT if i % 2 else Speaker.USER,
                text=text,
                time=at + timedelta(seconds=i),
                id=f"d{day}t{i}",
                language="en",
            )
            for i, text in enumerate(texts)
        ]
        await self.store.turns.append(OWNER, said, session=f"s{day}", idle=timedelta(days=1))
        if ended:
            await self.store.turns.end(OWNER, at=at + timedelta(hours=1))
        session = (await self.store.turns.sessions(OWNER))[-1]
        turns = await self.store.turns.read(OWNER, session=session.number)
        return SessionToDigest(
            owner=OWNER,
            session=session,
            turns=turns,
            language="en",
            ask=partial(complete, self.writer),
        )

    def request(self, text: str, *, day: int = 30) -> ReplyRequest:
        """The user says something later."""
        return ReplyRequest(
            owner=OWNER, text=text, session=(), now=NOW + timedelta(days=day), language="en"
        )


@pytest.fixture
async def world() -> AsyncIterator[World]:
    """On a database in memory."""
    store = await SqliteStore.open(":memory:")
    yield World(store)
    await store.close()


async def test_a_session_becomes_compressed_memos_with_their_sources(world: World) -> None:
    """Topic, summary and compressed dialogue are stored, and the turns say it in full."""
    ended = await world.said(*CAT, *JOB)
    world.writer.answers.append(BOTH)
    await world.memos.digest(ended)
    cat, job = await world.store.memos.read(OWNER)
    assert (cat.topic, job.topic) == ("Miso the cat", "Nursing job in Oslo")
    assert cat.sources == tuple(f"d0t{i}" for i in range(4))
    assert cat.method == "budget 50%"
    assert cat.compressed
    assert len(cat.compressed) < sum(map(len, CAT))
    original = await world.store.turns.read(OWNER, ids=cat.sources)
    assert tuple(turn.text for turn in original) == CAT


async def test_digesting_again_does_nothing(world: World) -> None:
    """After a crash the job may be run again; the model is not asked a second time."""
    ended = await world.said(*CAT, *JOB)
    world.writer.answers.append(BOTH)
    await world.memos.digest(ended)
    before = await world.store.memos.read(OWNER)
    await world.memos.digest(ended)
    assert await world.store.memos.read(OWNER) == before


async def test_related_memos_are_contributed_with_topic_date_and_dialogue(world: World) -> None:
    """The memo on the topic comes, the other does not."""
    world.writer.answers.append(BOTH)
    await world.memos.digest(await world.said(*CAT, *JOB))
    (found,) = await world.memos.contribute(world.request("Guess what Miso the cat did?"))
    assert found.kind is MemoryKind.MEMO
    assert found.place is PromptPlace.RECALLED
    told = r"2026-01-05 \([^)]+\) Miso the cat: The User adopted a cat, Miso"
    assert re.match(told, found.text)
    assert "User: " in found.text
    assert found.sources == tuple(f"d0t{i}" for i in range(4))
    assert 0 < found.value <= 1
    asked = world.request("Guess what Miso the cat did?")
    behind = replace(asked, now=asked.now.astimezone(ZoneInfo("Pacific/Honolulu")))
    (found,) = await world.memos.contribute(behind)
    assert found.text.startswith("2026-01-04 ")


async def test_noto_nothing_comes_for_an_unrelated_input(world: World) -> None:
    """Search has its "none of these", too."""
    world.writer.answers.append(BOTH)
    await world.memos.digest(await world.said(*CAT, *JOB))
    assert await world.memos.contribute(world.request("Do planes fly over Mars?")) == ()


async def test_a_memo_whose_turns_stand_in_the_prompt_is_not_repeated(world: World) -> None:
    """While its session goes on in full, it adds nothing."""
    ended = await world.said(*CAT, *JOB)
    world.writer.answers.append(BOTH)
    await world.memos.digest(ended)
    request = ReplyRequest(
        owner=OWNER, text="Miso the cat!", session=ended.turns, now=NOW, language="en"
    )
    assert await world.memos.contribute(request) == ()


async def test_a_dialogue_without_a_readable_memo_is_still_found(world: World) -> None:
    """MemoChat loses it; here its own words find it, and the answers lie aside."""
    world.writer.answers.extend(["Sorry!", "{'memos': ", ""])
    await world.memos.digest(await world.said(*CAT, *JOB))
    (memo,) = await world.store.memos.read(OWNER)
    assert not memo.whole
    (found,) = await world.memos.contribute(world.request("How is Miso, the cat?"))
    assert "Miso" in found.text
    assert [one.text for one in await world.store.summaries.rejected(OWNER)] == [
        "Sorry!",
        "{'memos': ",
        "",
    ]


@pytest.mark.parametrize("error", [ModelUnavailable("HTTP 500"), ModelStalled("no answer")])
async def test_a_model_that_fails_loses_nothing(world: World, error: Exception) -> None:
    """Nothing is stored by halves; the next try writes all of it."""
    ended = await world.said(*CAT, *JOB)
    world.writer.answers.extend([error, BOTH])
    with pytest.raises(type(error)):
        await world.memos.digest(ended)
    assert await world.store.memos.read(OWNER) == ()
    await world.memos.digest(ended)
    assert len(await world.store.memos.read(OWNER)) == 2


async def test_a_long_dialogue_is_written_while_it_goes_on(world: World) -> None:
    """MemoChat: at the trigger the recent dialogue shrinks to the last two utterances, and the
    end of the session adds only what is left."""
    world.memochat = MemoChat(
        store=world.store,
        writer=MemoWriter(model=world.writer),
        choice=world.choice,
        trigger=MemoTrigger(turns=8),
    )
    short = await world.said(*CAT, ended=False)
    assert await world.memochat.digest_open(short) == short.turns
    going = await world.said(*CAT, *JOB, ended=False)
    world.writer.answers.append(memos_of(("Miso the cat", 1, 6, "The User adopted a cat, Miso.")))
    recent = await world.memochat.digest_open(going)
    assert [turn.text for turn in recent] == list(JOB[-2:])
    (memo,) = await world.store.memos.read(OWNER)
    assert len(memo.sources) == 6
    assert memo.method == NoCompression.name
    assert [turn.text for turn in await world.memochat.digest_open(going)] == list(JOB[-2:])
    world.writer.answers.append(memos_of(("The ward", 1, 2, "The User works with children.")))
    await world.memochat.digest(going)
    assert [len(m.sources) for m in await world.store.memos.read(OWNER)] == [6, 2]


async def test_length_triggers_as_well_as_count(world: World) -> None:
    """A few very long turns are enough."""
    turns = (await world.said(*(text * 40 for text in CAT))).turns
    assert MemoTrigger(turns=100, tokens=500).due(turns)
    assert not MemoTrigger(turns=100, tokens=50_000).due(turns)
    assert not MemoTrigger(turns=1, tokens=1).due(turns[:2])


async def test_memochat_lets_a_model_choose(world: World) -> None:
    """It sees numbered topics and summaries and NOTO, and its choice comes uncompressed."""
    world.writer.answers.append(BOTH)
    await world.memochat.digest(await world.said(*CAT, *JOB))
    world.chooser.answers.append('{"numbers": [2]}')
    (found,) = await world.memochat.contribute(world.request("I am tired from work."))
    assert "User: On Friday I start as a nurse in Oslo." in found.text
    assert found.why == "chosen by chooser"
    asked = world.chooser.requests[0].messages[-1].content
    assert "0. NOTO" in asked
    assert "1. Miso the cat: The User adopted a cat" in asked
    assert "2. Nursing job in Oslo" in asked
    assert "I am tired from work." in asked


@pytest.mark.parametrize("answer", ["NOTO", '{"numbers": [0]}'])
async def test_the_model_may_choose_none(world: World, answer: str) -> None:
    """NOTO is an answer, not a failure."""
    world.writer.answers.append(BOTH)
    await world.memochat.digest(await world.said(*CAT, *JOB))
    world.chooser.answers.append(answer)
    assert await world.memochat.contribute(world.request("How is Miso the cat?")) == ()


@pytest.mark.parametrize("answer", ["I like cats.", "", "77", ModelUnavailable("HTTP 500")])
async def test_a_choice_that_cannot_be_read_falls_back_to_search(
    world: World, answer: Answer
) -> None:
    """Search finds what the model could not name."""
    world.writer.answers.append(BOTH)
    await world.memochat.digest(await world.said(*CAT, *JOB))
    world.chooser.answers.append(answer)
    (found,) = await world.memochat.contribute(world.request("How is Miso the cat?"))
    assert "Miso" in found.text
    assert found.why.startswith("likeness")


async def test_without_memos_no_model_is_asked(world: World) -> None:
    """There is nothing to choose from."""
    assert await world.memochat.contribute(world.request("Hello")) == ()
    assert world.chooser.requests == []


async def test_two_mechanisms_on_one_store_keep_to_their_own(world: World) -> None:
    """Each writes and finds its own memos."""
    ended = await world.said(*CAT, *JOB)
    world.writer.answers.extend([BOTH, BOTH])
    await world.memos.digest(ended)
    await world.memochat.digest(ended)
    assert len(await world.store.memos.read(OWNER)) == 4
    (found,) = await world.memos.contribute(world.request("Guess what Miso the cat did?"))
    assert found.id.startswith("memos-")


async def test_vectors_find_memos_too(world: World) -> None:
    """With an embedder that was not measured, ranks are fused and words decide on NOTO."""
    embedder = HashEmbedder()
    world.writer.answers.append(BOTH)
    await world.memos.digest(await world.said(*CAT, *JOB))
    texts = await world.store.index.without_vector(
        OWNER, embedder.space, limit=9, kind=MemoryKind.MEMO
    )
    vectors = await embedder.embed([text.text for text in texts])
    await world.store.index.put(
        OWNER,
        embedder.space,
        ids=[text.id for text in texts],
        vectors=vectors,
        kind=MemoryKind.MEMO,
    )
    search = MemoSearch(store=world.store, embedder=embedder, least=0.2)
    found = await search(world.request("nurse in Oslo"), mechanism="memos", k=1)
    assert [one.memo.topic for one in found] == ["Nursing job in Oslo"]


async def test_memos_written_later_do_not_come_to_an_earlier_moment(world: World) -> None:
    """`at=` replays history as it was."""
    world.writer.answers.append(BOTH)
    await world.memos.digest(await world.said(*CAT, *JOB))
    assert await world.memos.contribute(world.request("Miso the cat", day=-1)) == ()
