"""Which adapter serves a request."""

from __future__ import annotations

from pathlib import Path

import pytest

from omoide.adapters.models.adapter import Adapter, adapter_for
from omoide.ports import Message, Request, Skill

STRONG = Adapter(name="strong", path=Path("a"), skills=frozenset({Skill.REPLY, Skill.ANSWER}))
KOREAN = Adapter(name="korean", path=Path("a"), skills=frozenset({Skill("answer-ko")}))


@pytest.mark.parametrize(
    ("skill", "language", "name"),
    [
        (Skill.ANSWER, "ko", "korean"),
        (Skill.ANSWER, "ja", "strong"),
        (Skill.ANSWER, "", "strong"),
        (Skill.REPLY, "ko", "strong"),
        (Skill.GREETING, "ko", None),
        (None, "ko", None),
    ],
)
def test_a_skill_in_a_language_comes_before_the_skill(
    skill: Skill | None, language: str, name: str | None
) -> None:
    """Whatever the order of the adapters; what none claims is left to the plain weights."""
    message = Message(role="user", content="?")
    request = Request(messages=(message,), max_tokens=9, skill=skill, language=language)
    for adapters in ((STRONG, KOREAN), (KOREAN, STRONG)):
        chosen = adapter_for(adapters, request)
        assert (chosen.name if chosen else None) == name


def test_an_answer_is_a_reply_if_no_adapter_claims_answers() -> None:
    """Also in a language."""
    only = Adapter(name="replies", path=Path("a"), skills=frozenset({Skill("reply-ko")}))
    asked = Request(messages=(), max_tokens=9, skill=Skill.ANSWER, language="ko")
    assert adapter_for((only,), asked) is only
