"""What measures and judges can see: answers of known quality, and kept verdicts."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from omoide.cli.main import cli
from omoide.errors import BadData, BadInput
from omoide.ports import Completion
from omoide_bench.cli.running import WAITING
from omoide_bench.data.shapes import FIRST_DAY, DatasetQuestion
from omoide_bench.discrimination import CHANGED, OTHER, REFUSAL, discrimination, known_answers
from omoide_bench.judges import PairJudge
from omoide_bench.tasks import OWN
from omoide_bench.tasks.scoring import answer_given
from omoide_bench.verdicts import (
    agreement_with,
    judge_agreement,
    load_items,
    load_verdicts,
    summarise,
    text_scores,
)
from tests.bench.bench_lab import FIXTURES
from tests.bench.test_bench_batches import fill

if TYPE_CHECKING:
    from omoide.ports import Request

ANSWERS = ("7 May 2023", "a dog, a parrot", "three cats", "Lisbon")


def question(n: int, answer: str) -> DatasetQuestion:
    """A question with that answer."""
    return DatasetQuestion(id=f"q{n}", text=f"Question {n}?", at=FIRST_DAY, answer=answer)


QUESTIONS = [question(n, answer) for n, answer in enumerate(ANSWERS)]


def test_known_answers_are_better_and_worse() -> None:
    """Every question has its answer, a sentence with it and a refusal; facts are changed where
    there are any, and lists halved."""
    known = known_answers(QUESTIONS)
    texts = {(one.question.id, one.kind): one.text for one in known}
    assert texts["q0", "right"] == "7 May 2023"
    assert "7 May 2023" in texts["q0", "right, in a sentence"]
    assert texts["q0", CHANGED] != "7 May 2023"
    assert texts["q1", "half of it"] == "a dog"
    assert ("q3", "half of it") not in texts
    assert known == known_answers(QUESTIONS)
    with pytest.raises(BadInput, match="two different answers"):
        known_answers(QUESTIONS[:1])


def test_gold_words_in_an_answer_tell_right_from_wrong_however_long_it_is() -> None:
    """Unlike F1 they give a sentence full marks; unlike a judge they take a list of guesses, and
    refuse other words for the same thing."""
    assert answer_given("I think you drive a Jeep Wrangler.", "a Jeep Wrangler") == 1
    assert answer_given("You drive a Jeep.", "a Jeep Wrangler") == 0
    assert answer_given("That was not mentioned.", "a Jeep Wrangler") == 0
    assert answer_given("A Ford, a Volvo or a Jeep Wrangler.", "a Jeep Wrangler") == 1, "a guess"
    assert answer_given("She looks after patients.", "a nurse") == 0, "the same in other words"


def test_a_measure_is_shown_to_see_or_not() -> None:
    """One that knows the right answers has an area of 1 everywhere, one that loves length sees
    nothing reliably, and what it cannot see is in its note."""
    known = known_answers(QUESTIONS)
    right = discrimination("right", known, [float(one.kind.startswith("right")) for one in known])
    assert all(area == 1 for area in right.auc.values())
    assert "hardly see" not in right.line()
    alike = discrimination("alike", known, [1.0] * len(known))
    assert set(alike.auc.values()) == {0.5}
    assert REFUSAL in alike.line()
    assert OTHER in alike.line()
    none = discrimination("unread", known, [None] * len(known))
    assert none.unscored == len(known)
    assert not none.scores


VERDICTS = (
    {"item": 0, "marks": {"a": [9, 8, 8], "b": [5, 4, 6]}, "rank": ["a", "b"]},
    {"item": 1, "marks": {"a": [7, 8, 8], "b": [7, 9, 9]}, "rank": ["b", "a"]},
    {"item": 2, "marks": {"a": [8, 8, 8], "b": [6, 2, 8]}, "rank": ["a", "b"]},
)
REPLIES = tuple(
    {
        "item": n,
        "known": "Ann has a dog.",
        "dialogue": "User: Hello!",
        "gold": "How is the dog today?",
        "replies": {"a": f"How is your dog {'good ' * n}?", "b": "Fine weather."},
    }
    for n in range(3)
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with verdicts and replies, one of the files packed."""
    with gzip.open(tmp_path / "my_verdicts.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(line) + "\n" for line in VERDICTS)
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(line) + "\n" for line in REPLIES))
    return tmp_path


def test_verdicts_are_read_and_summarised(folder: Path) -> None:
    """Mean ranks and marks, the best method first."""
    best, other = summarise(load_verdicts(folder))
    assert (best.method, other.method) == ("a", "b")
    assert best.rank.mean == pytest.approx(4 / 3)
    assert [round(mark.mean, 2) for mark in best.marks] == [8, 8, 8]


def test_agreement_is_counted_over_pairs(folder: Path) -> None:
    """F1 prefers `a` three times, the reader twice: two of three pairs; a constant measure ties
    everywhere and counts half."""
    verdicts, items = load_verdicts(folder), load_items(folder)
    found = agreement_with(verdicts, "F1", text_scores(items, "F1 with the gold reply"))
    assert found.agrees is not None
    assert found.agrees.mean == pytest.approx(2 / 3)
    assert found.order == 1
    constant = agreement_with(verdicts, "1", {v.item: {"a": 1.0, "b": 1.0} for v in verdicts})
    assert constant.agrees is not None
    assert (constant.agrees.mean, constant.tied) == (0.5, 1.0)


