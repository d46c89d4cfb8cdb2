"""MemoChat (Lu et al. 2023): MT-Bench+, and the instruction data for writing and choosing memos.

`mtbenchplus.json` is a list of dialogues in which only the user's part is given; the model under
test fills in its own. The last question looks back. One, made up and shortened:

    {"id": "mt-bench-plus-0", "type": "retrospection",
     "conversations": [{"from": "human", "value": "Name a red bird.", "turn-info": "a-1-0"},
                       {"from": "chatbot", "value": ""},
                       {"from": "human", "value": "Which bird was it?", "turn-info": "a-1-Q"},
                       {"from": "chatbot", "value": ""}]}

Types: continuation, retrospection, conjunction, 18 each. The `turn-info` of the last question
names the stretches it is about (`a-1`); earlier turns of these are its evidence.

`instructions_test.jsonl` has an instruction a line, and `instructions_train_1k.json` is a list of
the same as conversations; one of each sort, made up and shortened:

    {"question_id": "0", "type": "writing_dialogsum", "text": "… Task Conversation:\\n(line 1)
     user: Taxi!\\n(line 2) bot: Where to?\\n```…",
     "answer": "[{\\"topic\\": \\"taxi\\", \\"summary\\": \\"user takes a taxi.\\", \\"start\\": 1,
     \\"end\\": 2}]"}
    {"question_id": "1", "type": "retrieval_dialogsum", "text": "… Query Sentence:\\nTaxi!\\nTopic
     Options:\\n(1) taxi. user takes a taxi.\\n(2) NOTO. None of the others.\\n```…",
     "answer": "1"}
    {"question_id": "2", "type": "chatting_dialogsum", "text": "…", "answer": "To the station."}
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.domain.memo import Span
from omoide.errors import BadInput
from omoide.evals.data.reading import Record, json_file, json_lines
from omoide.evals.data.shapes import FIRST_DAY
from omoide.evals.data.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

SOURCE = Source(
    name="memochat",
    title="MT-Bench+ and the instructions of MemoChat (Lu et al. 2023)",
    licence="MIT (its parts derive from DialogSum and TopiOCQA)",
    page="https://github.com/LuJunru/MemoChat",
)
KINDS = ("retrospection", "continuation", "conjunction")


@dataclass(frozen=True, kw_only=True)
class LongTalk:
    """A dialogue of MT-Bench+: what the user says, one after another, and the last question."""

    id: str
    kind: str
    turns: tuple[str, ...]
    """Everything the user says before the last question."""
    question: str
    evidence: frozenset[int]
    """Which of `turns`, counted from 0, the last question is about."""
    start: datetime = FIRST_DAY
    """Made up; turns are to be a minute apart."""

    def at(self, turn: int) -> datetime:
        """When a turn is said, the question being the one after the last."""
        return self.start + timedelta(minutes=turn)


@dataclass(frozen=True, kw_only=True)
class Topic:
    """One memo as it should be written."""

    topic: str
    summary: str
    """Empty for dialogues of TopiOCQA, which have none."""
    span: Span


@dataclass(frozen=True, kw_only=True)
class Writing:
    """A dialogue to be divided into memos, and how it should be."""

    id: str
    corpus: str
    """dialogsum or topiocqa."""
    lines: tuple[tuple[str, str], ...]
    """Speaker (user or bot) and text."""
    topics: tuple[Topic, ...]
    language: str = "en"


@dataclass(frozen=True, kw_only=True)
class Choosing:
    """A query, numbered topics, and the numbers of those that it is about."""

    id: str
    corpus: str
    query: str
    options: tuple[str, ...]
    """Option n is at place n − 1; one of them is NOTO."""
    right: frozenset[int]


@dataclass(frozen=True, kw_only=True)
class Chatting:
    """An instruction with memos and recent dialogue in it, and the reply that people gave."""

    id: str
    corpus: str
    text: str
    reply: str


Instruction = Writing | Choosing | Chatting


def load_mtbench_plus(data: Path | None) -> list[LongTalk]:
    """The 54 dialogues of MT-Bench+."""
    return [_talk(record) for record in json_file(SOURCE.find(data, "mtbenchplus.json")).each()]


def load_instructions(data: Path | None, split: str = "test") -> list[Instruction]:
    """The instructions of a split: `test` or `train`."""
    if split == "test":
        records = json_lines(SOURCE.find(data, "instructions_test.jsonl"))
        return [
            _instruction(
                record, record.of("question_id").plain, record.of("text"), record.of("answer")
            )
            for record in records
        ]
    if split != "train":
        raise BadInput(f"MemoChat's instructions have the splits test and train, not {split!r}")
    return list(_train(json_file(SOURCE.find(data, "instructions_train_1k.json"))))


def _train(file: Record) -> Iterator[Instruction]:
    for record in file.each():
        told = record.of("conversations").each()
        if len(told) != 2:
            raise record.of("conversations").bad("an instruction and its answer")
        asked, answer = (part.of("value") for part in told)
        yield _instruction(record, record.of("id").plain, asked, answer)


def _talk(record: Record) -> LongTalk:
    asked = [part for part in record.of("conversations").each() if part.of("from").text == "human"]
    kind = record.of("type")
    if kind.text not in KINDS:
        raise kind.bad(f"one of {', '.join(KINDS)}")
    if len(asked) < 2:
        raise record.of("conversations").bad("at least two turns of the human")
    info = [part.of("turn-info").text for part in asked]
    about = info[-1].removesuffix("-Q")
    return LongTalk(
        id=record.of("id").text,
        kind=kind.text,
        turns=tuple(part.of("value").text for part in asked[:-1]),
        question=asked[-1].of("value").text,
        evidence=frozenset(
            i for i, name in enumerate(info[:-1]) if name.rpartition("-")[0] in about
        ),
    )


_NUMBERED = re.compile(r"^\(line \d+\) (user|bot): ?(.*?)(?=\n\(line \d+\) |\n```|\Z)", re.M | re.S)
_OPTION = re.compile(r"^\((\d+)\) ?(.*?)(?=\n\(\d+\) |\n```|\Z)", re.M | re.S)
_QUERY = re.compile(r"Query Sentence:\n(.*?)\nTopic Options:\n(.*)", re.S)


def _instruction(record: Record, name: str, asked: Record, answer: Record) -> Instruction:
    sort, _, corpus = record.of("type").text.partition("_")
    if sort == "writing":
        return Writing(id=name, corpus=corpus, lines=_lines(asked), topics=tuple(_topics(answer)))
    if sort == "retrieval":
        found = _QUERY.search(asked.text)
        options = _OPTION.findall(found[2].split("\n```")[0]) if found else []
        right = frozenset(int(n) for n in re.findall(r"\d+", answer.text))
        if not found or not options or not right or max(right) > len(options):
            raise asked.bad("a query, numbered options, and an answer among their numbers")
        return Choosing(
            id=name,
            corpus=corpus,
            query=found[1],
            options=tuple(text for _, text in options),
            right=right,
        )
    if sort == "chatting":
        return Chatting(id=name, corpus=corpus, text=asked.text, reply=answer.text)
    raise record.of("type").bad("writing_…, retrieval_… or chatting_…")


def _lines(asked: Record) -> tuple[tuple[str, str], ...]:
    _, mark, shown = asked.text.partition("Task Conversation:\n")
    lines = tuple((who, text.strip()) for who, text in _NUMBERED.findall(shown.split("\n```")[0]))
    if not mark or not lines:
        raise asked.bad("numbered lines below 'Task Conversation:'")
    return lines


def _topics(answer: Record) -> Iterator[Topic]:
    try:
        told = Record(json.loads(answer.text), answer.place)
    except json.JSONDecodeError as error:
        raise answer.bad("JSON") from error
    for topic in told.each():
        yield Topic(
            topic=topic.of("topic").text,
            summary=topic.of("summary").text if topic.has("summary") else "",
            span=Span(first=topic.of("start").number, last=topic.of("end").number),
        )
