"""Which script decides where several are mixed."""

from __future__ import annotations

import pytest

from omoide.language import detect_language, dominant_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("저는 Samsung Galaxy Ultra 를 샀어요", "ko"),
        ("나 Netflix Breaking Bad 봤어", "ko"),
        ("我買了 MacBook Pro", "zh"),
        ("I said 안녕 to my friends in Seoul yesterday evening", "en"),
    ],
)
def test_letters_of_a_dense_script_outweigh_latin_ones(text: str, language: str) -> None:
    """A Korean line full of product names is Korean; one Korean word amid English is English."""
    assert detect_language(text) == language


def test_kanji_lines_of_a_japanese_speaker_are_japanese() -> None:
    """Up to four times as much as what is clearly Japanese; beyond that they are Chinese."""
    japanese = "私は猫が好きです"
    kanji = "東京大学経済学部"
    assert detect_language(kanji) == "zh"
    assert len(japanese) == len(kanji)
    assert dominant_language([japanese, *[kanji] * 3]) == "ja"
    assert dominant_language([japanese, *[kanji] * 5]) == "zh"
