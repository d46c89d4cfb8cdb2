"""The map that brings questions near their answers: its data, its learning, and its command."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner

from omoide.cli.main import cli
from omoide.errors import BadInput
from omoide_tune.retrieval import question_map
from omoide_tune.retrieval.conversations import SHIPPED, read
from omoide_tune.retrieval.question_map import MapExamples, MapRecipe, QuestionMap
from omoide_tune.retrieval.question_pools import question_pools
from omoide_tune.retrieval.shapes import LICENCES, Conversation, Turn
from omoide_tune.written import LANGUAGES, WrittenQuestion, questions

if TYPE_CHECKING:
    from click.testing import Result

STYLES = {"direct", "general", "indirect", "when", "several", "chat"}
EVERYDAY = "aadd4865603b0c2d"
"""Digest of the turns that answer questions about everyday talks. The names of these conversations
follow from the order of all talks, so a talk that is added moves them: the conversations and turns
in `questions.*.jsonl` have to be renamed with them."""


@pytest.fixture(scope="module")
def talks() -> dict[str, Conversation]:
    """The talks of this package, by name."""
    return {one.name: one for one in read(Path(), names=SHIPPED)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_question_has_its_turns(language: str, talks: dict[str, Conversation]) -> None:
    """Those about talks of this package; the others name a data set that may be shipped."""
    asked = questions(language)
    assert len(asked) > 800
    assert len({question.text.lower() for question in asked}) == len(asked)
    for question in asked:
        assert question.style in STYLES
        assert question.turns
        assert question.source in LICENCES
        if question.source in SHIPPED:
            assert talks[question.conversation].language == language
            ids = {turn.id for turn in talks[question.conversation].turns}
            assert ids.issuperset(question.turns), question


def test_questions_are_about_the_talks_that_they_were_written_for(
    talks: dict[str, Conversation],
) -> None:
    """A talk that is added does not put another one under the name that a question has."""
    digest = hashlib.blake2s()
    for question in (question for language in LANGUAGES for question in questions(language)):
        if question.source == "everyday":
            said = {turn.id: turn.text for turn in talks[question.conversation].turns}
            digest.update("\n".join(said[turn] for turn in question.turns).encode())
    assert digest.hexdigest()[:16] == EVERYDAY


def test_a_pool_has_the_turns_between_the_first_and_the_last_that_are_named() -> None:
    """A held-out conversation is in a pool of its own, and a question without its turns in none."""
    turns = tuple(Turn(id=f"0.{i}", speaker="user", text=f"line {i}") for i in range(9))
    talks = [
        Conversation(
            name=f"own/{i}", source="own", language="en", names=("Ann", "Ben"), assisted=False,
            turns=turns,
        )
        for i in range(40)
    ]  # fmt: skip
    asked = [
        WrittenQuestion(conversation=one.name, turns=ids, style="direct", text=f"{one.name} {ids}")
        for one in talks
        for ids in (("0.2",), ("0.3", "0.5"), ("0.99",))
    ]
    made = list(question_pools(asked, talks))
    assert {pool.held_out for pool in made} == {True, False}
    assert sum(len(pool.questions) for pool in made) == 2 * len(talks)
    held_out = {one.name for one in talks if one.held_out}
    for pool in made:
        named = {question.conversation for question in pool.questions}
        assert named <= held_out if pool.held_out else named.isdisjoint(held_out)
        assert set(pool.turns) == {"line 2", "line 3", "line 4", "line 5"}
        for question, right in zip(pool.questions, pool.right, strict=True):
            said = [f"line {turn.rpartition('.')[2]}" for turn in question.turns]
            assert [pool.turns[place] for place in right] == said


def turned(recipe: MapRecipe) -> MapExamples:
    """Questions that are their turns, turned in space."""
    dice = np.random.default_rng(1)
    turns = dice.normal(size=(60, 16)).astype(np.float32)
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    rotation, _ = np.linalg.qr(dice.normal(size=(16, 16)))
    asked = (turns @ rotation).astype(np.float32)
    return question_map.examples(asked, turns, [(place,) for place in range(60)], recipe=recipe)


def test_a_map_brings_questions_to_their_turns() -> None:
    """Questions that are turned in space find their turns again."""
    recipe = MapRecipe(steps=300, batch=32, decay=1e-5, rate=1e-2)
    given = turned(recipe)

    def right(rows: question_map.Rows) -> float:
        return float(((rows @ given.turns.T).argmax(axis=1) == np.arange(60)).mean())

    learnt = question_map.learn(given, recipe=recipe)
    assert right(QuestionMap.identity(16).apply(given.questions)) < 0.5
    assert right(learnt.apply(given.questions)) > 0.9


def test_a_strong_pull_leaves_the_identity() -> None:
    """The map does not move away from where it begins."""
    recipe = MapRecipe(steps=200, batch=32, decay=1e4)
    learnt = question_map.learn(turned(recipe), recipe=recipe)
    assert np.abs(learnt.matrix - np.eye(16)).max() < 1e-3


def test_a_turn_that_may_answer_too_is_not_wrong() -> None:
    """Neither a right turn nor one that says the same; several pools keep their places."""
    turns = np.eye(4, dtype=np.float32)
    turns[1] = turns[0]
    recipe = MapRecipe(nearest=3)
    made = question_map.examples(turns[:1], turns, [(0,)], recipe=recipe)
    assert set(made.wrong[0]) == {2, 3}
    both = question_map.joined([made, replace(made, right=np.array([[0, 3]]))])
    assert both.right.tolist() == [[0, -1], [4, 7]]
    assert set(both.wrong[1]) == {6, 7}
    with pytest.raises(BadInput, match="--language"):
        question_map.joined([])


def test_a_map_is_read_back_within_a_rounding(tmp_path: Path) -> None:
    """Whole steps and a scale a row lose at most half a step; a row that did not move stays."""
    matrix = np.eye(8, dtype=np.float32)
    matrix[1:] += np.random.default_rng(1).normal(size=(7, 8)).astype(np.float32) / 9
    path = tmp_path / "map.npz"
    QuestionMap(matrix=matrix).save(path, embedder="hash")
    read_back = QuestionMap.load(path).matrix
    with np.load(path) as file:
        assert (file["steps"].dtype, file["scale"].dtype) == (np.int8, np.float32)
        assert str(file["embedder"]) == "hash"
        assert (np.abs(read_back - matrix) <= 0.51 * file["scale"][:, None]).all()
    assert (read_back[0] == matrix[0]).all()


def command(*arguments: object) -> Result:
    """`omoide tune question-map`."""
    return CliRunner().invoke(cli, ["--json", "tune", "question-map", *map(str, arguments)])


def test_the_command_writes_a_map_and_its_card(tmp_path: Path) -> None:
    """A trial run learns from a few talks and says what was held out."""
    out = tmp_path / "new" / "map.npz"
    done = command(out, "--tiny", "--language", "en")
    assert done.exit_code == 0, done.output
    made = json.loads(done.stdout)
    described = json.loads(out.with_suffix(".json").read_text("utf-8"))
    assert QuestionMap.load(out).matrix.shape == (64, 64)
    assert made["unread"] == 0
    assert made["held_out"] == described["held_out"]
    held_out = described["held_out"][-1]["questions"]
    assert described["trained_on"] == described["questions"] - held_out == made["questions"]
    assert {source["licence"] for source in described["sources"]} == {"Apache-2.0"}
    assert described["embedder"] == "hash"


def test_data_that_is_not_there_is_said(tmp_path: Path) -> None:
    """With what to do about it."""
    done = command(tmp_path / "map.npz", "--data", tmp_path)
    assert done.exit_code != 0
    assert "is --data right?" in done.output
    done = command(tmp_path / "map.bin", "--tiny")
    assert done.exit_code != 0
    assert ".npz" in done.output
