"""BEAM and MemDaily: read from small files made for this, and from the real ones where they are."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from omoide.errors import BadData, BadInput
from omoide_bench.corpora import beam, memdaily
from omoide_bench.data import beam as beam_data

DATA = Path(os.environ.get("OMOIDE_TEST_DATA", Path(__file__).parents[3] / "shared" / "data"))


def _packed(path: Path, value: object) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False)


def _chat(sources: object, anchor: str = "January-05-2024") -> dict[str, object]:
    said = [
        {"role": "user", "id": 0, "time_anchor": anchor, "content": "I dig a pond. ->-> 1,3"},
        {"role": "assistant", "id": 1, "content": "How deep?"},
        {"role": "user", "id": 2, "content": "Two metres."},
    ]
    asked = {"question": "How deep is my pond?", "answer": "2 m", "source_chat_ids": sources}
    return {
        "id": 1,
        "topic": {"title": "A pond"},
        "chat": [{"batch_number": 1, "turns": [said]}],
        "probing_questions": {
            "temporal_reasoning": [asked],
            "abstention": [{"question": "What did it cost?"}],
        },
    }


@pytest.mark.parametrize("sources", [[0, 2], [[0], [2]], {"first": [0], "second": [2]}])
def test_beam_reads_every_form_of_evidence(tmp_path: Path, sources: object) -> None:
    """Evidence may be a list, lists in a list, or lists by name; the authors' mark is dropped."""
    _packed(tmp_path / "500k_1.json.gz", _chat(sources))
    (one,) = beam.load(tmp_path)
    assert one.lines[0].text == "I dig a pond."
    assert one.questions[0].evidence == {"0", "2"}
    assert [asked.text for asked in one.unanswerable] == ["What did it cost?"]


def test_beam_names_the_place_of_a_wrong_day(tmp_path: Path) -> None:
    """A day of another form is an error that says where it stands."""
    _packed(tmp_path / "500k_1.json.gz", _chat([0], anchor="5.1.2024"))
    with pytest.raises(BadData, match="January-05-2024"):
        beam.load(tmp_path)


def test_beam_without_files_says_where_to_get_it(tmp_path: Path) -> None:
    """An empty folder is refused with the page of the authors."""
    with pytest.raises(BadInput, match=beam_data.SOURCE.page):
        beam.load(tmp_path)


def test_memdaily_reads_messages_and_evidence(tmp_path: Path) -> None:
    """Each trajectory is a conversation of the user's messages."""
    told = [
        {"mid": 0, "message": "我养了一只猫。", "time": "2024年04月01日 周一 08:30"},
        {"mid": 1, "message": "今天下雨。", "time": "2024年04月01日 周一 20:58"},
    ]
    asked = {
        "qid": 0, "question": "我养了什么?", "answer": "猫", "target_step_id": [0],
        "time": "2024年04月04日 周四 07:42",
    }  # fmt: skip
    trajectory = {"tid": 7, "message_list": told, "question_list": [asked]}
    _packed(tmp_path / "01_simple_hybrid.json.gz", [trajectory])
    (one,) = memdaily.load(tmp_path)
    assert [line.text for line in one.lines] == ["我养了一只猫。", "今天下雨。"]
    assert one.questions[0].evidence == {"0"}


@pytest.mark.skipif(not (DATA / "beam").exists(), reason=f"no BEAM in {DATA}")
def test_beam_as_published() -> None:
    """The eleven chats at hand have 197 questions with evidence."""
    chats = beam.load(DATA / "beam")
    assert len(chats) == 11
    assert sum(len(chat.questions) for chat in chats) == 197
