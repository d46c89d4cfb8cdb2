"""How much of what is learnt: most of a task, even languages, hard cases, the paper's counts."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from omoide.errors import BadInput
from omoide.ports import Message
from omoide_tune.building import is_held_out
from omoide_tune.dataset_files import make
from omoide_tune.examples import Example, read
from omoide_tune.mixture import (
    MAX_EXAMPLES,
    PAPER,
    PAPER_TEST,
    PAPER_TRAIN,
    PAPER_VALID,
    even_counts,
    mixed,
    parsed,
)
from omoide_tune.thoroughness import GOAL, facts

if TYPE_CHECKING:
    from pathlib import Path


def example(task: str, language: str, number: int, answer: str = "a\nb", hard: str = "") -> Example:
    """Some example."""
    return Example(
        task=task, language=language, source="own", key=str(number), answer=answer, hard=hard,
        messages=(Message(role="user", content="x"),),
    )  # fmt: skip


def test_what_one_group_leaves_goes_to_the_others() -> None:
    """By weight, and never more than there is."""
    assert even_counts({"en": 100, "ja": 100, "zh": 100}, 40, {"en": 2.0}) == {
        "en": 20,
        "ja": 10,
        "zh": 10,
    }
    assert even_counts({"en": 100, "ja": 3}, 40, {}) == {"en": 37, "ja": 3}
    assert even_counts({"en": 2, "ja": 3}, 40, {}) == {"en": 2, "ja": 3}
    assert sum(even_counts({"en": 9, "ja": 9, "zh": 9}, 8, {}).values()) == 8


def test_languages_are_even_and_hard_cases_have_their_share() -> None:
    """Within the most of a task; notes of a single line are few. Of choices the hard cases are
    those of none, and come no more often than they were made."""
    many = [
        example("events", code, i, hard="long" * (i > 180))
        for code in ("ja", "ko")
        for i in range(200)
    ]
    kept = mixed(many, {"events": 80}, hard=0.4)
    assert Counter(e.language for e in kept) == {"ja": 40, "ko": 40}
    assert sum("long" in e.hard for e in kept) >= 32
    none = [example("choice", "en", i, hard="nothing" * (i % 10 == 0)) for i in range(200)]
    assert sum("nothing" in e.hard for e in mixed(none, {"choice": 50}, hard=0.4)) == 5
    single = [example("notes", "en", i, answer="one") for i in range(100)]
    several = [example("notes", "en", i) for i in range(100, 200)]
    kept = mixed([*single, *several], {"notes": 100}, hard=0.0)
    assert Counter(e.answer for e in kept) == {"one": 25, "a\nb": 75}


def test_the_default_is_some_thousands_and_counts_can_be_given() -> None:
    """As TASK=NUMBER; anything else is refused."""
    assert 7000 <= sum(MAX_EXAMPLES.values()) <= 10_000
    assert parsed(("notes=5", "reply=0")) == {"notes": 5, "reply": 0}
    for bad in ("notes", "tea=3", "notes=-1", "notes=x"):
        with pytest.raises(BadInput, match="TASK=NUMBER"):
            parsed((bad,))


@pytest.mark.heavy  # a dozen seconds
def test_own_talks_of_five_languages_give_every_task(tmp_path: Path) -> None:
    """Few of them, on disk, with a card; a whole chain is on one side."""
    made = make(tmp_path, tmp_path / "out", names=("own",), talks=40, most={"reply": 60})
    learnt, kept = (read(tmp_path / f"out/{name}.jsonl") for name in ("train", "held-out"))
    assert {(e.task, e.language) for e in learnt} >= {
        (task, code) for task in ("notes", "events", "iteration", "fused", "reply")
        for code in ("en", "zh", "ja", "ko", "vi")
    }  # fmt: skip
    assert {e.key for e in learnt}.isdisjoint(e.key for e in kept)
    assert sum(e.task == "reply" for e in learnt) == 60
    card = json.loads((tmp_path / "out/card.json").read_text("utf-8"))
    assert card["shippable"] is True
    assert "msc" in card["left out by licence"]
    assert card["hard cases"]["injected"] > 0
    assert card["learnt"] == made.trained == len(learnt)


@pytest.mark.heavy  # a dozen seconds
def test_only_the_languages_that_were_named(tmp_path: Path) -> None:
    """In both files, scenes included."""
    made = make(tmp_path, tmp_path / "out", names=("own",), talks=20, languages=("en", "ja"))
    assert {e.language for e in made.examples} == {"en", "ja"}
    assert "scenes" in {e.source for e in made.examples}


def test_contrast_adds_lessons_in_other_orders_for_training_only(tmp_path: Path) -> None:
    """The same lessons and more, only of what changes; the held-out part and the rest stay."""
    (tmp_path / "data").mkdir()
    plain, more = (
        make(
            tmp_path / "data", tmp_path / name, names=("own",), tasks=("facts",),
            talks=100, languages=("en",), contrast=orders,
        )
        for name, orders in (("plain", 0), ("more", 2))
    )  # fmt: skip
    before, after = (read(tmp_path / name / "train.jsonl") for name in ("plain", "more"))
    assert after[: len(before)] == before
    changed = [one for one in before if "changed" in one.hard.split()]
    added = after[len(before) :]
    assert 2 * len(changed) <= len(added) <= 3 * len(changed)
    assert changed
    assert {one.key for one in added} <= {one.key for one in changed}
    kept = [(tmp_path / name / "held-out.jsonl").read_bytes() for name in ("plain", "more")]
    assert kept[0] == kept[1] != b""
    assert more.card["talks"] == plain.card["talks"] in range(100, 110)  # whole chains, English
    assert more.card["further orders of what is known"] == 2
    assert "further orders of what is known" not in plain.card


def test_the_paper_s_tasks_have_its_counts_as_most_and_two_sets_to_judge_by(tmp_path: Path) -> None:
    """No talk in two of the three files."""
    data = tmp_path / "dialogsum"
    data.mkdir()
    things = "kayak organ piano orchid parrot violin tractor lantern anchor saddle".split()
    rows = []
    for n in range(120):
        thing, name = things[n % 10], f"{things[(n * 7) % 10].title()}{n}"
        said = [
            f"I would like to see the {thing} of {name}.",
            "Why that one?",
            f"Because {name} made the {thing} by hand.",
            f"Then let us visit {name} soon.",
        ]
        rows.append(json.dumps({
            "fname": f"train_{n}", "topic": f"a {thing} by {name}",
            "dialogue": "\n".join(f"#Person{i % 2 + 1}#: {text}" for i, text in enumerate(said)),
            "summary": f"#Person1# would like to see the {thing} that {name} made by hand.",
        }))  # fmt: skip
    (data / "train.jsonl.gz").write_bytes(gzip.compress("\n".join(rows).encode()))
    out = tmp_path / "out"
    made = make(tmp_path, out, names=("dialogsum",), research=True, paper=True)
    assert made.card["shippable"] is False
    keys = [{e.key for e in read(out / f"{n}.jsonl")} for n in ("train", "held-out", "test")]
    assert keys[0].isdisjoint(keys[1] | keys[2])
    assert keys[1].isdisjoint(keys[2])
    assert {e.task for e in made.examples} <= set(PAPER)
    assert made.card["most"] == {"memos": 1780, "choice": 1292, "reply": 1787}
    assert PAPER == {"memos": 1970, "choice": 1482, "reply": 1977}


@pytest.mark.parametrize("task", ["memos", "choice", "reply"])
def test_the_papers_validation_and_test_are_among_its_examples(task: str) -> None:
    """1,970, 1,482 and 1,977 are all examples, so that 40 and 150 of them are not learnt from."""
    assert PAPER_TRAIN[task] + PAPER_VALID + PAPER_TEST == PAPER[task]
    assert sum(PAPER_TRAIN.values()) == 5429 - 3 * 190
    enough = [example(task, "en", n) for n in range(2200)]
    assert len(mixed(enough, PAPER_TRAIN, hard=0.0)) == PAPER_TRAIN[task]


def test_a_side_is_a_matter_of_the_key_alone() -> None:
    """And about as many are held out as is asked for."""
    held = sum(is_held_out("own", str(n), share=0.2) for n in range(2000))
    assert 340 < held < 460
    first = [is_held_out("own", str(n), share=0.2) for n in range(50)]
    assert [is_held_out("own", str(n), share=0.2) for n in reversed(range(50))] == first[::-1]
    assert first != [is_held_out("other", str(n), share=0.2) for n in range(50)]


def test_notes_are_thorough_as_far_as_there_are_long_ones() -> None:
    """Short lists are taken only as long ones make up for them."""
    texts = [f"has {n} and {n}" for n in "abcdefgh"]
    long = [
        example("notes", "en", i, answer="\n".join(f"User {text}." for text in texts[:6]))
        for i in range(30)
    ]
    short = [
        example("notes", "en", i, answer="\n".join(f"User {text}." for text in texts[:2]))
        for i in range(30, 90)
    ]
    kept = mixed([*long, *short], {"notes": 60}, hard=0.0)
    assert sum(facts(one) for one in kept) / len(kept) == GOAL
    kept = mixed([*short, *long[:5]], {"notes": 20}, hard=0.0)
    assert Counter(facts(one) for one in kept) == {6.0: 5, 2.0: 15}


def test_where_nothing_is_told_nothing_is_noted_in_a_fifth_of_the_notes() -> None:
    """And in up to a half where there are too few others; talks that tell little keep short
    lists."""
    silent = [example("notes", "en", i, answer="(none)", hard="nothing") for i in range(100)]
    told = [example("notes", "en", i) for i in range(100, 200)]
    kept = mixed([*silent, *told], {"notes": 50}, hard=0.4)
    assert Counter(one.answer for one in kept) == {"(none)": 10, "a\nb": 40}
    kept = mixed([*silent, *told[:20]], {"notes": 50}, hard=0.4)
    assert Counter(one.answer for one in kept) == {"(none)": 20, "a\nb": 20}
    brief = [replace(one, source="everyday", answer="User has a cat.") for one in told]
    assert len(mixed(brief, {"notes": 50}, hard=0.4)) == 50
    assert len(mixed([replace(one, source="own") for one in brief], {"notes": 40}, hard=0)) == 10


def test_a_third_of_the_memories_carried_along_are_full() -> None:
    """As far as there are any, also where one source alone has them and they tell less."""
    ample = "\n".join(f"User has {n} and {n}." for n in "abcdef")
    lean = [example("iteration", "en", i, hard="full") for i in range(80)]
    other = [
        replace(example("iteration", "en", i, answer=ample), source=f"other{i % 2}")
        for i in range(80, 280)
    ]
    kept = mixed([*other, *lean], {"iteration": 90}, hard=0.0)
    assert len(kept) == 90
    assert sum(one.hard == "full" for one in kept) >= 30
    kept = mixed([*other, *lean[:10]], {"iteration": 90}, hard=0.0)
    assert sum(one.hard == "full" for one in kept) == 10


def test_of_a_memory_that_is_carried_along_only_what_is_new_counts() -> None:
    """By speaker; joined sentences have several facts."""
    one = Example(
        task="iteration", language="en", source="own", key="1",
        messages=(Message(role="user", content="Memory:\nUser has a cat."),),
        answer="User has a cat; has a dog.\nUser sings.\nAssistant swims.",
    )  # fmt: skip
    assert facts(one) == 1.5
    assert facts(replace(one, task="reply")) == 0.0
