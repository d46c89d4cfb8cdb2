"""Retrieval pairs: what a model is asked, what is kept, and the card."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omoide_tune.retrieval import asking, pairs
from omoide_tune.retrieval.asking import STYLES, parsed, requests, worth_asking
from omoide_tune.retrieval.pairs import Pair, Question, card, checked, copied, unanswered
from omoide_tune.retrieval.shapes import LICENCES, POOL, Conversation, Turn, pools
from omoide_tune.retrieval.words import Bm25, rank
from omoide_tune.sources import SOURCES

if TYPE_CHECKING:
    from pathlib import Path

SAID = (
    "On Saturday we picked up a beagle puppy in Leeds and called him Rex.",
    "That sounds lovely, I have always wanted a dog of my own.",
    "My sister works as a nurse in a hospital near the old harbour.",
    "I have been learning the accordion since the spring of last year.",
)


def talk(name: str = "own/en/1", *, language: str = "en", assisted: bool = False) -> Conversation:
    """Four turns."""
    turns = tuple(
        Turn(id=f"0.{i}", speaker=("user", "assistant")[i % 2], text=text)
        for i, text in enumerate(SAID)
    )
    return Conversation(
        name=name, source="own", language=language, names=("Ann", "Ben"), assisted=assisted,
        turns=turns,
    )  # fmt: skip


def test_a_request_shows_a_worked_example_and_marks_the_line() -> None:
    """The line to be asked about comes last, marked, after an example with the same styles."""
    made = asking.request(talk(), 2, random.Random(1))
    roles = [role for role, _ in made.messages]
    assert roles == ["system", "user", "assistant", "user"]
    assert made.messages[-1][1].splitlines()[-1] == f">>> Ann: {SAID[2]}"
    assert len(made.messages[2][1].splitlines()) == asking.EACH


@pytest.mark.parametrize("language", ["en", "zh", "ja", "ko", "vi"])
def test_every_language_has_an_example_of_every_style(language: str) -> None:
    """What the worked example asks passes the check of its own language."""
    example = asking._example(language, assisted=False)
    reply = "\n".join(f"{style}: {example[style]}" for style in STYLES)
    assert list(parsed(reply, language)) == list(STYLES)


def test_a_reply_in_another_script_is_dropped() -> None:
    """A Chinese line is no Vietnamese question, and a line without a label is none at all."""
    assert parsed("direct: 你养了什么宠物？\nWhat is it?", "vi") == {}


def test_questions_and_short_turns_are_not_asked_about() -> None:
    """A turn that says nothing gives no request."""
    assert not worth_asking(Turn(id="1", speaker="user", text="Yes, fine."), "en")
    asked = Turn(id="1", speaker="user", text=f"{SAID[0][:-1]}, and what about you?")
    assert not worth_asking(asked, "en")
    assert len(list(requests(talk()))) == len(SAID)


def test_a_question_is_kept_only_if_it_finds_its_turn() -> None:
    """Copies of the turn and questions that lead elsewhere are dropped; wrong turns are added."""
    filler = tuple(
        Turn(id=f"1.{i}", speaker="user", text=f"Number {i} is a filler line.") for i in range(40)
    )
    first = talk()
    pool = [Conversation(**{**vars(first), "turns": first.turns + filler})]
    texts = [turn.text for turn in pool[0].turns]
    eye = np.eye(len(texts), dtype=np.float32)
    asked = [
        Question(
            text="Which animal moved in with Ann?",
            style="direct",
            conversation=first.name,
            turn="0.0",
        ),
        Question(text=SAID[2], style="direct", conversation=first.name, turn="0.2"),
        Question(text="Who owns a boat?", style="direct", conversation=first.name, turn="0.3"),
    ]
    rows = np.stack([eye[0], eye[2], np.ones(len(texts), np.float32) - eye[3]])
    kept = list(checked(pool, asked, turns=eye, asked=rows))
    assert [pair.question for pair in kept] == ["Which animal moved in with Ann?"]
    assert kept[0].negatives
    assert (first.name, "0.0") not in kept[0].negatives
    assert (first.name, "0.1") not in kept[0].negatives


def test_words_of_the_worked_example_are_a_leak() -> None:
    """A model that gives the example back has asked nothing."""
    leaked = "Can you remind me what name my boys chose for the puppy?"
    assert copied(leaked, "I sail on Sundays.")


def test_bm25_finds_the_turn_with_the_rare_word() -> None:
    """The turn that holds the word comes first."""
    scores = Bm25(SAID).scores("Who plays the accordion?")
    assert rank(scores, 3) == 1


def test_pools_join_short_conversations_of_one_source() -> None:
    """Talks are put together until there is enough to search in; nothing is lost."""
    talks = [talk(f"own/en/{i}") for i in range(100)]
    made = list(pools(talks))
    assert sum(len(pool) for pool in made) == len(talks)
    assert any(sum(len(c.turns) for c in pool) >= POOL for pool in made)


def test_pairs_are_written_and_read_back_with_a_card(tmp_path: Path) -> None:
    """The card counts by source, language and style, with the licence."""
    made = [
        Pair(
            question=f"What is it, {i}?", style="direct", source="own", language="en",
            held_out=False, conversation=f"own/en/{i % 2}", turn="0.1",
            negatives=(("own/en/1", "0.2"),),
        )
        for i in range(40)
    ]  # fmt: skip
    made += list(unanswered(made, {"own/en/0": 0, "own/en/1": 1}, share=0.5))
    pairs.write(tmp_path / "pairs.jsonl", made)
    assert pairs.read(tmp_path / "pairs.jsonl") == made
    counted = card(made, asked=50, licences=LICENCES, model="scripted")
    assert counted["kept"] == 40
    assert counted["unanswered"] == len(made) - 40 > 0


def test_licences_are_those_of_the_sources() -> None:
    """The card and the sources agree on licences, and no source is for research only."""
    told = {source.name: source for source in SOURCES}
    for name in set(LICENCES) & set(told):
        assert LICENCES[name] == told[name].licence
        assert not told[name].research