def test_items_that_cannot_be_matched_still_give_the_order_of_methods(folder: Path) -> None:
    """Without a common item there is no agreement by pairs, only Kendall's tau of the methods."""
    verdicts = load_verdicts(folder)
    found = agreement_with(verdicts, "x", {"elsewhere": {"a": 0.0, "b": 1.0}})
    assert found.agrees is None
    assert found.order == -1


async def test_a_judge_is_compared_in_both_orders(folder: Path) -> None:
    """One that sees the dog agrees as often as the reader does; one that always takes the first
    reply only ties, and its bias shows."""
    verdicts, items = load_verdicts(folder), load_items(folder)

    async def sees(request: Request) -> Completion:
        text = request.messages[-1].content
        first = text.index("How is your dog") < text.index("Fine weather")
        return _said(json.dumps({"better": "A" if first else "B"}))

    async def first(request: Request) -> Completion:
        del request
        return _said('{"better": "A"}')

    seen, report = await judge_agreement(verdicts, items, PairJudge(ask=sees))
    assert seen.agrees is not None
    assert seen.agrees.mean == pytest.approx(2 / 3)
    assert seen.by_method == {"a": 1.0, "b": 0.0}
    assert report.wins == 3
    biased, report = await judge_agreement(verdicts, items, PairJudge(ask=first))
    assert biased.tied == 1
    assert report.position_bias == 1


def _said(text: str) -> Completion:
    return Completion(text=text, prompt_tokens=1, completion_tokens=1, seconds=0.0, finish="stop")


def test_wrong_verdicts_are_named(tmp_path: Path) -> None:
    """A rank of other methods and marks of other lengths are errors of the file; so is nothing."""
    with pytest.raises(BadInput, match=r"no verdicts\.jsonl"):
        load_verdicts(tmp_path)
    path = tmp_path / "verdicts.jsonl"
    path.write_text(json.dumps({"item": 0, "marks": {"a": [1], "b": [2]}, "rank": ["a"]}))
    with pytest.raises(BadData, match="an order of a, b"):
        load_verdicts(tmp_path)
    path.write_text(json.dumps({"item": 0, "marks": {"a": [1], "b": []}, "rank": ["a", "b"]}))
    with pytest.raises(BadData, match="same number of marks"):
        load_verdicts(tmp_path)


def bench(*arguments: object, status: int = 0) -> str:
    """The command's output."""
    done = CliRunner().invoke(cli, ["bench", *map(str, arguments)])
    assert done.exit_code == status, done.output
    return done.output


def test_measures_on_the_command_line(tmp_path: Path) -> None:
    """F1 and a judge on known answers; a task without any says which tasks have them."""
    common = ("--data", FIXTURES, "--cache", tmp_path / "calls")
    shown = bench("measures", "locomo", *common, "--judge", "stand-in")
    assert "F1: answer" in shown
    assert "judged right: answer" in shown
    [f1] = json.loads(bench("measures", "locomo", *common, "--json"))
    assert f1["scores"]["right"]["mean"] > 0.8 > f1["scores"]["refusal"]["mean"]
    assert "tasks that have: locomo" in bench("measures", "msc", *common, status=1)
    assert "name one with --judge" in bench("measures", "beam", *common, status=1)
    assert "rubric: answer" in bench("measures", "beam", *common, "--judge", "stand-in")


def test_agreement_on_the_command_line(folder: Path, tmp_path: Path) -> None:
    """Verdicts, measures and a judge in one table; the judge may be asked in a batch."""
    shown = bench("agreement", folder)
    assert "uses the past" in shown
    assert "F1 with the gold reply" in shown
    asked = ("--judge", "http://127.0.0.1:9/v1#far", "--criterion", "past", "--batch")
    command = ("agreement", folder, *asked, tmp_path / "batch", "--cache", tmp_path / "calls")
    bench(*command, status=WAITING)
    assert fill(tmp_path / "batch") == ["round-001.requests.jsonl"]
    assert "far, past" in bench(*command)
    (folder / "items.jsonl").unlink()
    assert "needs the replies" in bench("agreement", folder, "--judge", "stand-in", status=1)


def test_every_task_says_what_its_measures_see() -> None:
    """The table of docs/measures.md has all tasks, and each row names a test that exists."""
    tests = Path(__file__).parent
    defined = {
        name
        for path in tests.glob("test_*.py")
        for name in re.findall(r"^(?:async )?def (test_\w+)", path.read_text("utf-8"), re.MULTILINE)
    }
    page = (tests.parents[1] / "docs" / "measures.md").read_text("utf-8")
    table = page.partition("| task | told apart |")[2].partition("\n\n")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines()[2:]]
    named = [name for row in rows for name in re.findall(r"`([\w-]+)`", row[0])]
    assert sorted(named) == sorted(OWN)
    for row in rows:
        found = re.findall(r"`(test_\w+)`", row[-1])
        assert found, row
        assert set(found) <= defined, row
