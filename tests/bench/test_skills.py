"""Each mechanism names the skill it needs, and what is written says which adapter wrote it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

import pytest

from omoide.domain import CallPurpose, Owner, Speaker, Turn, empty_summary
from omoide.engine.ledger import Account, complete
from omoide.mechanisms.fused.json_form import JsonForm
from omoide.mechanisms.memos.writer import write_request as memo_request
from omoide.mechanisms.reply_forms import FORMS
from omoide.mechanisms.summary.both_form import BothForm
from omoide.mechanisms.summary.forms import PaperForm
from omoide.mechanisms.summary.small_form import SmallForm
from omoide.mechanisms.summary.summariser import RecursiveSummary
from omoide.ports import Completion, Message, Request, Skill
from omoide.prompts.transcript import Line
from omoide.testing import FrozenClock, ScriptedModel
from omoide_bench.running.calls import key_of
from tests.unit.test_replies import reply_request

if TYPE_CHECKING:
    from omoide.domain import ModelCall
    from omoide.mechanisms.summary.forms import SummaryForm

NOW = datetime(2026, 1, 5, tzinfo=UTC)
SAID = [
    Line(speaker=Speaker.USER, text="I live in Leeds."),
    Line(speaker=Speaker.ASSISTANT, text="I love tea."),
]


@pytest.mark.parametrize(
    ("form", "skill"),
    [
        (SmallForm(), Skill.NOTES),
        (PaperForm(), Skill.ITERATION),
        (BothForm(), Skill.FUSED),
        (JsonForm(), Skill.FUSED),
    ],
)
def test_the_writers_of_a_session_name_their_skill(form: SummaryForm, skill: Skill) -> None:
    """Notes, the paper's iteration, and all at once."""
    asked = form.ask(old=(), session=SAID, language="en", limit=20)
    assert {question.request.skill for question in asked} == {skill}


@pytest.mark.parametrize("language", ["zh", "ja", "ko", "vi"])
def test_notes_name_their_language(language: str) -> None:
    """What a model needs no help with in English it may need in another language."""
    said = [Line(speaker=Speaker.USER, text="Leeds")]
    asked = SmallForm().ask(old=(), session=said, language=language, limit=20)
    assert {question.request.skill for question in asked} == {Skill(f"notes-{language}")}


def test_memos_and_replies_name_theirs() -> None:
    """Memos, and every form of reply."""
    assert memo_request(["a", "b"], "en").skill is Skill.MEMOS
    for form in FORMS.values():
        assert form(reply_request(), (), window=4096, max_tokens=100).skill is Skill.REPLY


@pytest.mark.parametrize("name", ["chat", "small", "agent"])
def test_who_asks_after_their_own_life_needs_another_skill(name: str) -> None:
    """What was never told is then not to be made up."""
    told = reply_request()
    last = replace(told.session[-1], text="What is my dog called?")
    asked = replace(told, session=(*told.session[:-1], last))
    assert FORMS[name](asked, (), window=4096, max_tokens=100).skill is Skill.ANSWER


class Book:
    """A ledger that is a list."""

    def __init__(self) -> None:
        self._calls: list[ModelCall] = []

    async def add(self, owner: Owner, call: ModelCall) -> None:
        """Keep it."""
        self._calls.append(call)

    async def calls(self, owner: Owner) -> tuple[ModelCall, ...]:
        """All of them."""
        return tuple(self._calls)


def answered(text: str, by: str) -> Completion:
    """An answer that says who wrote it."""
    return Completion(
        text=text, prompt_tokens=1, completion_tokens=1, seconds=0.0, finish="stop", by=by
    )


async def test_a_version_and_the_account_say_which_adapter_wrote() -> None:
    """The author of the answer, where the answer names it; else the model's name."""
    turn = Turn(
        id="t1",
        session=1,
        position=1,
        speaker=Speaker.USER,
        text="I adopted a cat called Miso.",
        time=NOW,
        language="en",
    )
    for by, wanted in (("weights+notes-r8", "weights+notes-r8"), ("", "weights+notes-r8+memos")):
        model = ScriptedModel(
            [answered("The user has a cat called Miso.", by)], name="weights+notes-r8+memos"
        )
        digest = await RecursiveSummary(model=model, form=PaperForm()).digest(
            old=empty_summary(NOW), turns=[turn], at=NOW, ask=partial(complete, model)
        )
        assert digest.summary is not None
        assert digest.summary.model == wanted
    book, owner = Book(), Owner(tenant="t", user="u")
    model = ScriptedModel([answered("Hi.", "weights+reply"), "Hi."], name="weights")
    account = Account(ledger=book, clock=FrozenClock(NOW), owner=owner, session=None)
    request = Request(messages=(Message(role="user", content="Hi"),), max_tokens=5)
    for _ in range(2):
        await account.asker(model, CallPurpose.REPLY)(request)
    assert [call.model for call in await book.calls(owner)] == ["weights+reply", "weights"]


def test_the_skill_is_no_part_of_a_question() -> None:
    """Answers that benchmarks have cached stay known; another model's name has its own."""
    request = Request(messages=(Message(role="user", content="Hi"),), max_tokens=5)
    skilled = Request(messages=request.messages, max_tokens=5, skill=Skill.NOTES)
    assert key_of("m", request) == key_of("m", skilled)
    assert key_of("m", request) != key_of("m+notes-r8", request)
