"""A pronoun that may be the user is not left beside "you", where it would be somebody else."""

from __future__ import annotations

import pytest

from omoide.language.addressing import to_user


@pytest.mark.parametrize(
    ("language", "note"),
    [
        ("vi", "Người dùng nói rằng anh ấy thích cà phê."),
        ("vi", "Nadia sống ở Huế. Cô ấy làm y tá."),
        ("vi", "Trợ lý khuyên anh ấy nghỉ ngơi."),
        ("ja", "ユーザーは釣りが好きで、彼の兄も釣りをする。"),
        ("ja", "ユーザーは先月から、彼女は看護師として働いていると言った。"),
        ("ko", "사용자는 낚시를 좋아하고 그의 형은 배가 있다."),
        ("ko", "사용자는 그녀가 간호사라고 말했다."),
    ],
)
def test_a_note_with_a_pronoun_that_may_be_the_user_stays(language: str, note: str) -> None:
    """Also behind the user's name, and in a note about the assistant."""
    assert to_user(note, language, name="Nadia") == note


@pytest.mark.parametrize(
    ("language", "note", "said"),
    [
        ("vi", "Người dùng sợ con kênh ấy.", "Bạn sợ con kênh ấy."),
        ("vi", "Anh ấy là anh trai của người dùng.", "Anh ấy là anh trai của bạn."),
        ("ja", "ユーザーは彼女と大阪に住んでいる。", "彼女と大阪に住んでいる。"),
        ("ko", "사용자는 그 책을 좋아한다.", "그 책을 좋아한다."),
    ],
)
def test_what_only_looks_like_one_does_not_matter(language: str, note: str, said: str) -> None:
    """Nor does one that stands before the user."""
    assert to_user(note, language) == said
