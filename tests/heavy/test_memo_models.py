"""Memos by real models: the smallest one writes nonsense, and nothing is lost."""

from __future__ import annotations

import struct
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import pytest

from omoide.adapters.analysers.gguf_tokens import GgufTokens
from omoide.adapters.models.embedded import EmbeddedChat
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import NewTurn, Owner, Speaker
from omoide.engine import complete
from omoide.errors import ModelUnavailable
from omoide.mechanisms.base import ReplyRequest, SessionToDigest
from omoide.mechanisms.memos.compression_budget import BudgetCompressor
from omoide.mechanisms.memos.mechanism import CompressedMemos
from omoide.mechanisms.memos.search import MemoChoice, MemoSearch
from omoide.mechanisms.memos.writer import MemoWriter
from tests.tiny import CACHE, tiny_model

if TYPE_CHECKING:
    from pathlib import Path

OWNER = Owner(tenant="t", user="u")
NOW = datetime(2026, 1, 5, tzinfo=UTC)
SAID = (
    "I adopted a cat called Miso.",
    "How sweet! Is she settling in?",
    "She sleeps on my laptop.",
    "Cats love warm places.",
)


@pytest.mark.model
async def test_the_tiniest_model_loses_nothing() -> None:
    """A model of 135 M parameters cannot write memos; every turn is in one all the same, is found
    by its words, and a choice is made or search makes it."""
    pytest.importorskip("xllamacpp")
    model = EmbeddedChat(tiny_model(), window=2048, slots=1, threads=1)
    store = await SqliteStore.open(":memory:")
    said = [
        NewTurn(
            speaker=Speaker.ASSISTANT if i % 2 else Speaker.USER,
            text=text,
            time=NOW + timedelta(seconds=i),
            id=f"t{i}",
            language="en",
        )
        for i, text in enumerate(SAID)
    ]
    await store.turns.append(OWNER, said, session=None, idle=timedelta(days=1))
    (session,) = await store.turns.end(OWNER, at=NOW + timedelta(hours=1))
    turns = await store.turns.read(OWNER)
    ask = partial(complete, model)
    search = MemoSearch(store=store, embedder=None, least=0.1)
    mechanism = CompressedMemos(
        store=store,
        writer=MemoWriter(model=model),
        compressor=BudgetCompressor(share=0.25),
        retrieval=MemoChoice(store=store, model=model, asker=lambda _: ask, otherwise=search),
    )
    try:
        await mechanism.digest(
            SessionToDigest(owner=OWNER, session=session, turns=turns, language="en", ask=ask)
        )
        memos = await store.memos.read(OWNER)
        assert [name for memo in memos for name in memo.sources] == [turn.id for turn in turns]
        request = ReplyRequest(
            owner=OWNER,
            text="How is Miso, the cat on my laptop?",
            session=(),
            now=NOW + timedelta(days=9),
            language="en",
        )
        assert await search(request, mechanism="memos", k=3)
        assert len(await mechanism.contribute(request)) <= 3
    finally:
        await model.close()
        await store.close()


@pytest.mark.model
@pytest.mark.parametrize(
    "text",
    [
        "Hello world, it's 2024!\n\nWe'll see…",
        "昨日は東京で友達に会いませんでした。🎉",
        "Hôm qua tôi không gặp bạn ở Hà Nội.",
        "저는 지난주에 서울에서 친구를 만났어요.",
        "我在北京大学读书，3月到5月很忙。",
    ],
)
async def test_a_gguf_files_tokens_are_those_of_the_model(text: str) -> None:
    """Read from the file's head they are as many as the loaded model counts, and join again."""
    pytest.importorskip("xllamacpp")
    pytest.importorskip("tokenizers")
    file = CACHE / "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
    if not file.exists():
        pytest.skip(f"no {file.name} in {CACHE}: run `omoide models pull small`")
    tokens = GgufTokens(file)
    assert "".join(await tokens.pieces(text)) == text
    model = EmbeddedChat(file, window=256, slots=1, threads=1)
    try:
        assert tokens.count(text) == await model.count(text)
    finally:
        await model.close()


async def test_a_file_without_tokens_is_named(tmp_path: Path) -> None:
    """The error says which file and what it is not."""
    pytest.importorskip("tokenizers")
    (tmp_path / "x.gguf").write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 0) + b"\0")
    with pytest.raises(ModelUnavailable, match="tokenizer of kind None"):
        await GgufTokens(tmp_path / "x.gguf").pieces("a")
    (tmp_path / "y.gguf").write_bytes(b"GG")
    with pytest.raises(ModelUnavailable, match="GGUF"):
        await GgufTokens(tmp_path / "y.gguf").pieces("a")
