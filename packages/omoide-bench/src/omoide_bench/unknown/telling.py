"""The facts of the questions, as a user would tell them in sessions."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from omoide import Utterance
from omoide.domain import Speaker
from omoide_bench.data.shapes import FIRST_DAY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide_bench.unknown.questions import UnknownQuestion

ASKED_AT = FIRST_DAY + timedelta(days=99)
_FIRST_PERSON = {"en": "I", "zh": "我", "ja": "私", "ko": "나", "vi": "Tôi"}
_THIRD_PERSON = {
    "en": "User", "zh": "用户", "ja": "ユーザー", "ko": "사용자", "vi": "Người dùng",
}  # fmt: skip


def told(fact: str, language: str) -> str:
    """A note about the user nearly as the user would say it.

    >>> told("User's flat is on the third floor.", "en")
    'My flat is on the third floor.'
    """
    me, user = _FIRST_PERSON[language], _THIRD_PERSON[language]
    return fact.replace("User's", "My").replace(user, me)


def session(questions: Sequence[UnknownQuestion], *, day: int) -> list[Utterance]:
    """A session on that day in which the user tells the facts that answer the questions."""
    began = FIRST_DAY + timedelta(days=day)
    return [
        Utterance(
            speaker=Speaker.USER,
            text=told(question.fact, question.language),
            id=question.id,
            time=began + timedelta(minutes=number),
        )
        for number, question in enumerate(questions)
    ]
