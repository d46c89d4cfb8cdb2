"""Sets for research alone: in our own forms, and never what an exam is made of."""

from __future__ import annotations

import gzip
import json
import random
from typing import TYPE_CHECKING

import pytest

from omoide.errors import BadInput
from omoide.mechanisms.memos.reading import read_choice, read_entries
from omoide_bench.data import memo_exam
from omoide_bench.data.memochat import ChoiceInstruction, WritingInstruction
from omoide_tune.dataset_files import make
from omoide_tune.examples import read
from omoide_tune.mixture import weighed
from omoide_tune.research import EXAM, japanese, japanese_choices, memochat

if TYPE_CHECKING:
    from pathlib import Path

    from omoide_bench.data.memo_exam import Exam

THINGS = "急須 望遠鏡 三味線 風鈴 万年筆 植木鉢 自転車 提灯 金魚鉢 屏風".split()


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    """Dialogues of our own in the form of Japanese Daily Dialogue, a hundred more than the exam
    may draw from."""
    folder = tmp_path / "japanese_daily_dialogue"
    folder.mkdir()
    for topic in range(1, 6):
        rows = []
        for n in range((EXAM + 100) // 5):
            thing = f"{THINGS[n % 10]}{topic}の{n}番"
            one, other = THINGS[n % 7], THINGS[n // 10 % 9]
            said = [
                f"{thing}を買いました。",
                f"{thing}ですか。",
                f"ええ、{one}は祖母の家で見つけました。",
                f"その{thing}は青いですか。",
                f"はい、{other}も青いです。",
                "いいですね。",
            ]
            rows.append({
                "topic_id": topic, "topic_name": f"T{topic}", "dialogue_id": n,
                "dialogue_length": len(said),
                "utterances": [{"turn_num": i, "speaker": "AB"[i % 2], "utterance": text}
                               for i, text in enumerate(said)],
            })  # fmt: skip
        (folder / f"topic{topic}.json").write_text(json.dumps(rows), encoding="utf-8")
    return tmp_path


def words(case: Exam) -> str:
    """Everything that stands in a case of the exam."""
    if isinstance(case, WritingInstruction):
        return " ".join(text for _, text in case.lines)
    if isinstance(case, ChoiceInstruction):
        return " ".join((case.query, *case.options))
    return " ".join((case.message, case.reply, *case.memos))


def test_no_dialogue_of_the_japanese_exam_is_learnt_from(talks: Path) -> None:
    """Whatever the exam's size: it draws from the first of an order, this from the rest."""
    exam = " ".join(words(case) for case in memo_exam.load(talks, most=1000))
    learnt = list(japanese(talks))
    assert memo_exam.POOL == EXAM
    assert len(learnt) == 100
    assert all(one.lines[0].text not in exam for one in learnt)
    assert all(one.lines[0].text.removesuffix("を買いました。") not in exam for one in learnt)
    for one in learnt:
        assert one.topic in ("日常生活", "学校", "旅行", "健康", "娯楽")
        assert one.summary.endswith("。")
        assert not one.stated
        assert not one.known


def test_second_halves_ask_for_first_halves(talks: Path) -> None:
    """As the exam does; some for none of those shown."""
    made = list(japanese_choices(talks, random.Random(1)))
    assert len(made) == 100
    counts = set()
    for example in made:
        listed = example.messages[-1].content.split("\n\n")[0].splitlines()[2:]
        numbers = read_choice(example.answer, count=len(listed))
        counts.add(len(numbers))
        said = example.messages[-1].content.split("\n\n")[1]
        for number in numbers:
            thing = listed[number - 1].split(": ")[1].split("を買")[0]
            assert thing in said
    assert counts == {0, 1, 2}


WRITING = """… Task Conversation:
(line 1) user: Where is the old kayak?
(line 2) bot: The kayak is behind the boat house.
(line 3) user: And who repairs church organs here?
(line 4) bot: A woman from Malmo repairs organs.
(line 5) user: Is she expensive?
(line 6) bot: Not for small organs.
(line 7) user: Good to know.
(line 8) bot: Indeed.
```"""
TOPICS = [
    {"topic": "kayak", "summary": "user looks for a kayak, bot knows its place behind the house.",
     "start": 1, "end": 2},
    {"topic": "organs", "summary": "bot tells of a woman who repairs church organs.",
     "start": 3, "end": 8},
]  # fmt: skip
RETRIEVAL = """… Query Sentence:
Where is the kayak?
Topic Options:
(1) NOTO. None of the others.
(2) organs. bot tells of organs.
(3) kayak. user looks for a kayak.
```"""
CHATTING = """…
```
Related Evidences:
(1) {'Related Topics': ' kayak', 'Related Summaries': 'user lost a kayak.', 'Related Dialogs': 'x'}

Recent Dialogs:
user: It rains. ### bot: It does.
```

User Input:
user: Shall we go out on the lake? ### bot: """


@pytest.fixture
def instructions(tmp_path: Path) -> Path:
    """Instructions of our own in the form of MemoChat's training part."""
    folder = tmp_path / "memochat"
    folder.mkdir()
    plain = [{k: v for k, v in topic.items() if k != "summary"} for topic in TOPICS]
    rows = [
        ("writing_dialogsum", WRITING, json.dumps(TOPICS)),
        ("writing_topiocqa", WRITING, json.dumps(plain)),
        ("writing_dialogsum", WRITING, json.dumps(TOPICS[1:])),
        ("retrieval_dialogsum", RETRIEVAL, "3"),
        ("retrieval_topiocqa", RETRIEVAL, "1"),
        ("chatting_dialogsum", CHATTING, "Without your kayak we could not."),
        ("chatting_alpacagpt4", "Name a bird.", "A wren."),
    ]
    told = [
        {"id": i, "type": sort, "conversations": [{"value": asked}, {"value": answer}]}
        for i, (sort, asked, answer) in enumerate(rows)
    ]
    packed = gzip.compress(json.dumps(told).encode())
    (folder / "instructions_train_1k.json.gz").write_bytes(packed)
    return tmp_path


def test_memochat_s_instructions_become_our_own_questions(instructions: Path) -> None:
    """True ranges, numbers without NOTO's, a memo beside the reply; broken ranges are left out."""
    made = list(memochat(instructions, random.Random(1)))
    assert [e.task for e in made] == ["memos", "memos", "choice", "choice", "reply"]
    for example in made[:2]:
        spans = [(e.span.first, e.span.last) for e in read_entries(example.answer)]
        assert spans == [(1, 2), (3, 8)]
    assert "The User looks for a kayak, the Assistant knows" in made[0].answer
    assert "The User asks about kayak" in made[1].answer
    assert [e.answer for e in made[2:4]] == ['{"numbers": [2]}', '{"numbers": [0]}']
    assert "NOTO. None" not in made[2].messages[-1].content
    last = made[4].messages[-1].content
    assert last.startswith("Shall we go out on the lake?")
    assert "kayak: The User lost a kayak." in last


def test_research_is_asked_for_and_never_shipped(instructions: Path, talks: Path) -> None:
    """With its counts in the card; without --research it is refused."""
    assert instructions == talks
    names = ("memochat", "japanese_daily_dialogue")
    out = talks / "out"
    made = make(talks, out, names=names, research=True, paper=True, talks=60)
    assert made.card["shippable"] is False
    assert {(e.source, e.task) for e in made.examples} >= {
        ("memochat", "choice"), ("memochat", "memos"), ("japanese_daily_dialogue", "memos"),
        ("japanese_daily_dialogue", "choice"),
    }  # fmt: skip
    assert {e.source for e in read(out / "train.jsonl")} == set(names)
    with pytest.raises(BadInput, match="for research only"):
        make(talks, out, names=names)


def test_a_source_can_weigh_more_than_others() -> None:
    """As SOURCE=NUMBER; anything else is refused."""
    assert weighed(("msc=3",)) == {"msc": 3.0}
    for bad in ("msc", "=2", "msc=0", "msc=x"):
        with pytest.raises(BadInput, match="SOURCE=NUMBER"):
            weighed((bad,))
