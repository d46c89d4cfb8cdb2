"""Judges: what they are asked, how their answers are read, and what they are worth."""

from __future__ import annotations

import random
from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.engine import complete
from omoide.errors import BadInput, ModelUnavailable
from omoide.language import LANGUAGES
from omoide.testing import ScriptedModel
from omoide_bench.agreement import agreement
from omoide_bench.judges import (
    AnsweredQuestion,
    AnswerJudge,
    Labelled,
    Pair,
    PairJudge,
    ReplyCase,
    SingleJudge,
    Unanswerable,
    calibrate_answers,
    calibrate_marks,
    calibrate_pairs,
    pair_report,
    rated,
)
from omoide_bench.judges.answers import read_correct
from omoide_bench.judges.calibration import REFUSALS
from omoide_bench.judges.pairwise import Better, read_better
from omoide_bench.judges.single import read_score
from omoide_bench.judges.wrong import another, facts_changed, perturbed
from omoide_bench.prompts import judge_words

if TYPE_CHECKING:
    from omoide.ports import Request
    from omoide_bench.judges.asking import Ask

CASE = ReplyCase(
    known=["User keeps bees."], dialogue=["User: How are my bees?"], reply="Your bees are well."
)


def asker(model: ScriptedModel) -> Ask:
    """How a judge asks the model."""
    return partial(complete, model)


SCORES = [
    ('{"score": 77}', 77),
    ('Sure! {"score": 100}', 100),
    ('{"why": "It names 3 of the {bees}.", "score": 45}', 45),
    ('{"why": "It names 3 of the bees and', None),
    ("It names 3 of 5 bees.\n70", 70),
    ('{"score": 80.0}', 80),
    ('{"score": "65"}', 65),
    ("Rating: [[90]]", 90),
    ("I would give it 85/100.", 85),
    ("72 out of 100", 72),
    ("Score: 40.", 40),
    ("between 60 and 70", None),
    ('{"score": 0}', None),
    ('{"score": 101}', None),
    ('{"score": true}', None),
    ("3.5", None),
    ("excellent", None),
    ("", None),
]


@pytest.mark.parametrize(("answer", "score"), SCORES)
def test_reading_a_score(answer: str, score: int | None) -> None:
    """JSON first, then looser forms; what is out of range or doubtful is unscored, never 0."""
    assert read_score(answer) == score


BETTER = [
    ('{"better": "A"}', Better.FIRST),
    ('{"why": "It fits {well}.", "better": "slightly B"}', Better.SLIGHTLY_SECOND),
    ("Both are fine.\nAnswer: slightly A", Better.SLIGHTLY_FIRST),
    ("[[B]]", Better.SECOND),
    ("Reply B", Better.SECOND),
    ("B.", Better.SECOND),
    ("The better reply is A", Better.FIRST),
    ("I prefer a longer reply", None),
    ('{"better": "C"}', None),
    ("", None),
]


@pytest.mark.parametrize(("answer", "better"), BETTER)
def test_reading_a_preference(answer: str, better: Better | None) -> None:
    """An option that is named alone counts; a sentence that merely holds an "a" does not."""
    assert read_better(answer) == better


MARKS = [
    ('{"correct": true}', True),
    ('{"correct": false}', False),
    ('{"correct": "yes"}', True),
    ("They match.\nCorrect.", True),
    ("incorrect", False),
    ("The answer is wrong", False),
    ("[[no]]", False),
    ("It is not clear whether this is correct or incorrect, sorry", None),
    ("", None),
]


@pytest.mark.parametrize(("answer", "correct"), MARKS)
def test_reading_a_mark(answer: str, correct: bool | None) -> None:
    """Yes or no in its usual forms, and nothing else."""
    assert read_correct(answer) is correct


@given(st.text(max_size=80))
def test_reading_never_fails(answer: str) -> None:
    """Whatever a model says is a verdict in range or none."""
    score = read_score(answer)
    assert score is None or 1 <= score <= 100
    assert read_better(answer) in (None, *Better)
    assert read_correct(answer) in (None, True, False)


