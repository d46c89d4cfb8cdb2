"""BEAM, PersonaMem, MemDaily and LoCoMo with audited gold, on fixtures made for the tests."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from omoide.errors import BadData, BadInput
from omoide.ports import Completion, Likelihood
from omoide.testing import ScriptedModel
from omoide_bench.corpora import beam as beam_evidence
from omoide_bench.data import beam, locomo, memdaily, personamem
from omoide_bench.judges import RubricCase, RubricJudge, calibrate_rubric
from omoide_bench.judges.rubric import read_met
from omoide_bench.reports.tables import groups_of
from omoide_bench.running.aggregation import aggregates
from omoide_bench.running.execute import execute
from omoide_bench.tasks import OWN
from omoide_bench.tasks.base import checked_options
from omoide_bench.tasks.choices import read_choice
from omoide_bench.tasks.guessing import guesses
from tests.bench.bench_lab import FIXTURES, course, job, lab

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from omoide.ports import Request
    from omoide_bench.judges.asking import Ask


def test_beam_has_ideal_answers_rubrics_and_evidence_of_every_form() -> None:
    """Whatever the ideal answer is called, and however the evidence is nested; marks of the authors
    at the end of a message are gone."""
    [chat] = beam.load(FIXTURES)
    questions = {question.category: question for question in chat.questions}
    assert questions["event_ordering"].evidence == {"0", "4", "6"}
    assert questions["contradiction_resolution"].evidence == {"6"}
    assert questions["abstention"].answer is not None
    assert questions["instruction_following"].answer is None
    assert len(questions["event_ordering"].rubric) == 3
    assert not any("->->" in line.text for line in chat.lines)
    [conversation] = beam_evidence.load(FIXTURES)
    assert len(conversation.questions) == 4


def test_personamem_without_personas_and_labels() -> None:
    """Turns have neither the system message nor a label; options and the right one are read."""
    [user] = personamem.load(FIXTURES)
    assert [len(session.lines) for session in user.sessions] == [3, 3]
    assert not any("persona" in line.text or line.text.startswith("User:") for line in user.lines)
    assert "\n\n" in user.sessions[1].lines[1].text
    first, second = user.questions
    assert first.text == "What shall I play at the school fair?"
    assert second.text == "Which composer did I say I like?"
    assert (first.right_choice, second.right_choice) == (1, 3)
    assert second.choices[3] == "Bach."


def test_memdaily_options() -> None:
    """Options are trimmed; a question whose options are missing has none."""
    first, second = memdaily.load(FIXTURES)
    assert first.questions[0].choices == ("大理", "成都", "昆明", "贵阳")
    assert first.questions[0].right_choice == 2
    assert second.questions[0].choices == ()


def test_an_option_that_does_not_exist_is_named(tmp_path: Path) -> None:
    """A right answer that is none of the options is an error of the file."""
    for file in ("documents.json", "queries.json"):
        text = (FIXTURES / "personamem" / file).read_text()
        (tmp_path / file).write_text(text.replace('"d"', '"x"'))
    with pytest.raises(BadData, match="one of the options a, b, c, d, got 'x'"):
        personamem.load(tmp_path)


@pytest.mark.parametrize(
    ("answer", "chosen"),
    [
        ('{"choice": "C"}', 2),
        ("[[B]]", 1),
        ("(d) since you said so", 3),
        ("Answer: a", 0),
        ("选B", 1),
        ("E", None),
        ("As you like.", None),
        ("A dog would be nice.", None),
        ("", None),
    ],
)
def test_reading_a_choice(answer: str, chosen: int | None) -> None:
    """A letter in JSON, in brackets or at the beginning; anything else is not a choice."""
    assert read_choice(answer, 4) == chosen


async def test_choices_are_scored_and_unreadable_ones_are_not() -> None:
    """The right letter scores 1, a wrong one 0, and an answer without one is unscored."""
    work = job("personamem", "search")
    for answers, scores in ((["B", "A"], [1.0, 0.0]), (["{}", "D"], [None, 1.0])):
        model = ScriptedModel([f'{{"choice": "{a}"}}' if a != "{}" else a for a in answers])
        async with lab(model) as parts:
            result = await execute(work, lab=parts, course=course(work))
        items = {item.id[-2:]: item for item in result.methods[0].items}
        assert [items[name].scores.get("right choice") for name in ("q1", "q2")] == scores
        assert items["q2"].scores["told words"] == 1.0  # "Bach" was said, and is shown
    assert "no option" in items["q1"].unscored["right choice"]
    options = model.requests[0].messages[-1].content
    assert options.endswith("D. Whatever the others play.")


async def test_all_questions_have_a_row_though_some_kinds_lack_told_words() -> None:
    """The share of right choices over all kinds is what a reader looks for first."""
    work = job("personamem", "search")
    async with lab(ScriptedModel(['{"choice": "A"}'] * 2)) as parts:
        result = await execute(work, lab=parts, course=course(work))
    [method] = result.methods
    kinds = [
        replace(method.items[0], group="facts", scores={"right choice": 1.0}),
        replace(method.items[-1], group="reasons", scores={"right choice": 0.0, "told words": 1.0}),
    ]
    shown = replace(method, items=kinds, aggregates=aggregates(kinds, seed=0))
    assert groups_of(replace(result, methods=[shown])) == ["all", "facts", "reasons"]


class Scoring(ScriptedModel):
    """A model that finds replies with a given word likely."""

    def __init__(self, liked: str) -> None:
        super().__init__()
        self._liked = liked
        self.asked: list[str] = []

    async def likelihood(self, request: Request, answer: str) -> Likelihood:
        """Longer replies are less likely as a whole, but not by token."""
        assert answer not in request.messages[-1].content
        self.asked.append(answer)
        tokens = len(answer.split())
        each = -1.0 if self._liked in answer else -2.0
        return Likelihood(logprob=each * tokens, tokens=tokens, prompt_tokens=9, seconds=0.0)


async def test_a_choice_by_likelihood_shows_no_options() -> None:
    """Chosen is the reply with the most likely token on average; each option is asked once."""
    work = job("personamem", "search", by="likelihood")
    model = Scoring("Bach")
    async with lab(model) as parts:
        for _ in range(2):
            result = await execute(work, lab=parts, course=course(work))
    scores = {item.id[-2:]: item.scores["right choice"] for item in result.methods[0].items}
    assert scores["q2"] == 1.0
    leads = {item.id[-2:]: item.scores["lead"] for item in result.methods[0].items}
    assert leads["q2"] == 1.0  # -1.0 for the right option, -2.0 for the three others
    assert len(model.asked) == 8


async def test_a_choice_by_likelihood_needs_a_model_that_can_tell() -> None:
    """The error says what to do instead."""
    work = job("personamem", "search", by="likelihood")
    async with lab(ScriptedModel()) as parts:
        result = await execute(work, lab=parts, course=course(work))
    [item] = result.methods[0].items
    assert "or choose by letter" in item.unscored["right choice"]


async def test_options_that_give_the_right_one_away_are_noticed() -> None:
    """What a guess without the history gets stands in the notes of every run."""
    [user] = personamem.load(FIXTURES)
    first = user.questions[0]
    asked = [replace(first, choices=("no", "nothing", "a much longer one", "non"), right_choice=n)
             for n in (2, 2, 2, 0)]  # fmt: skip
    found = guesses("right choice", asked)
    assert found.scores["the longest option"].mean == 0.75
    assert "it can hardly see: the longest option" in found.line()
    work = job("personamem", "search")
    async with lab(ScriptedModel(['{"choice": "A"}'] * 2)) as parts:
        result = await execute(work, lab=parts, course=course(work))
    assert any("the longest option" in note for note in result.notes)


async def test_memdaily_asks_in_chinese_and_scores_the_evidence() -> None:
    """The prompt is Chinese, and the message with the answer is in it."""
    work = job("memdaily", "search")
    model = ScriptedModel(['{"choice": "C"}'])
    async with lab(model) as parts:
        result = await execute(work, lab=parts, course=course(work))
    [item] = result.methods[0].items
    assert item.scores.items() >= {"right choice": 1.0, "evidence": 1.0, "spoke up": 1.0}.items()
    assert "选择题" in model.requests[0].messages[0].content


@pytest.mark.parametrize(("task", "count"), [("beam", 4), ("memdaily", 1)])
async def test_evidence_alone_needs_no_model(task: str, count: int) -> None:
    """With answers=no a model that must not be called is not called."""
    work = job(task, "search", answers="no")
    async with lab(ScriptedModel([])) as parts:
        result = await execute(work, lab=parts, course=course(work))
    scored = [item for item in result.methods[0].items if "evidence" in item.scores]
    assert len(scored) == count
    assert any(item.scores["evidence"] > 0 for item in scored)


async def test_a_small_sample_of_beam_has_every_kind() -> None:
    """`each` takes as many questions of each kind, and `skip` leaves out the first ones."""
    [chat] = beam.load(FIXTURES)
    kinds = {question.category for question in chat.questions}
    first, second = chat.questions[0], replace(chat.questions[0], id="another of this kind")
    doubled = replace(chat, questions=(*chat.questions, second))
    asked = {}
    for skip in ("0", "1"):
        work = replace(job("beam", "search", answers="no", each="1", skip=skip), cases=(doubled,))
        async with lab(ScriptedModel([])) as parts:
            result = await execute(work, lab=parts, course=course(work))
        asked[skip] = {item.id: item.group for item in result.methods[0].items}
    assert sorted(asked["0"].values()) == sorted(kinds)
    assert first.id in asked["0"]
    assert asked["1"] == {second.id: first.category}


async def test_beam_asks_as_an_application_does() -> None:
    """Then the request has the question as it is, and memory before it, but not our own words about
    replies."""
    work = job("beam", "search", by="app")
    model = ScriptedModel(["So it is."] * 10)
    async with lab(model) as parts:
        result = await execute(work, lab=parts, course=course(work))
    assert all("says unknown" in item.scores for item in result.methods[0].items)
    [chat] = work.cases
    asked = [request.messages[-1].content for request in model.requests]
    assert all(any(question.text in text for text in asked) for question in chat.questions)
    assert any("<memory>" in m.content for r in model.requests for m in r.messages)
    assert not any("three sentences" in m.content for r in model.requests for m in r.messages)


def test_beam_knows_two_ways_of_asking() -> None:
    """Any other is refused before anything is asked."""
    with pytest.raises(BadInput, match="by must be reply or app, got 'letter'"):
        checked_options(OWN["beam"], {"by": "letter"})


async def test_beam_replies_are_judged_by_rubric() -> None:
    """The share of met requirements; without an answer, saying so is noted without a judge; the
    judge's worth stands in the notes."""
    work = job("beam", "search")
    partner = ScriptedModel([lambda _: "I don't know, you never mentioned it."] * 10)
    judge = ScriptedModel([_verdict] * 200, name="strict")
    async with lab(partner, judge=judge) as parts:
        result = await execute(work, lab=parts, course=course(work))
    [method] = result.methods
    scores = {item.group: item.scores for item in method.items}
    assert scores["abstention"]["rubric"] == 1
    assert scores["event_ordering"]["rubric"] == 0
    assert scores["abstention"]["says unknown"] == 1
    groups = {(a.group, a.measure): a.mean for a in method.aggregates}
    assert groups["answerable", "rubric"] == 0
    assert any("gives ideal answers" in note for note in result.notes)


