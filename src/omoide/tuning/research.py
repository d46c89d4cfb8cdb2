"""Sets for research alone, after paper C: MemoChat's training instructions, and Japanese Daily
Dialogue.

MemoChat's test instructions and the dialogues of which the exam `memo-ja` is made are never read.
The exam takes its dialogues from the first `EXAM` of an order that a seed decides; here that order
is made again, and only what comes after them is learnt from (a test holds the two together).

What MemoChat has as an instruction becomes a question of our own: a dialogue to be cut into memos,
a query with memos to choose from, and a reply beside one memo. Dialogues of TopiOCQA have topics
and no summary: who asks about what stands in its place.
"""

from __future__ import annotations

import ast
import gzip
import json
import random
import re
from typing import TYPE_CHECKING, Any

from omoide.domain import Kind, Speaker
from omoide.errors import BadInput
from omoide.memory.mechanism import Contribution, Place
from omoide.memory.memos.topics import keywords
from omoide.memory.summary.facts import Fact
from omoide.memory.transcript import Line
from omoide.tuning.examples import Example
from omoide.tuning.real import facts
from omoide.tuning.talk import Talk
from omoide.tuning.tasks.choice import asked
from omoide.tuning.tasks.memos import written
from omoide.tuning.tasks.naming import summary
from omoide.tuning.tasks.replies import asked_reply
from omoide.tuning.told import START, Told

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

MEMOCHAT, JAPANESE = "memochat", "japanese_daily_dialogue"
EXAM, _SEED = 2000, 2025
"""How many dialogues the exam may draw from, and the seed of their order."""
LABELS = {1: "日常生活", 2: "学校", 3: "旅行", 4: "健康", 5: "娯楽"}
"""The corpus's topics."""
_SPEAKERS = {"user": Speaker.USER, "bot": Speaker.ASSISTANT}


# ── Japanese Daily Dialogue ─────────────────────────────────────────────────────────────────


def japanese(folder: Path) -> Iterator[Talk]:
    """The dialogues that the exam never uses, each with its label and a summary by rule: what
    the two say of themselves, else what they talk about."""
    for key, label, lines in _dialogues(folder):
        if made := _summary(lines):
            yield Talk(key=key, language="ja", lines=lines, topic=label, summary=made)