async def test_single_judge() -> None:
    """A call a criterion, held to a schema; unread answers are counted, not scored."""
    model = ScriptedModel(
        ['{"score": 80}', "no idea", '{"score": 60}', '{"score": 90}', "[[70]]", "x"]
    )
    judge = SingleJudge(ask=asker(model))
    ratings = [rating for _ in range(2) for rating in await judge.rate(CASE)]
    assert [rating.score for rating in ratings] == [80, None, 60, 90, 70, None]
    assert [rating.criterion for rating in ratings[:3]] == ["engaging", "coherent", "consistent"]
    request = model.requests[0]
    assert request.schema is not None
    assert "User keeps bees." in request.messages[-1].content
    assert "Your bees are well." in request.messages[-1].content
    summary = rated(ratings)
    assert summary["engaging"].mean is not None
    assert summary["engaging"].mean.mean == 85
    assert (summary["coherent"].scored, summary["coherent"].unscored) == (1, 1)
    assert rated([r for r in ratings if r.score is None])["coherent"].mean is None
    with pytest.raises(BadInput, match="engaging"):
        SingleJudge(ask=asker(model), criteria=("witty",))


async def test_a_failing_model_is_not_a_verdict() -> None:
    """If the model cannot be reached, that is an error, not an unscored item."""
    judge = SingleJudge(ask=asker(ScriptedModel([ModelUnavailable("gone")])))
    with pytest.raises(ModelUnavailable):
        await judge.rate(CASE)


PAIR = Pair(known="", dialogue="User: Hi", ours="Hello!", theirs="Go away.")


@pytest.mark.parametrize(
    ("first", "second", "outcome", "consistent"),
    [
        ("A", "B", "win", True),
        ("B", "A", "loss", True),
        ("A", "A", "tie", False),
        ("slightly A", "slightly B", "win", True),
        ("slightly B", "A", "loss", True),
        ("A", "slightly A", "tie", False),
        ("A", "?", None, None),
    ],
)
async def test_pairs_are_asked_in_both_orders(
    first: str,
    second: str,
    outcome: str | None,
    consistent: bool | None,
) -> None:
    """Only what holds in both orders is won; what cannot be read is unscored."""
    model = ScriptedModel([f'{{"better": "{first}"}}', f'{{"better": "{second}"}}'])
    verdict = await PairJudge(ask=asker(model)).compare(PAIR)
    assert verdict.outcome == outcome
    assert verdict.consistent is consistent
    shown = [request.messages[-1].content for request in model.requests]
    assert shown[0].index("Hello!") < shown[0].index("Go away.")
    assert shown[1].index("Go away.") < shown[1].index("Hello!")


async def test_slight_preferences_are_counted_apart() -> None:
    """A win is slight only if it is in both orders; a judge explains itself before it picks."""
    model = ScriptedModel(
        [f'{{"better": "{pick}"}}' for pick in ("slightly A", "slightly B", "A", "slightly B")]
    )
    judge = PairJudge(ask=asker(model))
    report = pair_report([await judge.compare(PAIR) for _ in range(2)])
    assert (report.wins, report.slight_wins, report.slight_losses) == (2, 1, 0)
    request = model.requests[0]
    assert request.schema is not None
    properties = request.schema["properties"]
    assert isinstance(properties, dict)
    assert list(properties) == ["why", "better"]
    for name in ("engaging", "coherent", "consistent"):
        assert judge_words("en")[f"criterion_{name}"] in request.messages[0].content


async def test_position_bias_is_reported() -> None:
    """A judge that always picks the first wins nothing and is found out."""
    model = ScriptedModel(['{"better": "A"}'] * 6)
    judge = PairJudge(ask=asker(model))
    report = pair_report([await judge.compare(PAIR) for _ in range(3)])
    assert (report.wins, report.losses, report.ties) == (0, 0, 3)
    assert report.position_bias == 1
    assert report.consistent == 0
    assert pair_report([]).position_bias is None


async def test_answer_judge() -> None:
    """The right answer is shown; where nothing was told, that is the right answer."""
    model = ScriptedModel(['{"correct": true}', '{"correct": false}', "hm"])
    judge = AnswerJudge(ask=asker(model))
    known = AnsweredQuestion(question="Where is Per?", gold="Oslo", answer="In Oslo.")
    unknown = AnsweredQuestion(question="Where is Ines?", gold=None, answer="In Oslo.")
    marks = [await judge.mark(one) for one in (known, unknown, known)]
    assert [mark.correct for mark in marks] == [True, False, None]
    assert "Right answer: Oslo" in model.requests[0].messages[-1].content
    assert "Right answer: (never told)" in model.requests[1].messages[-1].content


