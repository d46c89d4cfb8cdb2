"""MemoChat (Lu et al. 2023): MT-Bench+, and instructions for writing and choosing memos.

`mtbenchplus.json` is a list of dialogues with only the user's side; the model under test fills in
its own. The last question refers to earlier turns. An invented, shortened example:

    {"id": "mt-bench-plus-0", "type": "retrospection",
     "conversations": [{"from": "human", "value": "Name a red bird.", "turn-info": "a-1-0"},
                       {"from": "chatbot", "value": ""},
                       {"from": "human", "value": "Which bird was it?", "turn-info": "a-1-Q"},
                       {"from": "chatbot", "value": ""}]}

Types: continuation, retrospection, conjunction, 18 each. The `turn-info` of the last question
names the parts it is about (`a-1`); earlier turns of these parts are its evidence.

`instructions_test.jsonl` has one instruction per line, and `instructions_train_1k.json` is a list
of the same as conversations; one of each kind, invented and shortened:

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

from omoide.domain import Span
from omoide.errors import BadInput
from omoide_bench.data.reading import JsonRecord, json_file, json_lines
from omoide_bench.data.shapes import FIRST_DAY
from omoide_bench.data.source import DatasetSource

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

SOURCE = DatasetSource(
    name="memochat",
    title="MT-Bench+ and the instructions of MemoChat (Lu et al. 2023)",
    licence="MIT (its parts derive from DialogSum and TopiOCQA)",
    page="https://github.com/LuJunru/MemoChat",
)
KINDS = ("retrospection", "continuation", "conjunction")


@dataclass(frozen=True, kw_only=True)
class LongTalk:
    """A dialogue of MT-Bench+: the user's turns and the last question."""

    id: str
    kind: str
    turns: tuple[str, ...]
    """The user's turns before the last question."""
    question: str
    evidence: frozenset[int]
    """Indices into `turns` that the last question is about."""
    start: datetime = FIRST_DAY
    """Invented; turns are a minute apart."""
    language: str = "en"

    def at(self, turn: int) -> datetime:
        """The time of a turn; the question comes after the last turn."""
        return self.start + timedelta(minutes=turn)


@dataclass(frozen=True, kw_only=True)
class Topic:
    """A gold memo."""

    topic: str
    summary: str
    """Empty for dialogues of TopiOCQA, which have no summaries."""
    span: Span


@dataclass(frozen=True, kw_only=True)
class WritingInstruction:
    """A dialogue to split into memos, and the gold memos."""

    id: str
    corpus: str
    """dialogsum or topiocqa."""
    lines: tuple[tuple[str, str], ...]
    """Speaker (user or bot) and text."""
    topics: tuple[Topic, ...]
    language: str = "en"


@dataclass(frozen=True, kw_only=True)
class ChoiceInstruction:
    """A query, numbered options, and the right numbers."""

    id: str
    corpus: str
    query: str
    options: tuple[str, ...]
    """Option n has index n − 1; one of them is NOTO."""
    right: frozenset[int]


@dataclass(frozen=True, kw_only=True)
class ChatInstruction:
    """An instruction with memos and recent dialogue, and the gold reply."""

    id: str
    corpus: str
    text: str
    reply: str


Instruction = WritingInstruction | ChoiceInstruction | ChatInstruction


def load_mtbench_plus(data: Path | None, language: str = "en") -> list[LongTalk]:
    """The 54 dialogues of MT-Bench+. In another language than English they are read from a
    translation, `mtbenchplus.LANGUAGE.json`, of the same form."""
    name = "mtbenchplus.json" if language == "en" else f"mtbenchplus.{language}.json"
    return [_talk(record, language) for record in json_file(SOURCE.find(data, name)).each()]


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
        raise BadInput(f"MemoChat's instructions have no split {split!r}; they have test and train")
    return list(_train(json_file(SOURCE.find(data, "instructions_train_1k.json"))))


def _train(file: JsonRecord) -> Iterator[Instruction]:
    for record in file.each():
        raw = record.of("conversations").each()
        if len(raw) != 2:
            raise record.of("conversations").bad("an instruction and its answer")
        instruction, answer = (part.of("value") for part in raw)
        yield _instruction(record, record.of("id").plain, instruction, answer)


def _talk(record: JsonRecord, language: str) -> LongTalk:
    user_turns = [
        part for part in record.of("conversations").each() if part.of("from").text == "human"
    ]
    kind = record.of("type")
    if kind.text not in KINDS:
        raise kind.bad(f"one of {', '.join(KINDS)}")
    if len(user_turns) < 2:
        raise record.of("conversations").bad("at least two turns of the human")
    info = [part.of("turn-info").text for part in user_turns]
    about = info[-1].removesuffix("-Q")
    return LongTalk(
        id=record.of("id").text,
        kind=kind.text,
        turns=tuple(part.of("value").text for part in user_turns[:-1]),
        question=user_turns[-1].of("value").text,
        evidence=frozenset(
            i for i, name in enumerate(info[:-1]) if name.rpartition("-")[0] in about
        ),
        language=language,
    )


_NUMBERED = re.compile(r"^\(line \d+\) (user|bot): ?(.*?)(?=\n\(line \d+\) |\n```|\Z)", re.M | re.S)
_OPTION = re.compile(r"^\((\d+)\) ?(.*?)(?=\n\(\d+\) |\n```|\Z)", re.M | re.S)
_QUERY = re.compile(r"Query Sentence:\n(.*?)\nTopic Options:\n(.*)", re.S)


def _instruction(
    record: JsonRecord, name: str, text: JsonRecord, answer: JsonRecord
) -> Instruction:
    sort, _, corpus = record.of("type").text.partition("_")
    if sort == "writing":
        return WritingInstruction(
            id=name, corpus=corpus, lines=_lines(text), topics=tuple(_topics(answer))
        )
    if sort == "retrieval":
        match = _QUERY.search(text.text)
        options = _OPTION.findall(match[2].split("\n```")[0]) if match else []
        right = frozenset(int(n) for n in re.findall(r"\d+", answer.text))
        if not match or not options or not right or max(right) > len(options):
            raise text.bad("a query, numbered options, and an answer among their numbers")
        return ChoiceInstruction(
            id=name,
            corpus=corpus,
            query=match[1],
            options=tuple(text for _, text in options),
            right=right,
        )
    if sort == "chatting":
        return ChatInstruction(id=name, corpus=corpus, text=text.text, reply=answer.text)
    raise record.of("type").bad("writing_…, retrieval_… or chatting_…")


def _lines(record: JsonRecord) -> tuple[tuple[str, str], ...]:
    _, mark, conversation = record.text.partition("Task Conversation:\n")
    lines = tuple(
        (who, text.strip()) for who, text in _NUMBERED.findall(conversation.split("\n```")[0])
    )
    if not mark or not lines:
        raise record.bad("numbered lines below 'Task Conversation:'")
    return lines


def _topics(answer: JsonRecord) -> Iterator[Topic]:
    try:
        raw = JsonRecord(json.loads(answer.text), answer.place)
    except json.JSONDecodeError as error:
        raise answer.bad("JSON") from error
    for topic in raw.each():
        yield Topic(
            topic=topic.of("topic").text,
            summary=topic.of("summary").text if topic.has("summary") else "",
            span=Span(first=topic.of("start").number, last=topic.of("end").number),
        )
