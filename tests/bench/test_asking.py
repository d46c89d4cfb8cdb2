"""Who asks after their own life, in five languages."""

from __future__ import annotations

import pytest

from omoide.language import LANGUAGES
from omoide.language.asking import asks_about_oneself
from omoide_bench.unknown import questions


@pytest.mark.parametrize("language", LANGUAGES)
def test_most_questions_about_oneself_are_seen(language: str) -> None:
    """Two thirds in each language, of questions that were not written for this rule; of those about
    the world at most one."""
    asked = [one for one in questions.load() if one.language == language]
    own = [asks_about_oneself(one.question, language) for one in asked if one.fact]
    world = [asks_about_oneself(one.question, language) for one in asked if not one.fact]
    assert sum(own) >= 2 / 3 * len(own)
    assert sum(world) <= 1


@pytest.mark.parametrize(
    ("text", "language", "asks"),
    [
        ("What's my dog called?", "en", True),
        ("whats my sisters name", "en", True),
        ("Do you remember where I work?", "en", True),
        ("What should I cook tonight?", "en", False),
        ("I live in Leeds. Do you like it there?", "en", False),
        ("I took a yoga class today. Do you have a membership too?", "en", False),
        ("I live in Leeds.", "en", False),
        ("What is the capital of Norway?", "en", False),
        ("我的生日是哪天？", "zh", True),
        ("我晚上该吃什么？", "zh", False),
        ("今天天气怎么样？", "zh", False),
        ("私の犬の名前は何だっけ？", "ja", True),
        ("夕飯は何がいいかな？", "ja", False),
        ("내 생일이 언제야?", "ko", True),
        ("오늘 뭐 먹으면 좋을까?", "ko", False),
        ("Chó của mình tên gì?", "vi", True),
        ("Tối nay mình nên nấu gì?", "vi", False),
    ],
)
def test_what_asks_and_what_does_not(text: str, language: str, asks: bool) -> None:
    """A question after the speaker's own life; not advice, the world, the other, or a statement."""
    assert asks_about_oneself(text, language) is asks