@pytest.mark.parametrize("language", LANGUAGES)
async def test_judges_ask_in_every_language(language: str) -> None:
    """Each judge has its prompt and its criteria in all five."""
    model = ScriptedModel(
        ['{"score": 50}'] * 4 + ['{"better": "slightly A"}'] * 2 + ['{"correct": true}']
    )
    single = SingleJudge(
        ask=asker(model),
        language=language,
        criteria=("engaging", "coherent", "consistent", "faithful"),
    )
    assert [rating.score for rating in await single.rate(CASE)] == [50] * 4
    pair = await PairJudge(ask=asker(model), language=language).compare(PAIR)
    assert pair.outcome == "tie"
    mark = await AnswerJudge(ask=asker(model), language=language).mark(
        AnsweredQuestion(question="?", gold=None, answer="")
    )
    assert mark.correct is True


def test_wrong_answers_are_wrong() -> None:
    """A date, a number or a name is changed, one thing at a time; the rest stays."""
    dice = random.Random(1)
    date = perturbed("7 May 2023", dice)
    assert date is not None
    assert date.sort == "date"
    assert "May" not in date.answer
    assert date.answer.endswith("2023")
    year = perturbed("in 2022", dice)
    assert year is not None
    assert year.sort == "date"
    assert year.answer != "in 2022"
    number = perturbed("two cats", dice)
    assert number is not None
    assert (number.sort, number.answer.split()[1]) == ("number", "cats")
    assert number.answer != "two cats"
    name = perturbed("her sister Mia", dice, names=["Mia", "Oslo"])
    assert name is not None
    assert name.answer == "her sister Oslo"
    assert perturbed("a kayak", dice) is None
    chinese = perturbed("养了三只猫", dice)
    assert chinese is not None
    assert chinese.answer != "养了三只猫"
    assert len(chinese.answer) == 5


def test_answers_to_other_questions_are_far_off() -> None:
    """An answer that shares words with the right one is not taken for a wrong one."""
    one, near, far = (
        AnsweredQuestion(question=str(n), gold=gold, answer="")
        for n, gold in enumerate(("a red kayak", "the kayak", "in Oslo"))
    )
    wrong = another(one, [one, near, far], random.Random(0))
    assert wrong is not None
    assert wrong.answer == "in Oslo"
    assert another(one, [one, near], random.Random(0)) is None


QUESTIONS = [
    AnsweredQuestion(question="When?", gold="7 May 2023", answer=""),
    AnsweredQuestion(question="Which pets?", gold="two cats", answer=""),
    AnsweredQuestion(question="Who?", gold="her sister Mia", answer=""),
    AnsweredQuestion(question="Never?", gold=None, answer=""),
]


def lenient(request: Request) -> str:
    """A judge that accepts whatever shares a word with the right answer."""
    told = request.messages[-1].content
    gold = told.split("Right answer: ")[1].split("\n")[0]
    answer = told.split("Answer to be checked: ")[1]
    alike = set(gold.lower().split()) & set(answer.lower().split())
    return '{"correct": true}' if alike else '{"correct": false}'


async def test_a_lenient_judge_is_found_out() -> None:
    """It accepts every perturbed answer and no foreign one: the report says so by sort."""
    judge = AnswerJudge(ask=asker(ScriptedModel([lenient] * 9)))
    found = await calibrate_answers(judge, QUESTIONS)
    assert found.accepts_right is not None
    assert found.accepts_right.mean == 1
    assert found.accepts_wrong["other"].mean == 0
    assert found.accepts_wrong["date"].mean == 1
    assert found.accepts_wrong["number"].mean == 1
    assert found.accepts_wrong["name"].mean == 1
    assert found.accepts_wrong["all"].mean == 0.5
    assert (found.asked, found.unscored) == (9, 0)
    assert "accepts wrong answers (all): 50.0 %" in found.lines()[0]


