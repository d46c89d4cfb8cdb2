"""Data sets for research only, after paper C: MemoChat's training instructions, and Japanese Daily
Dialogue.

MemoChat's test instructions and the dialogues of the benchmark `memo-ja` are never read.
The benchmark takes its dialogues from the first `EXAM` in a seeded order; this module rebuilds that
order, and only uses the dialogues after them (a test keeps the two in sync).

MemoChat's instructions become prompts of our own: a dialogue to split into memos,
a query with memos to choose from, and a reply with one memo. Dialogues of TopiOCQA have topics
and no summary: a sentence about who asks about what replaces it.
"""

from __future__ import annotations

import ast
import gzip
import json
import random
import re
from typing import TYPE_CHECKING, Any

from omoide.claims import NotedFact
from omoide.domain import MemoryKind, Speaker
from omoide.errors import BadInput
from omoide.mechanisms import Contribution, Line, PromptPlace
from omoide.mechanisms.memos import keywords
from omoide_tune.checked_talks import START, CheckedTalk
from omoide_tune.examples import Example
from omoide_tune.real_persona_chat import facts
from omoide_tune.talk import TrainingTalk
from omoide_tune.tasks.choice import asked
from omoide_tune.tasks.memos import written
from omoide_tune.tasks.naming import summary
from omoide_tune.tasks.replies import asked_reply

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

MEMOCHAT, JAPANESE = "memochat", "japanese_daily_dialogue"
EXAM, _SEED = 2000, 2025
"""How many dialogues the benchmark may draw from, and the seed of their order."""
LABELS = {1: "日常生活", 2: "学校", 3: "旅行", 4: "健康", 5: "娯楽"}
"""The corpus's topics."""
_SPEAKERS = {"user": Speaker.USER, "bot": Speaker.ASSISTANT}


# ── Japanese Daily Dialogue ─────────────────────────────────────────────────────────────────


def japanese(folder: Path) -> Iterator[TrainingTalk]:
    """The dialogues that the benchmark never uses, each with its label and a summary by rule: what
    the two say about themselves, else what they talk about."""
    for key, label, lines in _dialogues(folder):
        if made := _summary(lines):
            yield TrainingTalk(key=key, language="ja", lines=lines, topic=label, summary=made)


def japanese_choices(folder: Path, dice: random.Random) -> Iterator[Example]:
    """Choices like the benchmark's: the first halves of dialogues are memos under their labels, and
    the second half of one or two of them is the query."""
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
    """Key, label and lines of every dialogue that may be used for training."""
    every = [
        (topic, one)
        for topic in LABELS
        for one in _json(folder / JAPANESE / f"topic{topic}.json")
        if one["dialogue_length"] >= 4
    ]
    random.Random(_SEED).shuffle(every)  # noqa: S311 - the benchmark's order
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
    content = [
        NotedFact(about=line.speaker, text=made)
        for line in lines
        for made in facts(line.text)
    ]  # fmt: skip
    if content:
        ordered = sorted(dict.fromkeys(content), key=lambda fact: fact.about is not Speaker.USER)
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
    """The training instructions of MemoChat in our own prompts. Instructions that do not have the
    published format, or that the product would reject, are left out."""
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
            CheckedTalk(
                source=MEMOCHAT, key=key, language="en", lines=lines, facts=(), judged=False,
                topic=name, summary=_named(topic.get("summary", "")) or _asks(name, lines),
            )
        )  # fmt: skip
    if parts and reached == len(said):
        yield from written(parts)


def _named(text: str) -> str:
    """A summary that names the two speakers as our memos do."""
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
        topic, _, content = options[i - 1].partition(". ")
        listed.append((topic, content or topic))
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
            content = ast.literal_eval(raw)
        except (ValueError, SyntaxError):
            return
        text = f"{content['Related Topics'].strip()}: {_named(content['Related Summaries'])}"
        memory.append(
            Contribution(
                mechanism="memos",
                place=PromptPlace.RECALLED,
                kind=MemoryKind.MEMO,
                id=text,
                text=text,
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
