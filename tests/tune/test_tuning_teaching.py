"""A model as a further annotator: what it may add, where it is kept, and what becomes of it."""

from __future__ import annotations

import asyncio
import csv
import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from omoide.claims.noted_facts import NotedFact
from omoide.cli.main import cli
from omoide.domain import Speaker
from omoide.errors import BadInput, ModelUnavailable
from omoide.prompts.transcript import Line
from omoide.testing import ScriptedModel
from omoide_tune.checked_talks import DataTally, told
from omoide_tune.dataset_files import MadeDataset, make
from omoide_tune.lessons import Lesson, is_supported, lessons, with_lessons
from omoide_tune.talk import TrainingTalk
from omoide_tune.teaching import lesson_plan, pupils, teach

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.ports import Request

USER, FRIEND = Speaker.USER, Speaker.ASSISTANT
TALK = TrainingTalk(
    key="train/1",
    language="en",
    lines=(
        Line(speaker=USER, text="Hi! I work as a baker in Cork."),
        Line(speaker=FRIEND, text="Lovely. I play the harp in a small band."),
        Line(
            speaker=USER,
            text="A tortoise named Moss shares my garden. My brother drives a red truck.",
        ),
        Line(speaker=FRIEND, text="I would love to own a boat someday. I never eat meat."),
    ),
    stated=((USER, "I work as a baker."), (FRIEND, "I play the harp.")),
)
ABOUT_USER = "User works as a baker in Cork.\nUser has a tortoise named Moss.\nUser drives a truck."
ABOUT_FRIEND = (
    "Assistant plays the harp in a band.\nAssistant owns a boat.\nAssistant never eats meat."
)


def fact(text: str, about: Speaker = USER) -> NotedFact:
    """A fact about one of them."""
    return NotedFact(about=about, text=text)


@pytest.mark.parametrize(
    ("text", "about", "stands"),
    [
        ("has a tortoise named Moss", USER, True),
        ("has a tortoise named Fern", USER, False),
        ("has two tortoises named Moss", USER, False),
        ("drives a red truck", USER, False),
        ("has a brother who drives a red truck", USER, True),
        ("owns a boat", FRIEND, False),
        ("would love to own a boat someday", FRIEND, True),
        ("never eats meat", FRIEND, True),
        ("eats meat", FRIEND, False),
        ("plays the harp", USER, False),
        ("plays the harp in a famous band", FRIEND, False),
        ("thinks it is lovely", FRIEND, False),
    ],
)
def test_a_model_is_believed_only_where_one_line_tells_it(
    text: str, about: Speaker, stands: bool
) -> None:
    """Not with another name or number, of somebody else, wished, denied, or made fuller."""
    assert is_supported(fact(text, about), TALK.lines, "en") is stands


def test_chinese_is_held_to_one_line_as_well() -> None:
    """And to who tells it: what is told of a mother is not the speaker's."""
    said = (
        Line(speaker=USER, text="我在北京当老师。我妈妈喜欢跳舞。"),
        Line(speaker=USER, text="我不喝酒。"),
    )
    assert is_supported(fact("在北京当老师"), said, "zh")
    assert not is_supported(fact("喜欢跳舞"), said, "zh")
    assert not is_supported(fact("喝酒"), said, "zh")


async def test_a_model_is_asked_the_notes_own_question_and_what_stands_is_kept(
    tmp_path: Path,
) -> None:
    """First at temperature 0, then warmer with a seed; without the skill of a tuned model."""
    model = ScriptedModel([ABOUT_USER, "User has a tortoise.", ABOUT_FRIEND, ""], name="teacher")
    path = tmp_path / "taught.jsonl"
    report = await teach(model, pupils("set", [TALK]), path, tries=2, concurrency=1)
    first, second = lessons(path)
    assert first.about == ("set", "train/1", USER)
    assert first.sentences == (
        "User works as a baker in Cork.",
        "User has a tortoise named Moss.",
        "User has a tortoise.",
    )
    assert second.sentences == (
        "Assistant plays the harp in a band.",
        "Assistant never eats meat.",
    )
    assert first.model == second.model == "teacher"
    assert (report.asked, report.kept, report.said) == (2, 5, 7)
    assert [(r.temperature, r.seed, r.skill) for r in model.requests[:2]] == [
        (0.0, None, None),
        (0.7, 1, None),
    ]
    assert all(request.grammar for request in model.requests)


