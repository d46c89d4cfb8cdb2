"""MSC-Self-Instruct (Packer et al. 2023): the questions of Deep Memory Retrieval (DMR).

`msc_self_instruct.jsonl` has one dialogue per line in ParlAI's form of MSC (`msc_parlai`), with a
question that one speaker asks about earlier sessions and the other's short answer; made up and
shortened:

    {"metadata": {"initial_data_id": "test_7"},
     "previous_dialogs": [{"dialog": [{"text": "Hello! I keep bees."}, {"text": "Nice."}],
                           "time_num": 5, "time_unit": "hours"}],
     "dialog": [{"id": "Speaker 1", "text": "Hi again."}],
     "self_instruct": {"B": "What did I say I keep?", "A": "Bees!"}}

A model wrote questions and answers. Only earlier sessions are replayed: the question opens the next
one. Written from descriptions of the file, which could not be had.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide_bench.data import msc_parlai
from omoide_bench.data.reading import json_lines
from omoide_bench.data.shapes import DatasetQuestion, Dialogue, next_day
from omoide_bench.data.source import DatasetSource

if TYPE_CHECKING:
    from pathlib import Path

    from omoide_bench.data.reading import JsonRecord

FILE = "msc_self_instruct.jsonl"
SOURCE = DatasetSource(
    name="dmr",
    title="MSC-Self-Instruct, for Deep Memory Retrieval (Packer et al. 2023)",
    licence="Apache-2.0 as its authors state; the dialogues are those of Multi-Session Chat",
    page="https://huggingface.co/datasets/MemGPT/MSC-Self-Instruct",
    hub="MemGPT/MSC-Self-Instruct",
    hub_files={FILE: FILE},
)


def load(data: Path | None) -> list[Dialogue]:
    """Every dialogue, each with one question."""
    lines = enumerate(json_lines(SOURCE.find(data, FILE)), start=1)
    return [_dialogue(record, f"dmr-{number}") for number, record in lines]


def _dialogue(record: JsonRecord, name: str) -> Dialogue:
    sessions = msc_parlai.sessions(record.of("previous_dialogs").each())
    if not sessions:
        raise record.of("previous_dialogs").bad("at least one earlier session")
    pair = record.of("self_instruct")
    question = DatasetQuestion(
        id=name,
        text=pair.of("B").text.strip(),
        at=next_day(sessions[-1].lines),
        answer=pair.of("A").text.strip(),
    )
    return Dialogue(
        id=name,
        language="en",
        speakers=msc_parlai.SPEAKERS,
        sessions=sessions,
        questions=(question,),
        dated=False,
    )