def _verdict(request: Request) -> str:
    """Yes to a refusal where nothing is known, no to everything else."""
    asked = request.messages[-1].content
    refused = "don't know" in asked or "no information" in asked.partition("Reply to be")[2]
    met = refused and "Requirement: There is no information" in asked
    return json.dumps({"met": "yes" if met else "no"})


async def test_a_rubric_judge_is_measured_on_ideal_and_wrong_replies() -> None:
    """One that looks for the requirement's words tells them apart; one that says yes to all is
    shown to; one that cannot be read leaves all unscored."""
    cases = [
        RubricCase(question="When?", rubric=("May",), reply="In May."),
        RubricCase(question="Who?", rubric=("Ann", "Bo"), reply="Ann and Bo."),
        RubricCase(question="Why?", rubric=("no information",), reply="?", no_answer=True),
    ]

    def seeing(text: str) -> str:
        wanted = text.partition("Requirement: ")[2].partition("\n")[0]
        given = text.partition("checked: ")[2]
        return "yes" if wanted in given or (wanted == "no information" and "?" in given) else "no"

    for verdict, right, auc in ((seeing, 1.0, 1.0), (lambda _: "yes", 1.0, 0.5)):
        found = await calibrate_rubric(RubricJudge(ask=_asking(verdict)), cases)
        assert found.right is not None
        assert found.right.mean == right
        assert all(area == auc for area in found.auc.values())
        assert found.asked == 8
    mumbled = await calibrate_rubric(RubricJudge(ask=_asking(lambda _: "hmm")), cases)
    assert mumbled.right is None
    assert mumbled.unscored == mumbled.asked
    with pytest.raises(BadInput, match="two different ideal answers"):
        await calibrate_rubric(RubricJudge(ask=_asking(seeing)), cases[:1])
    with pytest.raises(BadInput, match="no rubric"):
        await RubricJudge(ask=_asking(seeing)).mark(
            RubricCase(question="When?", rubric=(), reply="Now.")
        )


