"""Embedders in this process: what they know, what they need, how they are fetched."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omoide.adapters.embedders import embedder_named
from omoide.adapters.embedders.onnx import GTE_SMALL, MINILM, OnnxEmbedder
from omoide.adapters.embedders.onnx_tokens import OnnxTokens
from omoide.adapters.embedders.rows import pieces
from omoide.adapters.embedders.use_multilingual import UseMultilingual
from omoide.adapters.models.download import Cache
from omoide.errors import DownloadFailed, MissingExtra, ModelUnavailable
from omoide.settings import Settings
from omoide_bench.metrics import encoded_scores
from tests.contract.test_embedder import multilingual, onnx
from tests.integration.test_models_download import leftovers
from tests.tiny import CACHE

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.adapters.embedders.onnx import OnnxModel


@pytest.mark.parametrize(
    ("question", "near", "far"),
    [
        ("Do I have a pet?", "I adopted a small cat.", "The train leaves at nine."),
        ("我有宠物吗？", "我养了一只猫。", "火车九点出发。"),
        ("ペットを飼っていますか？", "猫を飼い始めました。", "電車は九時に出ます。"),
        ("애완동물이 있나요?", "고양이를 키우기 시작했어요.", "기차는 아홉 시에 출발해요."),
    ],
)
async def test_the_default_embedder_knows_its_languages(question: str, near: str, far: str) -> None:
    """In English, Chinese, Japanese and Korean the sentence that answers is the nearer one."""
    embedder = multilingual()
    asked, answering, other = await embedder.embed([question, near, far])
    assert asked @ answering > asked @ other
    await embedder.close()


@pytest.mark.model
@pytest.mark.parametrize("model", [MINILM, GTE_SMALL], ids=lambda m: m.space.name)
async def test_the_english_embedders_know_english(model: OnnxModel) -> None:
    """The sentence that answers is the nearer one, and the end of a long text still counts."""
    embedder = onnx(model)
    asked, near, far, long = await embedder.embed(
        [
            "Do I have a pet?",
            "I adopted a small cat.",
            "The train leaves at nine.",
            "The train leaves at nine. " * 50 + "I adopted a small cat. " * 50,
        ]
    )
    assert asked @ near > asked @ far
    assert asked @ long > asked @ far
    await embedder.close()


@pytest.mark.model
async def test_token_vectors_score_as_the_library_does() -> None:
    """The same figures to four places as bert-score 0.3.12 gave over gte-small's weights, put into
    a transformers BERT (layer 12): recorded, as the library brings torch."""
    await onnx(GTE_SMALL).close()  # skips where its files are not there
    encoder = OnnxTokens(GTE_SMALL, cache=Cache(CACHE, offline=True))
    replies = ["I sold ten jars of honey at the market today.", "My tram broke down again."]
    gold = ["Today I sold honey at the market.", "I walked home because of my tram."]
    found = await encoded_scores(encoder, replies, gold)
    assert "gte-small" in found.encoder
    assert [score.precision for score in found.scores] == pytest.approx(
        [0.948994, 0.880425], abs=1e-4
    )
    assert [score.recall for score in found.scores] == pytest.approx([0.981085, 0.873999], abs=1e-4)
    await encoder.close()
    with pytest.raises(ModelUnavailable):
        await encoder.encode(["closed"])


async def test_without_onnxruntime_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is fetched before it is known that it could be used."""
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    embedder = OnnxEmbedder(MINILM, cache=Cache(tmp_path))
    with pytest.raises(MissingExtra, match=r'pip install "omoide\[onnx\]"'):
        await embedder.embed(["a"])
    assert leftovers(tmp_path) == set()


async def test_offline_without_files_is_an_error(tmp_path: Path) -> None:
    """The error says where the file should lie."""
    pytest.importorskip("onnxruntime")
    embedder = OnnxEmbedder(MINILM, cache=Cache(tmp_path, offline=True))
    with pytest.raises(DownloadFailed, match=r"model\.onnx is missing"):
        await embedder.embed(["a"])


async def test_a_closed_embedder_says_so(tmp_path: Path) -> None:
    """Embedding after closing is told in our words."""
    for embedder in (UseMultilingual(), OnnxEmbedder(MINILM, cache=Cache(tmp_path))):
        await embedder.close()
        with pytest.raises(ModelUnavailable, match="closed"):
            await embedder.embed(["a"])


async def test_a_long_text_is_the_mean_of_its_pieces() -> None:
    """A text twice over means what it meant once."""
    embedder = multilingual()
    once = "I adopted a small cat and we went to the sea together. " * 18
    vectors = await embedder.embed([once, once * 5])
    assert float(vectors[0] @ vectors[1]) > 0.98
    assert np.isfinite(vectors).all()
    await embedder.close()


@pytest.mark.parametrize("text", ["", "short", "word " * 1000, "长" * 2500, " " * 2500])
def test_pieces_make_up_the_text(text: str) -> None:
    """Nothing is lost or doubled, none is too long."""
    cut = list(pieces(text, max_chars=100))
    assert "".join(cut) == text
    assert all(len(piece) <= 100 for piece in cut)


async def test_our_own_encoder_comes_with_the_weights(tmp_path: Path) -> None:
    """It needs no download, and a question lies nearer to its answer than to small talk."""
    pytest.importorskip("onnxruntime")
    embedder = embedder_named(
        Settings(embedder="gte-small-memory", weights_dir=tmp_path, offline=True)
    )
    assert embedder is not None
    asked, answer, other = await embedder.embed(
        ["What pet does she have?", "I adopted a small cat called Miso.", "See you tomorrow then!"]
    )
    assert asked @ answer > asked @ other
    assert embedder.space.name == "gte-small-memory"
    await embedder.close()
