"""Measuring evidence recall: the loader, the shares, the intervals."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from omoide.errors import BadInput
from omoide.mechanisms.search import EvidenceWeights
from omoide_bench import evidence
from omoide_bench.corpora.locomo import load
from omoide_bench.statistics import estimate

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.conftest import World

RECORD = {
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Ann",
        "speaker_b": "Bo",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "I bought a kayak."},
            {"speaker": "Bo", "dia_id": "D1:2", "text": "Nice!", "blip_caption": "a lake"},
        ],
        "session_2_date_time": "10:04 am on 9 June, 2023",
        "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "I adopted a parrot."}],
    },
    "qa": [
        {"question": "Which kayak did Ann buy?", "evidence": ["D1:1"], "category": 4},
        {"question": "Which pets?", "evidence": ["D2:1; D9:9"], "category": 1},
        {"question": "Evidence is missing?", "evidence": ["D9:9"], "category": 2},
        {"question": "What did Bo buy?", "evidence": ["D1:1"], "category": 5},
    ],
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with one small conversation in LoCoMo's form."""
    with gzip.open(tmp_path / "locomo10.json.gz", "wt") as file:
        json.dump([RECORD], file)
    return tmp_path


def test_load(data: Path) -> None:
    """Turns, captions, times and evidence are read; questions without evidence are left out."""
    [conversation] = load(data)
    assert [line.id for line in conversation.lines] == ["D1:1", "D1:2", "D2:1"]
    assert conversation.lines[1].text == "Nice! [shares a lake]"
    assert f"{conversation.lines[0].time:%Y-%m-%d %H:%M}" == "2023-05-08 13:56"
    assert [(q.category, set(q.evidence)) for q in conversation.questions] == [
        (4, {"D1:1"}),
        (1, {"D2:1"}),
    ]
    assert conversation.questions[0].at.date().isoformat() == "2023-06-10"
    assert [q.text for q in conversation.unanswerable] == ["What did Bo buy?"]
    with pytest.raises(BadInput, match="locomo10"):
        load(data / "elsewhere")


async def test_measure(data: Path, world: World) -> None:
    """What is recorded, embedded and asked by the verbs of memory is scored and summarised."""
    rankers = {
        "recall": evidence.product(world.memory),
        "words": evidence.plain_words(world.store, tenant=world.memory.tenant),
        "fusion": evidence.rank_fusion(world.store, None, tenant=world.memory.tenant),
    }
    seen = []
    outcomes = await evidence.measure(
        world.memory, load(data), rankers, progress=lambda *at: seen.append(at)
    )
    assert len(outcomes) == 6
    lines = {(line.ranker, line.questions): line for line in evidence.summarise(outcomes)}
    assert lines["recall", "all"].recall[5].mean == 1
    assert lines["recall", "4 single-hop"].recall[5].count == 1
    assert ("recall", "3 open") not in lines
    assert seen[-1][:2] == (5, 5)
    recorded = await world.memory.turns("conv-1")
    assert [turn.name for turn in recorded] == ["Ann", "Bo", "Bo"]


def test_halves(data: Path) -> None:
    """The first five conversations are those that weights were fitted on."""
    many = load(data) * 7
    assert len(evidence.half(many, "tune")) == 5
    assert len(evidence.half(many, "held-out")) == 2
    assert len(evidence.half(many, "all")) == 7


def test_ablations_leave_one_out() -> None:
    """Each ablation differs from the full weights, and the last step is all but one kind."""
    found = evidence.ablations(EvidenceWeights())
    assert len(found) == 14
    assert found["without words"].words == 0
    assert found["words + meaning"].near_words == 0
    assert found["+ when"] == found["without question"]


def test_intervals() -> None:
    """The interval holds the mean, narrows with more questions, and is the same each time."""
    few, many = estimate([0.0, 1.0] * 10), estimate([0.0, 1.0] * 1000)
    assert few.low < few.mean == 0.5 < few.high
    assert many.high - many.low < 0.2 * (few.high - few.low)
    assert estimate([0.0, 1.0] * 10) == few
    with pytest.raises(ValueError, match="at least one value"):
        estimate([])
