"""`omoide tune pairs` and `omoide tune retriever`, in small."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from omoide.cli.main import cli
from omoide_tune.retrieval import pairs

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


def run(*arguments: object) -> Result:
    """One command."""
    return CliRunner().invoke(cli, ["--json", "tune", *map(str, arguments)])


def test_pairs_are_made_checked_and_described(tmp_path: Path) -> None:
    """A trial run asks about turns, keeps what finds its turn again, and writes a card."""
    out = tmp_path / "work"
    done = run("pairs", out, "--data", tmp_path, "--tiny")
    assert done.exit_code == 0, done.output
    counts = json.loads(done.stdout)
    assert 0 < counts["kept"] <= 1.05 * counts["questions"]
    made = pairs.read(out / "pairs.jsonl")
    card = json.loads((out / "card.json").read_text("utf-8"))
    assert len(made) == counts["kept"] == card["kept"] + card["unanswered"]
    assert {entry["licence"] for entry in card["sources"]} == {"Apache-2.0"}
    assert all(pair.negatives for pair in made if pair.turn)


def test_a_retriever_needs_an_encoder(tmp_path: Path) -> None:
    """Without an encoder to tune it is said what to do."""
    words = tmp_path / "tokenizer.json"
    words.write_text("{}", "utf-8")
    done = run("retriever", tmp_path, "--name", "mine", "--tokenizer", words)
    assert done.exit_code != 0
    assert "--base" in done.output


def test_a_retriever_is_tuned_on_the_pairs(tmp_path: Path) -> None:
    """A trial run trains a small random network on the pairs and writes it in int8."""
    for needed in ("torch", "transformers", "onnx", "onnxruntime"):
        pytest.importorskip(needed)
    words = tmp_path / "tokenizer.json"
    tokens = {"[PAD]": 0, "[UNK]": 1, "[SEP]": 2}
    model = {"type": "WordLevel", "vocab": tokens, "unk_token": "[UNK]"}
    words.write_text(
        json.dumps({"version": "1.0", "added_tokens": [], "model": model,
                    "pre_tokenizer": {"type": "Whitespace"}}), "utf-8"
    )  # fmt: skip
    assert run("pairs", tmp_path, "--data", tmp_path, "--tiny").exit_code == 0
    done = run("retriever", tmp_path, "--name", "mine", "--tokenizer", words, "--tiny")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["bytes"] == (tmp_path / "mine.int8.onnx").stat().st_size
