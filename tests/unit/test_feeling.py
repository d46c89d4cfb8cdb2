"""How strongly something was felt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.language import LANGUAGES
from omoide.mechanisms.events.feeling import feeling


@pytest.mark.parametrize(
    ("language", "flat", "felt", "marked"),
    [
        ("en", "I bought some milk.", "I am happy about it.", "My father died, I am so sad!"),
        ("zh", "我买了牛奶。", "我有点开心。", "我爸爸去世了，我非常难过！"),
        ("ja", "牛乳を買いました。", "少し嬉しいです。", "父が亡くなって、とても悲しいです！"),
        ("ko", "우유를 샀어요.", "조금 기쁘네요.", "아버지가 돌아가셨어요, 너무 슬프네요!"),
        ("vi", "Tôi mua sữa.", "Tôi hơi vui.", "Bố tôi qua đời, tôi rất buồn!"),
    ],
)
def test_what_marks_a_life_is_felt_more(language: str, flat: str, felt: str, marked: str) -> None:
    """Matter of fact is 0; everyday feeling is little; a death is much."""
    assert feeling(flat, language) == 0
    assert 0 < feeling(felt, language) <= 0.4
    assert feeling(marked, language) >= 0.8


def test_emphasis_counts_only_a_little_by_itself() -> None:
    """Exclamation marks alone do not make an event of a life."""
    assert 0 < feeling("I bought milk!!!") < 0.2
    assert feeling("I am SO happy!") > feeling("I am happy.")
    assert feeling("I am happy.") < feeling("I am very happy.") < feeling("My father died.")


@given(st.text(), st.sampled_from([*LANGUAGES, None, "fr"]))
def test_it_is_always_a_share(text: str, language: str | None) -> None:
    """From 0 to 1, whatever the text."""
    assert 0 <= feeling(text, language) <= 1