async def test_it_goes_on_where_it_was_broken_off(tmp_path: Path) -> None:
    """Nobody is asked about twice; a line that was not written to its end is written anew."""
    path = tmp_path / "taught.jsonl"
    whom = pupils("set", [TALK])
    await teach(ScriptedModel([ABOUT_USER, ABOUT_FRIEND]), whom, path, tries=1, concurrency=1)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    model = ScriptedModel([ABOUT_FRIEND])
    report = await teach(model, whom, path, tries=1, concurrency=4)
    assert path.read_bytes() == whole
    assert (report.before, report.asked) == (1, 1)


async def test_at_most_so_many_questions_are_under_way(tmp_path: Path) -> None:
    """And never more; the talks that are told whole are not asked about."""
    under_way, most = 0, 0

    async def slowly(request: Request) -> str:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        return ABOUT_USER if "Messages of User" in request.messages[-1].content else ABOUT_FRIEND

    talks = [TrainingTalk(key=str(n), language="en", lines=TALK.lines) for n in range(10)]
    talks += [TrainingTalk(key="whole", language="en", lines=TALK.lines, complete=True)]
    whom = pupils("set", talks)
    assert len(whom) == 20
    path = tmp_path / "taught.jsonl"
    await teach(ScriptedModel([slowly] * 20), whom, path, tries=1, concurrency=3)
    assert most == 3
    assert len(lessons(path)) == 20


async def test_a_speaker_without_an_answer_is_left_for_the_next_time(tmp_path: Path) -> None:
    """One failure is counted; many in a row end it, and what was written stays."""
    path = tmp_path / "taught.jsonl"
    gone = ModelUnavailable("no")
    report = await teach(
        ScriptedModel([gone, ABOUT_FRIEND]), pupils("set", [TALK]), path, tries=1, concurrency=1
    )
    assert (report.failed, report.asked, len(lessons(path))) == (1, 1, 1)
    many = [TrainingTalk(key=f"more/{n}", language="en", lines=TALK.lines) for n in range(10)]
    with pytest.raises(ModelUnavailable):
        await teach(ScriptedModel([gone] * 20), pupils("set", many), path, tries=1, concurrency=2)
    assert len(lessons(path)) == 1


async def test_it_ends_when_its_time_is_over(tmp_path: Path) -> None:
    """What is under way is dropped, and asked about next time."""

    async def forever(_: Request) -> str:
        await asyncio.Event().wait()
        return ""

    path = tmp_path / "taught.jsonl"
    model = ScriptedModel([ABOUT_USER, forever])
    report = await teach(model, pupils("set", [TALK]), path, tries=1, concurrency=1, seconds=0.2)
    assert (report.asked, report.left, len(lessons(path))) == (1, 1, 1)


def test_what_was_taught_joins_what_is_listed_before_the_talk_is_cut() -> None:
    """The listed wording wins; a line that only the model noted stays in the talk."""
    given = Lesson(
        source="set", key="train/1", speaker=USER, model="teacher",
        sentences=("User works as a baker in Cork.", "User has a tortoise named Moss.",
                   "User lives on the moon."),
    )  # fmt: skip
    before = told(TALK, "set", DataTally())
    (talk,) = with_lessons([TALK], "set", [given])
    tally = DataTally()
    after = told(talk, "set", tally)
    assert [f.text for f in before.of(USER)] == ["works as a baker"]
    assert [f.text for f in after.of(USER)] == ["works as a baker", "has a tortoise named Moss"]
    assert not any("tortoise" in line.text for line in before.lines)
    assert any("tortoise" in line.text for line in after.lines)
    assert (tally.facts["taught"], tally.taught) == (1, {"teacher": 1})


def test_the_order_of_the_file_does_not_matter() -> None:
    """Lines come as answers came: the same talks are made of them."""
    given = [
        Lesson(source="set", key="train/1", speaker=who, model=by, sentences=(f"{by} {who}",))
        for who in Speaker
        for by in ("a", "b")
    ]
    one, other = (tuple(with_lessons([TALK], "set", g)) for g in (given, given[::-1]))
    assert one == other
    assert len(one[0].taught) == 4