async def test_agreement_with_people_and_unread_answers() -> None:
    """Labelled answers give accuracy and kappa over what could be read; the rest is counted."""
    answers = ['{"correct": true}', '{"correct": false}'] * 2 + ["?"]
    judge = AnswerJudge(ask=asker(ScriptedModel(["?"] * 2 + answers)))
    one = AnsweredQuestion(question="Which pets?", gold="two cats", answer="cats")
    labels = [Labelled(given=one, correct=right) for right in (True, False, True, True, True)]
    found = await calibrate_answers(judge, [QUESTIONS[1]], labelled=labels)
    assert found.accepts_right is None
    assert found.accepts_wrong == {}
    assert found.agreement is not None
    assert found.agreement.accuracy == 0.75
    assert found.agreement.kappa == pytest.approx(0.5)
    assert (found.asked, found.unscored) == (7, 3)
    with pytest.raises(BadInput, match="got none"):
        await calibrate_answers(judge, [QUESTIONS[3]])


CASES = [
    ReplyCase(known="", dialogue="User: And the bees?", reply="The bees are well."),
    ReplyCase(known="", dialogue="User: And the tram?", reply="The tram is late."),
]


async def test_calibrating_judges_of_replies() -> None:
    """A judge that looks for the topic is not fooled, and shows no bias."""

    def sees(request: Request) -> str:
        told = request.messages[-1].content
        topic = "bees" if "the bees?" in told else "tram"
        first = told.split("Reply A:")[1].split("Reply B:")[0]
        return '{"better": "A"}' if topic in first else '{"better": "B"}'

    good = await calibrate_pairs(PairJudge(ask=asker(ScriptedModel([sees] * 4))), CASES)
    assert good.prefers_wrong is not None
    assert good.prefers_wrong.mean == 0
    assert good.report is not None
    assert good.report.position_bias == 0
    with pytest.raises(BadInput, match="two different replies"):
        await calibrate_pairs(PairJudge(ask=asker(ScriptedModel())), CASES[:1])


async def test_unanswerable_questions_are_part_of_the_check() -> None:
    """A judge that takes every refusal for wrong and every answer for right is found out, whichever
    made-up answer the data set has."""

    def talker(request: Request) -> str:
        answer = request.messages[-1].content.split("Answer to be checked: ")[1]
        shy = any(refusal in answer for refusal in REFUSALS)
        return '{"correct": false}' if shy else '{"correct": true}'

    never = [Unanswerable(question="Never?", made_up="a kayak"), Unanswerable(question="Nor that?")]
    model = ScriptedModel([talker] * 13)
    found = await calibrate_answers(
        AnswerJudge(ask=asker(model)), QUESTIONS[:3], unanswerable=never
    )
    assert found.accepts_refusals is not None
    assert found.accepts_refusals.mean == 0
    assert found.accepts_wrong["made up"].mean == 1
    assert found.accepts_wrong["made up"].count == 2
    assert found.by_making is not None
    assert found.by_making.count == 13
    assert found.by_making.accuracy == pytest.approx(3 / 13)
    shown = [request.messages[-1].content for request in model.requests]
    assert sum("a kayak" in text for text in shown) == 1
    assert all("(never told)" in text for text in shown if "Never?" in text)
    lines = " / ".join(found.lines())
    assert "accepts refusals to unanswerable questions: 0.0 %" in lines
    assert "accepts wrong answers (made up): 100.0 %" in lines
    assert "agrees with how the answers were constructed: 23.1 %, kappa" in lines


MARKED = [
    ReplyCase(
        known="bees", dialogue="What do I keep?", reply="You keep bees, in 4 hives with Mia."
    ),
    ReplyCase(known="bees", dialogue="When did I begin?", reply="Last May, after the storm."),
    ReplyCase(
        known="tram", dialogue="What was late?", reply="It was the tram to Oslo that was late."
    ),
]


def sorts_of(told: str) -> str:
    """Of which sort the reply in a prompt of the judge is."""
    reply = told.split("The reply to be graded:\n")[1]
    own = next(case for case in MARKED if str(case.dialogue) in told)
    if reply == own.reply:
        return "right"
    others = [case for case in MARKED if case.reply == reply]
    if not others:
        return "facts"
    return "question" if others[0].known == own.known else "dialogue"