def _asking(verdict: Callable[[str], str]) -> Ask:
    """An `ask` that answers with the verdict on the last message."""

    async def ask(request: Request) -> Completion:
        met = verdict(request.messages[-1].content)
        return Completion(
            text=met, prompt_tokens=1, completion_tokens=1, seconds=0.0, finish="stop"
        )

    return ask


def test_reading_a_mark() -> None:
    """JSON, brackets or the first word."""
    assert [read_met(text) for text in ('{"met": "yes"}', "[[no]]", "Partly, since", "maybe")] == [
        *(1.0, 0.0, 0.5, None)
    ]


async def test_locomo_is_scored_against_the_published_and_the_audited_gold() -> None:
    """A right answer of the audit is wrong by the published gold; questions that the audit left
    alone score the same by both; corrected evidence counts."""
    work = job("locomo", "search", categories="single-hop,multi-hop", audit="yes")
    model = ScriptedModel([lambda _: "a blue canoe"] * 2)
    async with lab(model) as parts:
        result = await execute(work, lab=parts, course=course(work))
    scores = {item.group: item.scores for item in result.methods[0].items}
    assert scores["single-hop"]["F1"] < 0.5
    assert scores["single-hop"]["F1, audited"] == 1
    assert scores["multi-hop"]["F1, audited"] == scores["multi-hop"]["F1"]
    assert "evidence, audited" in scores["multi-hop"]
    pets = next(
        q for d in locomo.load_audited(FIXTURES) for q in d.questions if q.id.endswith(".3")
    )
    assert pets.audited is not None
    assert pets.audited.evidence == {"D1:3"}


def test_an_audit_of_other_questions_is_an_error(tmp_path: Path) -> None:
    """The audit names questions by position: it must be about the same file."""
    (tmp_path / "locomo10.json").write_text((FIXTURES / "locomo" / "locomo10.json").read_text())
    audit = json.loads((FIXTURES / "locomo" / "audit_errors.json").read_text())
    audit[0]["question"] = "What did Bo sell?"
    (tmp_path / "audit_errors.json").write_text(json.dumps(audit))
    with pytest.raises(BadData, match=r"the question of conv-44\.1"):
        locomo.load_audited(tmp_path)