def japanese_choices(folder: Path, dice: random.Random) -> Iterator[Example]:
    """After the exam: the first halves of dialogues are memos under their labels, and the second
    half of one or two of them is what is said."""
    listed = list(_dialogues(folder))
    halves = [(key, label, lines[: len(lines) // 2], lines[len(lines) // 2 :])
              for key, label, lines in listed]  # fmt: skip
    for one in halves:
        others = [o for o in dice.sample(halves, min(12, len(halves))) if o[1] != one[1]]
        about = [one, *others[: dice.choice((0, 1))]]
        taken = {o[1] for o in about}
        decoys = [o for o in others if o[1] not in taken][: dice.randint(2, 4)]
        wanted = about if dice.random() < 0.8 else []
        shown = [*wanted, *decoys]
        if len(shown) < 2:
            continue
        dice.shuffle(shown)
        numbers = sorted(shown.index(right) + 1 for right in wanted) or [0]
        memos = [(label, " ".join(line.text for line in first)) for _, label, first, _ in shown]
        said = " ".join(line.text for _, _, _, last in about for line in last)
        yield Example(
            task="choice", language="ja", source=JAPANESE, key=one[0],
            messages=asked(memos, said, "ja"), answer=json.dumps({"numbers": numbers}),
            hard="" if wanted else "nothing",
        )  # fmt: skip


def _dialogues(folder: Path) -> Iterator[tuple[str, str, tuple[Line, ...]]]:
    """Key, label and lines of every dialogue that may be learnt from."""
    every = [
        (topic, one)
        for topic in LABELS
        for one in _json(folder / JAPANESE / f"topic{topic}.json")
        if one["dialogue_length"] >= 4
    ]
    random.Random(_SEED).shuffle(every)  # noqa: S311 - the exam's order
    for topic, one in every[EXAM:]:
        yield (
            f"{topic}-{one['dialogue_id']}",
            LABELS[topic],
            tuple(
                Line(
                    speaker=Speaker.USER if said["speaker"] == "A" else Speaker.ASSISTANT,
                    text=" ".join(said["utterance"].split()),
                )
                for said in one["utterances"]
            ),
        )


def _summary(lines: Sequence[Line]) -> str:
    told = [
        Fact(about=line.speaker, text=made)
        for line in lines
        for made in facts(line.text)
    ]  # fmt: skip
    if told:
        ordered = sorted(dict.fromkeys(told), key=lambda fact: fact.about is not Speaker.USER)
        return summary(ordered[:4], "ja")
    found = keywords("。".join(line.text for line in lines), (), language="ja", most=3)
    return f"{'や'.join(found)}について話した。" if len(found) > 1 else ""


# ── MemoChat ────────────────────────────────────────────────────────────────────────────────

_NUMBERED = re.compile(r"^\(line \d+\) (user|bot): ?(.*?)(?=\n\(line \d+\) |\n```|\Z)", re.M | re.S)
_OPTION = re.compile(r"^\((\d+)\) ?(.*?)(?=\n\(\d+\) |\n```|\Z)", re.M | re.S)
_QUERY = re.compile(r"Query Sentence:\n(.*?)\nTopic Options:\n(.*?)\n```", re.S)
_CHAT = re.compile(
    r"Related Evidences:\n(?P<memos>.*?)\n\s*Recent Dialogs:\n(?P<past>.*?)\n```.*?User Input:\n"
    r"user: (?P<said>.*?) ### bot:",
    re.S,
)
_SAID = re.compile(r"(user|bot): (.*?)(?= ### |\Z)", re.S)
_EVIDENCE = re.compile(r"^\(\d+\) (\{.*?\})$", re.M)


def memochat(folder: Path, dice: random.Random) -> Iterator[Example]:
    """The training instructions of MemoChat in our own forms; what has not the form that its
    authors published, or that the product would not take, is left out."""
    for one in _json(folder / MEMOCHAT / "instructions_train_1k.json"):
        question, answer = (part["value"] for part in one["conversations"])
        sort, _, corpus = one["type"].partition("_")
        key = f"{corpus}/{one['id']}"
        if sort == "writing":
            yield from _memos(key, question, answer)
        elif sort == "retrieval":
            yield from _choice(key, question, answer)
        elif corpus == "dialogsum":
            yield from _reply(key, question, answer, dice)


def _memos(key: str, question: str, answer: str) -> Iterator[Example]:
    shown = question.partition("Task Conversation:\n")[2].split("\n```")[0]
    said = [
        Line(speaker=_SPEAKERS[who], text=" ".join(text.split()) or "…")
        for who, text in _NUMBERED.findall(shown)
    ]
    parts, reached = [], 0
    for topic in json.loads(answer):
        first, last = topic["start"] - 1, topic["end"]
        if first != reached or not first < last <= len(said):
            return
        reached = last
        lines = tuple(said[first:last])
        name = topic["topic"].strip()
        parts.append(
            Told(
                source=MEMOCHAT, key=key, language="en", lines=lines, facts=(), judged=False,
                topic=name, summary=_named(topic.get("summary", "")) or _asks(name, lines),
            )
        )  # fmt: skip
    if parts and reached == len(said):
        yield from written(parts)


def _named(text: str) -> str:
    """A summary with the names that our memos have for the two."""
    made = re.sub(r"\bbot\b", "the Assistant", re.sub(r"\buser\b", "the User", text.strip()))
    return made[:1].upper() + made[1:]


def _asks(topic: str, lines: Sequence[Line]) -> str:
    own = "\n".join(line.text for line in lines if line.speaker is Speaker.USER)
    about = [word for word in keywords(own, (), language="en", most=3) if word not in topic.lower()]
    return f"The User asks about {topic}{': ' if about else ''}{', '.join(about)}."


def _choice(key: str, question: str, answer: str) -> Iterator[Example]:
    found = _QUERY.search(question)
    options = [text.strip() for _, text in _OPTION.findall(found[2])] if found else []
    right = {int(number) for number in re.findall(r"\d+", answer)}
    memos = [i for i, text in enumerate(options, start=1) if not text.startswith("NOTO")]
    if not found or not memos or not right <= set(range(1, len(options) + 1)):
        return
    numbers = [place for place, i in enumerate(memos, start=1) if i in right] or [0]
    listed = []
    for i in memos:
        topic, _, told = options[i - 1].partition(". ")
        listed.append((topic, told or topic))
    yield Example(
        task="choice", language="en", source=MEMOCHAT, key=key,
        messages=asked(listed, found[1], "en"), answer=json.dumps({"numbers": numbers}),
        hard="nothing" if numbers == [0] else "",
    )  # fmt: skip


def _reply(key: str, question: str, answer: str, dice: random.Random) -> Iterator[Example]:
    found = _CHAT.search(question)
    if not found or not answer.strip():
        return
    said = [
        Line(speaker=_SPEAKERS[who], text=" ".join(text.split()))
        for who, text in _SAID.findall(found["past"])
        if text.strip()
    ]
    said.append(Line(speaker=Speaker.USER, text=" ".join(found["said"].split())))
    memory = []
    for raw in _EVIDENCE.findall(found["memos"]):
        try:
            told = ast.literal_eval(raw)
        except (ValueError, SyntaxError):
            return
        text = f"{told['Related Topics'].strip()}: {_named(told['Related Summaries'])}"
        memory.append(
            Contribution(
                mechanism="memos", place=Place.RECALLED, kind=Kind.MEMO, id=text, text=text,
                value=1.0, sources=(), time=START, why="",
            )
        )  # fmt: skip
    yield Example(
        task="reply", language="en", source=MEMOCHAT, key=key,
        messages=asked_reply(said, memory, "en", dice), answer=answer.strip(),
        hard="" if memory else "nothing",
    )  # fmt: skip


def _json(path: Path) -> Any:  # noqa: ANN401 - as its authors published it
    packed = path.with_name(f"{path.name}.gz")
    try:
        if packed.exists():
            return json.loads(gzip.decompress(packed.read_bytes()))
        return json.loads(path.read_bytes())
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}); is --data right?") from error