@pytest.mark.parametrize(
    "row",
    ["[]", '{"source": "a", "key": "b", "speaker": "cat", "model": "m", "sentences": []}',
     '{"source": "a", "key": "b", "speaker": "user", "model": "m", "sentences": [1]}'],
)  # fmt: skip
def test_a_line_that_is_no_lesson_is_named(tmp_path: Path, row: str) -> None:
    """With the file and its number."""
    path = tmp_path / "taught.jsonl"
    path.write_text(f"{row}\n")
    with pytest.raises(BadInput, match="line 1"):
        lessons(path)


async def test_the_card_names_the_model_and_nothing_nameless_is_shipped(tmp_path: Path) -> None:
    """From the talks on disk to the data; the same talks are read by both commands."""
    folder = tmp_path / "data" / "synthetic_persona_chat"
    folder.mkdir(parents=True)
    pets = "tortoise parrot donkey ferret gecko".split()
    with (folder / "own_valid.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["one", "two", "talk"])
        for n in range(40):
            rows.writerow([
                "I work as a baker.", "I play the harp.",
                f"User 1: I work as a baker in Cork.\nUser 2: I play the harp at home.\n"
                f"User 1: A {pets[n % 5]} named Moss{n} shares my garden.\n"
                "User 2: I never eat meat.",
            ])  # fmt: skip

    def answer(request: Request) -> str:
        words = request.messages[-1].content.split()
        if "named" not in words:
            return "Assistant never eats meat."
        at = words.index("named")
        return f"User has a {words[at - 1]} named {words[at + 1].strip('.')}."

    path, names = tmp_path / "taught.jsonl", ("synthetic_persona_chat",)
    whom = lesson_plan(tmp_path / "data", names=names, talks=30, seed=1)
    model = ScriptedModel([answer] * len(whom), name="teacher")
    await teach(model, whom, path, tries=1, concurrency=5)
    plain = make(tmp_path / "data", tmp_path / "a", names=names, talks=30)
    fuller = make(tmp_path / "data", tmp_path / "b", names=names, talks=30, taught=[path])
    again = make(tmp_path / "data", tmp_path / "c", names=names, talks=30, taught=[path])
    assert (tmp_path / "b/train.jsonl").read_bytes() == (tmp_path / "c/train.jsonl").read_bytes()
    assert fuller.card == again.card
    assert fuller.card["taught by"] == {"teacher": 30}
    assert "taught by" not in plain.card
    assert fuller.card["shippable"] is True

    def answers(made: MadeDataset) -> float:
        notes = [e.answer.count("\n") + 1 for e in made.examples if e.task == "notes"]
        return sum(notes) / len(notes)

    assert answers(fuller) >= answers(plain) + 0.5
    path.write_text(path.read_text().replace('"teacher"', '""'))
    nameless = make(tmp_path / "data", tmp_path / "d", names=names, talks=30, taught=[path])
    assert nameless.card["shippable"] is False
    assert json.loads((tmp_path / "d/card.json").read_text())["taught by"] == {"": 30}


def test_the_command_asks_about_nobody_twice(tmp_path: Path) -> None:
    """A file that has everybody needs no model; it says so."""
    folder = tmp_path / "data" / "synthetic_persona_chat"
    folder.mkdir(parents=True)
    with (folder / "own_valid.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["one", "two", "talk"])
        for _ in range(3):
            rows.writerow(["I sing.", "I swim.", "User 1: I sing daily.\nUser 2: I swim daily."])
    names, path = ("synthetic_persona_chat",), tmp_path / "taught.jsonl"
    whom = lesson_plan(tmp_path / "data", names=names, talks=2, seed=1)
    path.write_text("".join(
        Lesson(source=one.source, key=one.talk.key, speaker=one.speaker, model="m", sentences=())
        .line() for one in whom
    ))  # fmt: skip
    ran = CliRunner().invoke(
        cli,
        ["--json", "tune", "teach", str(path), "--data", str(tmp_path / "data"),
         "--source", names[0], "--talks", "2", "--concurrency", "3"],
        env={"OMOIDE_MODEL": "http://127.0.0.1:9/v1#nobody"},
    )  # fmt: skip
    assert ran.exit_code == 0, ran.output
    told = json.loads(ran.stdout)
    assert (told["before"], told["asked"], told["left"]) == (4, 0, 0)
