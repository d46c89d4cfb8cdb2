"""Corpora with evidence: each reader on a few lines of our own in the corpus's form."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from omoide.domain import Speaker
from omoide.errors import BadInput
from omoide_bench.corpora import dulemon, load, longmemeval, msc, real_persona_chat
from omoide_bench.data.memorybank import LABELS, SUFFIX
from omoide_bench.evidence import CATEGORIES
from tests.bench.bench_lab import FIXTURES

if TYPE_CHECKING:
    from pathlib import Path

    from omoide_bench.corpora.questions import EvidenceConversation, EvidenceQuestion


def lines_of(path: Path, *records: Any) -> None:  # noqa: ANN401 - whatever JSON can hold
    """Write JSON lines, packed if the name says so."""
    text = "\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")


def asked(conversations: tuple[EvidenceConversation, ...]) -> list[EvidenceQuestion]:
    """All questions; their evidence is among the turns."""
    for conversation in conversations:
        known = {line.id for line in conversation.lines}
        assert all(q.evidence and q.evidence <= known for q in conversation.questions)
    return [q for conversation in conversations for q in conversation.questions]


def test_memorybank_labels_point_at_turns(tmp_path: Path) -> None:
    """89 of the 100 questions have evidence in each language: a turn, or a few."""
    labels = LABELS.strip().splitlines()
    exchange = {"query": "I grow tomatoes.", "response": "Nice!"}
    days = {f"2023-05-{day:02}": [exchange] * 9 for day in range(1, 11)}
    for ending in SUFFIX.values():
        chats = {f" {ending}{i} ": {"history": days} for i in range(len(labels))}
        (tmp_path / f"memory_bank_{ending}.json").write_text(json.dumps(chats), encoding="utf-8")
        questions = [
            {name.strip(): ["What do I grow?"] * len(label.split())}
            for name, label in zip(chats, labels, strict=True)
        ]
        lines_of(tmp_path / f"probing_questions_{ending}.jsonl", *questions)
    found = asked(load(tmp_path))
    assert [sum(q.category == c for q in found) for c in (11, 12)] == [89, 89]
    assert max(len(q.evidence) for q in found) == 2


def test_questions_like_those_of_dmr_by_name() -> None:
    """Both splits are asked, by the session in which the answer was told."""
    found = asked(load(FIXTURES, "dmr-like"))
    assert [q.text for q in found] == ["Where did you move to?"] * 2
    assert {CATEGORIES[q.category] for q in found} == {"told in session 3"}


def test_dulemon_tags_are_evidence(tmp_path: Path) -> None:
    """A persona's sentence is asked by whose it is; its evidence are the turns tagged with it."""
    lines_of(
        tmp_path / dulemon.FILE,
        {
            "bot_persona": ["B1: 我 养 鱼", "B2: 我 很 高"],
            "user_said_persona": ["U1: 我 喜欢 跑步"],
            "user_no_said_persona": ["U2: 我 会 画画"],
            "conversation": ["Usr: 一起 跑步 吗\tU1", "Bot: 好 啊\tU1", "Bot: 我 去 喂 鱼\tB1 U2"],
        },
    )
    run, fish = sorted(asked(load(tmp_path)), key=lambda question: question.asker, reverse=True)
    assert (fish.text, fish.asker) == ("我养鱼", Speaker.ASSISTANT)
    assert fish.evidence == {"1:s1.3"}
    assert (run.text, run.asker) == ("我喜欢跑步", Speaker.USER)
    assert run.evidence == {"1:s1.1", "1:s1.2"}


def test_longmemeval_marks_its_turns(tmp_path: Path) -> None:
    """Turns that hold the answer are marked in the file; sessions come in the order of time."""
    lines_of(
        tmp_path / longmemeval.FILE,
        [
            {
                "question_id": "q",
                "question_type": "single-session-user",
                "question": "What do I grow?",
                "answer": "Tomatoes",
                "question_date": "2023/05/30 (Tue) 23:40",
                "haystack_dates": ["2023/05/21 (Sun) 02:21", "2023/05/20 (Sat) 02:21"],
                "haystack_session_ids": ["later", "sooner"],
                "haystack_sessions": [
                    [{"role": "user", "content": "I grow tomatoes.", "has_answer": True}],
                    [{"role": "user", "content": "Hi."}],
                ],
            }
        ],
    )
    [question] = asked(load(tmp_path))
    assert question.evidence == {"2.later.1"}


def test_msc_takes_the_one_turn_with_the_words(tmp_path: Path) -> None:
    """A sentence that no turn, or more than one, shares its words with is left out."""
    turns = ["I grow red tomatoes in the garden.", "Lovely garden!", "My sister sells old boats."]
    lines_of(
        tmp_path / msc.FILE,
        {
            "id": "d",
            "init_personas": [[], []],
            "sessions": [
                {
                    "session": 1,
                    "turns": [
                        {"speaker": f"Speaker {1 + i % 2}", "text": t} for i, t in enumerate(turns)
                    ],
                    "gold_persona_summary": [
                        ["I grow red tomatoes.", "I play chess with Norwegian uncles."],
                        ["I sell old boats."],
                    ],
                }
            ],
        },
    )
    [question] = asked(load(tmp_path))
    assert question.evidence == {"s1.1"}
    assert question.asker is Speaker.USER


def test_real_persona_chat_asks_for_nouns(tmp_path: Path) -> None:
    """Queries of one character, one noun and two; a turn without a time comes after the last."""
    told = ["犬を飼いました。", "沖縄旅行とカメラが好き。", "猫はどう？"]
    times = ["2022-08-13T17:40:16", "NaT", "2022-08-13T17:42:16"]
    lines_of(
        tmp_path / real_persona_chat.FILE,
        {
            "pair": ["AA", "BB"],
            "dialogues": [
                {
                    "dialogue_id": 7,
                    "utterances": [
                        {
                            "utterance_id": place,
                            "interlocutor_id": "AA",
                            "text": text,
                            "timestamp": time,
                        }
                        for place, (text, time) in enumerate(zip(told, times, strict=True))
                    ],
                }
            ],
        },
    )
    found = {question.text: question.evidence for question in asked(load(tmp_path))}
    assert found["犬"] == {"7.0"}
    assert found["沖縄旅行とカメラ"] == {"7.1"}


def test_an_unknown_folder_is_refused(tmp_path: Path) -> None:
    """The error names the files that would do."""
    with pytest.raises(BadInput, match="locomo10"):
        load(tmp_path)
