"""Sources of instruction data, and what their licences allow.

A shipped adapter may use only data whose licence allows it. Data sets that forbid commercial
use, or do not say what they allow, are for research: they are read only on request.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.errors import BadInput
from omoide.mechanisms import Line
from omoide_tune.annotated import ANNOTATED, examples_from
from omoide_tune.everyday import read as everyday
from omoide_tune.own import meetings
from omoide_tune.real_persona_chat import real_persona_chat
from omoide_tune.research import japanese, japanese_choices, memochat
from omoide_tune.stories.playing import STORIES
from omoide_tune.stories.playing import examples as story_examples
from omoide_tune.talk import TrainingTalk

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from omoide_tune.examples import Example


@dataclass(frozen=True, kw_only=True)
class TrainingSource:
    """A data set."""

    name: str
    licence: str
    research: bool
    """Whether it may be used for research only."""
    read: Callable[[Path], Iterator[TrainingTalk]]
    made: Callable[[Path, random.Random], Iterator[Example]] | None = None
    """Examples that are not talks, if the set has some."""
    rounds: int = 1
    """How often its talks are joined and used again."""
    in_language: Callable[[str], Iterator[TrainingTalk]] | None = None
    """Its talks in one language, if those in the others need not be made before."""

    def talks(self, data: Path, languages: Sequence[str]) -> Iterator[TrainingTalk]:
        """Its talks in these languages; all if none is named."""
        if languages and self.in_language:
            return chain.from_iterable(map(self.in_language, languages))
        return (talk for talk in self.read(data) if not languages or talk.language in languages)


_UNNAMED = re.compile(r"user [12]|\[[^\]]*name", re.IGNORECASE)
"""Placeholders that the data has instead of a name."""


def _synthetic(folder: Path) -> Iterator[TrainingTalk]:
    for file in sorted((folder / "synthetic_persona_chat").glob("*.csv*")):
        for number, row in enumerate(csv.reader(io.StringIO(_text(file)))):
            if number == 0 or len(row) != 3:
                continue
            lines = []
            for said in row[2].splitlines():
                who, _, text = said.partition(": ")
                if who in ("User 1", "User 2") and text.strip() and not _UNNAMED.search(text):
                    speaker = Speaker.USER if who == "User 1" else Speaker.ASSISTANT
                    lines.append(Line(speaker=speaker, text=" ".join(text.split())))
            stated = tuple(
                (speaker, fact.strip())
                for speaker, cell in zip((Speaker.USER, Speaker.ASSISTANT), row, strict=False)
                for fact in cell.splitlines()
                if fact.strip()
            )
            part = file.name.split(".")[0].rpartition("_")[2]
            yield TrainingTalk(
                key=f"{part}/{number}", language="en", lines=tuple(lines), stated=stated
            )


def _dulemon(folder: Path) -> Iterator[TrainingTalk]:
    for number, row in enumerate(_text(folder / "dulemon" / "samples.json").splitlines()):
        if not row.strip():
            continue
        talk = json.loads(row)
        lines = []
        for said in talk["conversation"]:
            who, _, text = said.split("\t")[0].partition(": ")
            speaker = Speaker.USER if who == "Usr" else Speaker.ASSISTANT
            lines.append(Line(speaker=speaker, text=text.replace(" ", "")))
        stated = tuple(
            (speaker, fact.partition(": ")[2])
            for speaker, name in (
                (Speaker.USER, "user_said_persona"),
                (Speaker.ASSISTANT, "bot_persona"),
            )
            for fact in talk[name]
        )
        yield TrainingTalk(key=str(number), language="zh", lines=tuple(lines), stated=stated)


def _msc(folder: Path) -> Iterator[TrainingTalk]:
    """The valid part only: the test part is for evaluation. Its annotators note nearly
    everything, so a session is used uncut, and the sessions of one pair are a chain."""
    for row in _text(folder / "msc" / "valid.jsonl.gz").splitlines():
        talk = json.loads(row)
        for session in talk["sessions"]:
            names = list(dict.fromkeys(turn["speaker"] for turn in session["turns"]))
            speakers = dict(zip(sorted(names), (Speaker.USER, Speaker.ASSISTANT), strict=False))
            gold = session.get("gold_persona_summary") or ((), ())
            yield TrainingTalk(
                key=f"{talk['id']}/{session['session']}",
                chain=str(talk["id"]),
                complete=bool(gold[0] or gold[1]),
                language="en",
                lines=tuple(
                    Line(speaker=speakers[turn["speaker"]], text=" ".join(turn["text"].split()))
                    for turn in session["turns"]
                    if turn["speaker"] in speakers
                ),
                stated=tuple(
                    (speaker, fact)
                    for speaker, facts in zip((Speaker.USER, Speaker.ASSISTANT), gold, strict=False)
                    for fact in facts
                ),
            )


_PERSON = re.compile(r"#Person([12])#:\s*")


def _dialogsum(folder: Path) -> Iterator[TrainingTalk]:
    for row in _text(folder / "dialogsum" / "train.jsonl.gz").splitlines():
        talk = json.loads(row)
        lines = []
        for said in talk["dialogue"].splitlines():
            if found := _PERSON.match(said):
                speaker = Speaker.USER if found[1] == "1" else Speaker.ASSISTANT
                text = re.sub(r" ?(['’]) ?", r"\1", said[found.end() :]).strip()
                lines.append(Line(speaker=speaker, text=text))
        named = (
            talk["summary"].replace("#Person1#", "The User").replace("#Person2#", "the Assistant")
        )
        summary = " ".join(named.split())
        if "#" in summary or "#" in " ".join(line.text for line in lines):
            continue  # a third person, or a name that is missing
        yield TrainingTalk(
            key=talk["fname"],
            language="en",
            lines=tuple(lines),
            topic=str(talk.get("topic") or "").strip(),
            summary=summary[:1].upper() + summary[1:],
        )


def _none(folder: Path) -> Iterator[TrainingTalk]:
    """No talks."""
    del folder
    yield from ()


SOURCES = (
    TrainingSource(
        name="synthetic_persona_chat", licence="CC BY 4.0", research=False, read=_synthetic
    ),
    TrainingSource(name="dulemon", licence="Apache-2.0", research=False, read=_dulemon),
    TrainingSource(
        name="own",
        licence="Apache-2.0",
        research=False,
        read=meetings.read,
        in_language=meetings.in_language,
    ),
    TrainingSource(name="everyday", licence="Apache-2.0", research=False, read=everyday, rounds=3),
    TrainingSource(
        name="real_persona_chat", licence="CC BY-SA 4.0", research=False, read=real_persona_chat
    ),
    TrainingSource(
        name=ANNOTATED,
        licence="the notes Apache-2.0, the chats as the three data sets above",
        research=False,
        read=_none,
        made=examples_from(
            {
                "synthetic_persona_chat": _synthetic,
                "dulemon": _dulemon,
                "real_persona_chat": real_persona_chat,
            }
        ),
    ),
    TrainingSource(
        name=STORIES, licence="Apache-2.0", research=False, read=_none, made=story_examples
    ),
    TrainingSource(name="msc", licence="not stated", research=True, read=_msc),
    TrainingSource(name="dialogsum", licence="CC BY-NC-SA 4.0", research=True, read=_dialogsum),
    TrainingSource(
        name="memochat",
        licence="MIT, out of CC BY-NC-SA 4.0",
        research=True,
        read=_none,
        made=memochat,
    ),
    TrainingSource(
        name="japanese_daily_dialogue",
        licence="CC BY-NC-ND 4.0",
        research=True,
        read=japanese,
        made=japanese_choices,
    ),
)


def select_sources(names: tuple[str, ...], *, research: bool) -> tuple[TrainingSource, ...]:
    """The sources of these names, or all allowed ones; `BadInput` for one that is not allowed."""
    by_name = {source.name: source for source in SOURCES}
    if unknown := [name for name in names if name not in by_name]:
        raise BadInput(f"unknown source {unknown[0]!r}; there are {', '.join(by_name)}")
    picked = [by_name[n] for n in names] or [s for s in SOURCES if research or not s.research]
    for source in picked:
        if source.research and not research:
            raise BadInput(
                f"{source.name} ({source.licence}) is for research only: an adapter trained on it "
                "cannot be shipped. Give --research to use it anyway"
            )
    return tuple(picked)


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}); is --data right?") from error
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
