"""Instruction data: prompts as the mechanisms send them, targets that the talks support."""

from __future__ import annotations

import csv
import itertools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from omoide.claims.noted_facts import NotedFact
from omoide.cli.main import cli
from omoide.domain import Speaker
from omoide.errors import BadInput
from omoide.mechanisms.memos.reading import read_choice, read_entries
from omoide.mechanisms.summary.small_form import SmallForm
from omoide.prompts.transcript import Line
from omoide_tune.batches import EncodedExample, by_tokens, count_steps, shuffled
from omoide_tune.building import held_out
from omoide_tune.checked_talks import trimmed
from omoide_tune.dataset_files import make
from omoide_tune.examples import TASKS, checked, read
from omoide_tune.recipe import Recipe
from omoide_tune.sources import SOURCES, select_sources
from omoide_tune.third_person import predicate, recased

if TYPE_CHECKING:
    from pathlib import Path

    from omoide_tune.dataset_files import MadeDataset

WORK = "baker nurse carpenter teacher gardener driver translator sailor tailor potter".split()
PLACES = "Leeds Porto Cork Lima Quito Bergen Oslo Malmo Turin Bilbao".split()
PETS = "parrot rabbit hamster tortoise goat pony ferret canary gecko donkey".split()


def dialogues(folder: Path, count: int) -> Path:
    """A folder with dialogues of our own in the form of Synthetic-Persona-Chat."""
    data, folder = folder, folder / "synthetic_persona_chat"
    folder.mkdir(parents=True)
    with (folder / "own_valid.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["user 1 personas", "user 2 personas", "Best Generated Conversation"])
        for n in range(count):
            work, place, pet = WORK[n % 10], PLACES[(n // 3) % 10], PETS[(n // 2) % 10]
            one = f"I work as a {work}.\nI live in {place.lower()}.\nI own a submarine."
            other = f"I have a {pet}.\nMy favorite food is soup."
            talk = (
                "User 1: Hello!\nUser 2: Hi there, [User 2's name] here.\n"
                "User 2: Hi! How are you?\n"
                f"User 1: Fine. I work as a {work} and it keeps me busy.\n"
                f"User 2: Lovely. I have a {pet} at home.\n"
                f"User 1: Since last year my home is {place}, yes, I live in {place} now. "
                "What is your favorite food?\n"
                "User 2: Soup is my favorite food, by the way.\nUser 1: Good for you.\n"
                "User 2: It is! See you."
            )
            rows.writerow([one, other, talk])
    return data


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty of them, for tests that only read."""
    return dialogues(tmp_path_factory.mktemp("data"), 30)


@dataclass(frozen=True)
class Made:
    """What was made of them, and where."""

    dataset: MadeDataset
    folder: Path


@pytest.fixture(scope="module")
def made(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The files of all tasks, made once: it takes a second."""
    folder = tmp_path_factory.mktemp("made")
    return Made(make(data, folder, names=("synthetic_persona_chat",)), folder)


@pytest.mark.parametrize(
    ("said", "noted"),
    [
        ("I am a baker.", "is a baker"),
        ("i have two cats", "has two cats"),
        ("I don't like my job.", "does not like their job"),
        ("I really enjoy hiking.", "really enjoys hiking"),
        ("I study law.", "studies law"),
        ("I watch birds.", "watches birds"),
        ("I moved to Leeds.", "moved to Leeds"),
        ("I'm afraid of heights.", "is afraid of heights"),
        ("My favorite food is soup.", "has soup as favorite food"),
        ("My mother is a nurse.", "has a mother who is a nurse"),
        ("My older brother lives in Cork.", "has an older brother who lives in Cork"),
        ("I rarely eat fish.", "rarely eats fish"),
        ("My name is George.", "is named George"),
        ("My dog's name is Rex.", "has a dog named Rex"),
        ("My horse died of old age.", "has a horse that died of old age"),
        ("I am tall and I sing.", ""),
        ("I bake and own a shop.", ""),
        ("We like tea.", ""),
        ("I read.", ""),
        ("Do I know you?", ""),
        ("I work at joe s diner", ""),
    ],
)
def test_the_first_person_becomes_the_third(said: str, noted: str) -> None:
    """By rule; nothing where the rule is not sure."""
    assert predicate(said, "en") == noted


def test_chinese_loses_its_subject() -> None:
    """And is left alone where somebody else is named."""
    assert predicate("我 喜欢 运动", "zh") == "喜欢运动"
    assert predicate("我 和 你 一样", "zh") == ""


def test_names_get_their_capitals_back() -> None:
    """From what was said, not from the beginnings of sentences."""
    assert recased("lives in leeds", "Since May I live in Leeds.") == "lives in Leeds"
    assert recased("likes soup", "Yes. Soup is good, soup!") == "likes soup"


def test_the_same_seed_gives_the_same_files(tmp_path: Path) -> None:
    """To the byte; another seed gives others."""
    data = dialogues(tmp_path / "data", 6)
    made = [make(data, tmp_path / n, names=("synthetic_persona_chat",), seed=s)
            for n, s in (("a", 1), ("b", 1), ("c", 2))]  # fmt: skip
    files = [(tmp_path / n / "train.jsonl").read_bytes() for n in ("a", "b", "c")]
    assert files[0] == files[1] != files[2]
    assert made[0].card["shippable"] is True


def test_every_example_is_one_that_the_product_would_ask_and_could_read(made: Made) -> None:
    """All tasks; unsupported facts are not among the targets, nor gaps in place of names."""
    everything = (*read(made.folder / "train.jsonl"), *read(made.folder / "held-out.jsonl"))
    assert sorted(everything, key=str) == sorted(made.dataset.examples, key=str)
    assert {example.task for example in everything} == set(TASKS)
    for example in everything:
        assert "submarine" not in example.answer
        assert "name]" not in str(example.messages)
        if example.task == "memos":
            spans = [entry.span for entry in read_entries(example.answer)]
            assert spans[0].first == 1
            assert all(a.last + 1 == b.first for a, b in itertools.pairwise(spans))
        if example.task == "choice":
            assert len(read_choice(example.answer, count=20)) <= 4
        if example.task == "events":
            json.loads(example.answer)


def test_notes_use_the_small_forms_own_prompt(data: Path, tmp_path: Path) -> None:
    """Message for message, and the small form keeps every fact of the answer."""
    make(data, tmp_path / "out", names=("synthetic_persona_chat",), tasks=("notes",))
    example = next(
        e for e in read(tmp_path / "out/train.jsonl") if e.answer.startswith("User works")
    )
    last = example.messages[-1].content
    own = [line[2:] for line in last.splitlines() if line.startswith("- ")]
    lines = [Line(speaker=Speaker.USER, text=text) for text in own]
    (asked,) = SmallForm().ask(old=(), session=lines, language="en", limit=20)
    assert asked.request.messages == example.messages
    reading = SmallForm().read([example.answer], old=(), session=lines, language="en", limit=20)
    assert not reading.notes
    assert "User lives in " in example.answer
    assert example.answer.split("lives in ")[1][0].isupper()


def test_what_no_fact_holds_is_cut_from_the_talk() -> None:
    """Else a model would learn to leave out what it was shown; small talk stays."""
    lines = [
        Line(speaker=Speaker.USER, text="Hello! I work as a baker. I also sail to Norway in May."),
        Line(speaker=Speaker.ASSISTANT, text="Good for you!"),
    ]
    facts = {Speaker.USER: [NotedFact(about=Speaker.USER, text="works as a baker")]}
    cut = trimmed(lines, {**facts, Speaker.ASSISTANT: []}, "en")
    assert [line.text for line in cut] == ["Hello! I work as a baker.", "Good for you!"]


def test_no_talk_is_on_both_sides(made: Made) -> None:
    """Joined stretches included."""
    keys = [{e.key for e in read(made.folder / f"{n}.jsonl")} for n in ("train", "held-out")]
    assert keys[0].isdisjoint(keys[1])
    assert all(held_out(e) for e in read(made.folder / "held-out.jsonl"))


def test_licences_decide() -> None:
    """A set for research is refused by name, left out by default, and taken when asked for."""
    with pytest.raises(BadInput, match=r"msc.*research only"):
        select_sources(("msc",), research=False)
    assert all(not source.research for source in select_sources((), research=False))
    assert len(select_sources((), research=True)) == len(SOURCES)
    with pytest.raises(BadInput, match="unknown source"):
        select_sources(("nowhere",), research=True)


def test_the_command_shows_a_sample(data: Path, tmp_path: Path) -> None:
    """Statistics first, then examples of each task."""
    shown = CliRunner().invoke(
        cli,
        [
            *("tune", "data", str(tmp_path / "out"), "--data", str(data)),
            *("--source", "synthetic_persona_chat", "--sample", "1"),
        ],
        catch_exceptions=False,
    )
    assert shown.exit_code == 0, shown.output
    assert shown.output.count("→") == len(TASKS)
    assert "not supported" in shown.output


@pytest.mark.parametrize(
    "bad",
    [
        [],
        {"task": "notes"},
        {"task": "x", "language": "en", "source": "s", "key": "k", "answer": "a", "messages": []},
        {"task": "notes", "language": "en", "source": "s", "key": "k", "answer": " ",
         "messages": [{"role": "user", "content": "x"}]},
        {"task": "notes", "language": "en", "source": "s", "key": "k", "answer": "a",
         "messages": [{"role": "assistant", "content": "x"}]},
    ],
)  # fmt: skip
def test_what_is_no_example_is_refused(bad: object) -> None:
    """With a word on what is wrong."""
    with pytest.raises(BadInput):
        checked(bad)


def test_batches_hold_every_example_once_and_are_of_like_length() -> None:
    """Neighbours in a batch differ less in length than neighbours by chance."""
    lengths = [(i * 37) % 101 for i in range(103)]
    batches = shuffled(103, lengths, batch=8, seed=4)
    assert sorted(i for batch in batches for i in batch) == list(range(103))
    spread = [max(lengths[i] for i in b) - min(lengths[i] for i in b) for b in batches[:-1]]
    assert max(spread) <= 20
    assert batches == shuffled(103, lengths, batch=8, seed=4)
    assert count_steps(103, batch=8, accumulate=8, epochs=4) == 8


def test_the_rate_rises_and_falls() -> None:
    """The paper's defaults; a full rate after the rise, none at the end."""
    recipe = Recipe()
    assert (recipe.rank, recipe.alpha, recipe.rate, recipe.epochs) == (8, 16, 2e-5, 4)
    assert recipe.share(2, 100) == 1.0
    assert recipe.share(99, 100) < 0.01
    with pytest.raises(BadInput):
        Recipe(rank=0)


def test_batches_by_tokens_are_full_and_hold_everything() -> None:
    """Every example once; none over the limit but one that is longer by itself; few batches."""
    lengths = [3 + i * 37 % 90 for i in range(64)] + [250]
    given = [EncodedExample(prompt=(0,) * (n - 2), answer=(1, 2)) for n in lengths]
    found = by_tokens([given[:30], given[30:]], 200)
    assert sorted(one.length for batch in found for one in batch) == sorted(lengths)
    taken = [len(batch) * max(one.length for one in batch) for batch in found]
    assert [n for n in taken if n > 200] == [250]
    assert sum(taken) < 1.25 * sum(lengths)
    assert len(found) < len(lengths) / 2
    assert by_tokens([], 10) == []


def test_a_recipe_that_cannot_be_is_refused() -> None:
    """Fewer tokens at a time than an example may have; bits that nobody has."""
    with pytest.raises(BadInput, match="cannot hold an example"):
        Recipe(tokens=100, length=2048)
    with pytest.raises(BadInput, match="bits must be 4 or 16"):
        Recipe(bits=8)
