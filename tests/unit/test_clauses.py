"""Chains of clauses come apart, and the endings of talk come off."""

from __future__ import annotations

import pytest

from omoide.language import in_written_style, split_clauses


@pytest.mark.parametrize(
    ("language", "sentence", "clauses"),
    [
        (
            "ja",
            "東京に住んでて、図書館で働いてて、猫を一匹飼ってるんだ。",
            ("東京に住んでて", "図書館で働いてて", "猫を一匹飼ってるんだ。"),
        ),
        (
            "ja",
            "看護師で、妹と二人暮らしで、卵がだめなんです。",
            ("看護師で", "妹と二人暮らしで", "卵がだめなんです。"),
        ),
        (
            "ko",
            "서울에 살고 은행에서 일하고 강아지 한 마리를 키워요.",
            ("서울에 살고", "은행에서 일하고", "강아지 한 마리를 키워요."),
        ),
        ("ko", "저는 간호사인데 이제 주간 근무예요.", ("저는 간호사인데", "이제 주간 근무예요.")),
    ],
)
def test_a_chain_of_clauses_comes_apart(
    language: str, sentence: str, clauses: tuple[str, ...]
) -> None:
    """Each thing that is told stands by itself."""
    assert split_clauses(sentence, language) == clauses


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("ja", "大阪の図書館で、本を借りた。"),
        ("ja", "実は先週、やっと引っ越した。"),
        ("ko", "요즘 한국어를 배우고 있어요."),
        ("ko", "바다에 가고 싶어요."),
        ("en", "I live in Leeds, and I have a cat."),
    ],
)
def test_one_clause_stays_whole(language: str, sentence: str) -> None:
    """A place, a day or an auxiliary verb is no clause; other languages are left alone."""
    assert split_clauses(sentence, language) == (sentence,)


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("ピーナッツは食べられないんだよね", "ピーナッツは食べられない"),
        ("妻と山に登ることが多いかな", "妻と山に登ることが多い"),
        ("東京に住んでて", "東京に住んでいる"),
        ("東京に住んでいて", "東京に住んでいる"),
        ("海で泳いでる", "海で泳いでいる"),
        ("毎朝走ってます", "毎朝走っている"),
        ("猫が好きなんだよね", "猫が好きだ"),
        ("看護師です", "看護師だ"),
        ("肉が好きではない", "肉が好きではない"),
        ("五月にペルーへ行く予定だ", "五月にペルーへ行く予定だ"),
    ],
)
def test_talk_becomes_a_note(said: str, written: str) -> None:
    """Endings that belong to talk come off, and nothing else does."""
    assert in_written_style(said, "ja") == written
