"""Moves are noted the way they were told."""

from __future__ import annotations

import pytest

from omoide.domain import Speaker
from omoide.memory.summary.facts import VOICES, Fact
from omoide.memory.summary.moving import mended
from omoide.memory.summary.small_form import SmallForm
from omoide.memory.transcript import Line

CASES = [
    ("vi", "Mình mới chuyển vào Huế rồi.", "đã chuyển từ Huế", "đã chuyển vào Huế"),
    ("vi", "Mình ra Đà Lạt rồi.", "đã chuyển từ Đà Lạt ra Đà Lạt", "đã chuyển ra Đà Lạt"),
    ("en", "Big news: I moved to York last week.", "moved from York", "moved to York"),
    ("en", "We just moved here from New York.", "moved to New York", "moved from New York"),
    ("ja", "先月、大阪に引っ越したよ。", "大阪から引っ越した", "大阪に引っ越した"),
    ("ko", "지난달에 부산으로 이사했어.", "부산에서 이사했다", "부산으로 이사했다"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "said", "noted", "wanted"), CASES)
def test_a_move_that_was_turned_round_is_turned_back(
    language: str, said: str, noted: str, wanted: str
) -> None:
    """In the speaker's own words."""
    assert mended(Fact(about=Speaker.USER, text=noted), said, language).text == wanted


@pytest.mark.parametrize(
    ("language", "said", "noted"),
    [
        ("en", "I moved from Leeds to York.", "moved from Leeds to York"),
        ("en", "I moved to York from Leeds.", "moved from Leeds to York"),
        ("en", "I got a letter to Mia.", "has a letter from Mia"),
        ("en", "I moved to York.", "moved from Leeds"),
        ("vi", "Mình chuyển từ Huế vào Đà Nẵng.", "đã chuyển từ Huế vào Đà Nẵng"),
        ("ja", "東京から大阪に引っ越した。", "東京から大阪に引っ越した"),
        ("ko", "서울에서 부산으로 이사했어.", "서울에서 부산으로 이사했다"),
        ("zh", "我搬到成都了。", "从成都搬走了"),
    ],
)
def test_what_was_told_so_or_is_no_move_stays(language: str, said: str, noted: str) -> None:
    """Nor is a place touched of which the speaker said nothing."""
    fact = Fact(about=Speaker.USER, text=noted)
    assert mended(fact, said, language) is fact


def test_the_small_form_notes_the_move_as_it_was_told() -> None:
    """Through the reading of a model's answer."""
    session = [Line(speaker=Speaker.USER, text="Tháng trước mình chuyển vào Đà Nẵng rồi.")]
    answer = f"{VOICES['vi'].subject(Speaker.USER)}đã chuyển từ Đà Nẵng."
    reading = SmallForm().read([answer], old=(), session=session, language="vi", limit=20)
    assert [s.text for s in reading.told] == ["Người dùng đã chuyển vào Đà Nẵng."]
