"""Memos over a very long acquaintance."""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import NewTurn, Owner, Speaker
from omoide.engine import complete
from omoide.mechanisms.base import ReplyRequest, SessionToDigest
from omoide.mechanisms.memos.compression_budget import BudgetCompressor
from omoide.mechanisms.memos.mechanism import CompressedMemos
from omoide.mechanisms.memos.search import MemoSearch
from omoide.mechanisms.memos.upkeep import MemoLimits, MemoUpkeep
from omoide.mechanisms.memos.writer import MemoWriter
from omoide.testing import ScriptedModel

if TYPE_CHECKING:
    from omoide.ports import Request

OWNER = Owner(tenant="t", user="u")
NOW = datetime(2026, 1, 5, tzinfo=UTC)
SUBJECTS = [
    f"{a}{b}" for a in ("bal", "cor", "dun", "fel", "gim") for b in ("ta", "ro", "vik", "na")
]


def answer(request: Request) -> str:
    """Two memos, about whatever the first and the fifth line are about."""
    lines = [
        line.split(" ", 2)[2]
        for line in request.messages[-1].content.splitlines()
        if line[:1].isdigit()
    ]
    told = []
    for start in (1, 5):
        number, day, topic = re.findall(
            r"Number (\d+) on day (\d+) was about (\w+)", lines[start - 1]
        )[0]
        told.append(
            f'{{"topic": "{topic}", "start": {start}, "end": {start + 3}, '
            f'"summary": "The User spoke of {topic}, with {number}, on {day}."}}'
        )
    return f'{{"memos": [{", ".join(told)}]}}'


async def test_over_five_hundred_sessions_memos_stay_bounded() -> None:
    """A thousand memos are written; at most 64 are ever unfolded, what is contributed stays as
    small as ever, every turn is still a source of an unfolded memo, and none is deleted."""
    store = await SqliteStore.open(":memory:")
    dice = random.Random(7)
    model = ScriptedModel([answer] * 500)
    bounds = MemoLimits()
    mechanism = CompressedMemos(
        store=store,
        writer=MemoWriter(model=model),
        compressor=BudgetCompressor(share=0.5),
        retrieval=MemoSearch(store=store, embedder=None, least=0.1),
        upkeep=MemoUpkeep(store=store, embedder=None, bounds=bounds),
    )
    most, sizes = 0, list[int]()
    for n in range(1, 501):
        at = NOW + timedelta(days=n)
        subjects = dice.choices(SUBJECTS, k=2)
        said = [
            NewTurn(
                speaker=Speaker.ASSISTANT if i % 2 else Speaker.USER,
                text=f"Number {dice.randrange(10**6)} on day {n} was about {subjects[i // 4]}.",
                time=at + timedelta(seconds=i),
                id=f"{n}.{i}",
                language="en",
            )
            for i in range(8)
        ]
        await store.turns.append(OWNER, said, session=f"s{n}", idle=timedelta(days=1))
        (session,) = await store.turns.end(OWNER, at=at + timedelta(minutes=5), digest=False)
        turns = await store.turns.read(OWNER, session=session.number)
        ended = SessionToDigest(
            owner=OWNER, session=session, turns=turns, language="en", ask=partial(complete, model)
        )
        await mechanism.digest(ended)
        if n % 25 == 0:
            unfolded = [m for m in await store.memos.read(OWNER) if m.folded_into is None]
            most = max(most, len(unfolded))
            request = ReplyRequest(
                owner=OWNER,
                text=f"What about {SUBJECTS[0]}?",
                session=(),
                now=at + timedelta(hours=1),
                language="en",
            )
            given = await mechanism.contribute(request)
            sizes.append(sum(one.tokens for one in given))
    memos = await store.memos.read(OWNER)
    unfolded = [m for m in memos if m.folded_into is None]
    assert most <= bounds.memos
    assert sum(1 for m in memos if not m.method.startswith("merged")) == 1000
    assert {name for m in unfolded for name in m.sources} == {
        f"{n}.{i}" for n in range(1, 501) for i in range(8)
    }
    assert max(sizes) <= 3 * (bounds.tokens + bounds.sentences * 40 + 40)
    assert max(sizes[-5:]) <= 1.5 * max(sizes[:10])
    await store.close()