async def test_marks_of_a_judge_are_tried_on_wrong_replies() -> None:
    """A judge that knows foreign replies but not changed facts accepts just these; the area under
    the curve says the same without a line at which a mark is enough."""
    marks = {"right": 90, "dialogue": 5, "question": 20, "facts": 90}

    def sees(request: Request) -> str:
        return f'{{"score": {marks[sorts_of(request.messages[-1].content)]}}}'

    judge = SingleJudge(ask=asker(ScriptedModel([sees] * 40)), criteria=("faithful",))
    found = (await calibrate_marks(judge, MARKED))["faithful"]
    assert found.accepts_right is not None
    assert found.accepts_right.mean == 1
    assert found.accepts_wrong["of another dialogue"].mean == 0
    assert found.accepts_wrong["of another question"].mean == 0
    assert found.accepts_wrong["facts changed"].mean == 1
    assert found.auc["of another dialogue"] == 1
    assert found.auc["facts changed"] == 0.5
    assert found.wrong["of another question"].mean == 20
    counts = {sort: rate.count for sort, rate in found.accepts_wrong.items()}
    assert counts["of another dialogue"] == 3
    assert counts["of another question"] == 2
    assert found.asked == 3 + counts["all"]
    assert found.agreement is not None
    lines = " / ".join(found.lines())
    assert "accepts wrong replies (facts changed) as faithful, with 50 or more: 100.0 %" in lines
    assert "AUC 0.50" in lines


async def test_what_is_wrong_depends_on_what_is_asked() -> None:
    """Another of one's own replies is not inconsistent, one with other numbers not incoherent."""
    model = ScriptedModel(['{"score": 1}'] * 40)
    judge = SingleJudge(ask=asker(model), criteria=("engaging", "coherent", "consistent"))
    found = await calibrate_marks(judge, MARKED)
    assert found["engaging"].wrong.keys() == {"of another dialogue"}
    assert found["coherent"].wrong.keys() == {"of another dialogue", "of another question"}
    assert found["consistent"].wrong.keys() == {"of another dialogue", "facts changed"}
    assert len(model.requests) == sum(one.asked for one in found.values())


async def test_marks_that_say_nothing_or_cannot_be_read() -> None:
    """A judge that likes everything accepts every wrong reply, with an area of 0.5; unread marks
    are counted; two replies that are the same are nothing to try a judge on."""
    flat = SingleJudge(
        ask=asker(ScriptedModel(['{"score": 80}'] * 3 + ["?"] * 20)), criteria=("coherent",)
    )
    found = (await calibrate_marks(flat, MARKED))["coherent"]
    assert found.accepts_wrong["all"].mean == 1
    assert found.auc["all"] == 0.5
    assert found.unscored == found.asked - 3
    with pytest.raises(BadInput, match="two different replies"):
        await calibrate_marks(flat, [CASES[0], CASES[0]])


def test_all_facts_of_a_reply_are_changed() -> None:
    """Numbers, months and names go, the same always to the same; words stay; nothing to change is
    None."""
    wrong = facts_changed(
        "On 3 May we met Mia, and Mia had two dogs.", random.Random(0), names=["Mia", "Oslo"]
    )
    assert wrong is not None
    assert wrong.sort == "facts"
    assert "Mia" not in wrong.answer
    assert wrong.answer.count("Oslo") == 2
    assert not {"3", "May", "two"} & set(wrong.answer.split())
    assert wrong.answer.startswith("On ")
    assert wrong.answer.endswith("dogs.")
    assert facts_changed("We had a good time.", random.Random(0)) is None
    chinese = facts_changed("我们一起养了三只猫", random.Random(0))
    assert chinese is not None
    assert "一起" in chinese.answer
    assert "三只" not in chinese.answer


def test_agreement() -> None:
    """Kappa of a worked table (Cohen 1960): 20 and 15 agreed of 50, 5 and 10 not: 0.4."""
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    found = agreement(first, second)
    assert found.accuracy == pytest.approx(0.7)
    assert found.kappa == pytest.approx(0.4)
    assert found.labels["yes"].precision == pytest.approx(0.8)
    assert found.labels["yes"].recall == pytest.approx(2 / 3)
    assert agreement(["a"], ["a"]).kappa == 1
    with pytest.raises(ValueError, match="same items"):
        agreement([], [])
