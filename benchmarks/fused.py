"""What one call a session gives, and what it costs, beside a call for each mechanism.

    python benchmarks/fused.py --data ../shared/data msc --dialogues 4 --sessions 2
    python benchmarks/fused.py --data ../shared/data locomo --conversation 0 --writers fused

Real dialogues are recorded session by session, Speaker 1 as the user, and digested with the model
that the settings name (OMOIDE_MODEL, OMOIDE_MODELS, OMOIDE_THREADS) by the mechanisms summary,
memos and human-recall, separately and fused. Cost comes from the ledger. Of the memory: words
against MSC's gold persona summaries (as in docs/LOG.md). Of events and memos: how many there are,
how many rest on turns; for LoCoMo's questions, how often one of the k best events or memos, found
as a reply would find them but without a threshold, rests on a turn that holds the answer.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import re
import sys
import time
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.bootstrap import chat_model, make_embedder
from omoide.composition import compose
from omoide.domain import Kind, Owner, Purpose, Speaker, State
from omoide.engine import Utterance
from omoide.evals import locomo
from omoide.language import query_terms
from omoide.settings import Settings
from omoide.testing import FrozenClock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.engine import Memory

MECHANISMS = ("summary", "memos", "human-recall")
USER = "speaker"
OWNER = Owner(tenant="default", user=USER)


@dataclass(frozen=True, kw_only=True)
class Session:
    """What was said in one sitting, and when."""

    turns: tuple[tuple[Speaker, str, str], ...]
    """Who, what, and the turn's id."""
    at: datetime
    gold: str = ""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One dialogue under one writer."""

    name: str
    writer: str
    turns: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    f1: tuple[float, float, float] | None
    sentences: int
    supported: int
    events: int
    memos: int
    covered: float
    dead: int
    """Sessions of which some mechanism got nothing usable."""


def msc(folder: Path, part: str, *, dialogues: int, sessions: int) -> dict[str, list[Session]]:
    """The first dialogues, a week between sessions."""
    with gzip.open(folder / "msc" / f"{part}.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for _, line in zip(range(dialogues), file, strict=False)]
    start = datetime(2026, 1, 5, 18, tzinfo=UTC)
    return {
        row["id"]: [
            Session(
                turns=tuple(
                    (
                        Speaker.USER if turn["speaker"] == "Speaker 1" else Speaker.ASSISTANT,
                        turn["text"],
                        f"{session['session']}.{i}",
                    )
                    for i, turn in enumerate(session["turns"])
                ),
                at=start + timedelta(weeks=session["session"]),
                gold=" ".join(f for facts in session["gold_persona_summary"] for f in facts),
            )
            for session in row["sessions"][:sessions]
        ]
        for row in rows
    }


def of_locomo(conversation: locomo.Conversation) -> list[Session]:
    """One conversation; the first speaker is the user."""
    numbers = sorted({line.session for line in conversation.lines})
    return [
        Session(
            turns=tuple(
                (
                    Speaker.USER if line.speaker == conversation.speakers[0] else Speaker.ASSISTANT,
                    line.text,
                    line.id,
                )
                for line in conversation.lines
                if line.session == number
            ),
            at=next(line.time for line in conversation.lines if line.session == number),
        )
        for number in numbers
    ]


async def run(name: str, sessions: Sequence[Session], *, writer: str) -> tuple[Line, Memory]:
    """Record and digest a dialogue."""
    settings = replace(Settings.read(os.environ), mechanisms=MECHANISMS, writer=writer)
    clock = FrozenClock()
    model = chat_model(settings, settings.model)
    memory = compose(
        settings,
        store=await SqliteStore.open(":memory:"),
        model=model,
        iterator=model,
        embedder=make_embedder(settings),
        clock=clock,
        worker="bench",
    )
    began = time.monotonic()
    for number, session in enumerate(sessions, start=1):
        clock.time = session.at
        said = [Utterance(speaker=who, text=text, id=id_) for who, text, id_ in session.turns]
        await memory.record(USER, said, session=str(number), at=session.at)
        clock.time = session.at + timedelta(hours=1)
        await memory.end_session(USER, at=clock.time)
        await memory.settle()
        print(
            f"  {name} {writer} session {number}: {time.monotonic() - began:.0f} s", file=sys.stderr
        )
    calls = [c for c in await memory.calls(USER) if c.purpose is Purpose.DIGEST]
    summary = await memory.memory(USER)
    turns = await memory.turns(USER)
    events = await memory.store.events.read(OWNER)
    memos = [m for m in await memory.store.memos.read(OWNER) if m.folded_into is None]
    inside = {source for memo in memos for source in memo.sources}
    gold = " ".join(session.gold for session in sessions)
    line = Line(
        name=name,
        writer=writer,
        turns=len(turns),
        calls=len(calls),
        prompt_tokens=sum(c.prompt_tokens for c in calls),
        completion_tokens=sum(c.completion_tokens for c in calls),
        seconds=time.monotonic() - began,
        f1=overlap(summary.text, gold) if gold else None,
        sentences=len(summary.sentences),
        supported=sum(s.supported for s in summary.sentences),
        events=len(events),
        memos=len(memos),
        covered=len(inside) / len(turns),
        dead=len(await memory.jobs(USER, states=[State.DEAD])),
    )
    return line, memory


async def found(memory: Memory, questions: Sequence[locomo.Asked], *, k: int) -> dict[str, float]:
    """Share of questions for which one of the k best rests on evidence, for each kind."""
    embedder = make_embedder(Settings.read(os.environ))
    if embedder is None:
        raise SystemExit("an embedder is needed")
    sources = {e.id: set(e.sources) for e in await memory.store.events.read(OWNER)}
    sources |= {m.id: set(m.sources) for m in await memory.store.memos.read(OWNER)}
    hits = Counter[str]()
    for question in questions:
        vector = await embedder.embed([question.text])
        for kind in (Kind.EVENT, Kind.MEMO, Kind.TURN):
            index = memory.store.index
            near = await index.nearest(OWNER, embedder.space, vector, k=50, kind=kind)
            by_words = await index.words(OWNER, query_terms(question.text), k=50, kind=kind)
            score = Counter[str]()
            for ranking in (near, by_words):
                for rank, hit in enumerate(ranking):
                    score[hit.id] += 1 / (60 + rank)  # type: ignore[assignment]
            best = [name for name, _ in score.most_common(k)]
            held = set[str]().union(*(sources.get(name, {name}) for name in best))
            hits[kind.value] += bool(held & question.evidence)
    reach = set[str]().union(*(s for n, s in sources.items() if n.startswith("e")))
    within = sum(bool(reach & q.evidence) for q in questions)
    return {kind: n / len(questions) for kind, n in hits.items()} | {
        "evidence in any event": within / len(questions)
    }


_PERSON = frozenset(
    """a an the i my me mine myself user assistant speaker he she his her him hers their they them
    theirs s m ve re d ll im ive""".split()
)
_VERB = {"have": "has", "had": "has", "am": "is", "are": "is", "was": "is", "were": "is"}


def _fair(text: str) -> Counter[str]:
    """Words with persons dropped and inflection flattened, alike for "I …" and "User …"."""
    words = re.sub(r"[^\w\s]|_", " ", text.lower()).split()
    return Counter(_stem(_VERB.get(word, word)) for word in words if word not in _PERSON)


def _stem(word: str) -> str:
    for ending in ("ies", "ing", "ed", "s"):
        if len(word) > len(ending) + 3 and word.endswith(ending):
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word


def overlap(memory: str, gold: str) -> tuple[float, float, float]:
    """Precision, recall and F1 of words, in percent."""
    own, wanted = _fair(memory), _fair(gold)
    both = sum((own & wanted).values())
    if not both:
        return 0.0, 0.0, 0.0
    p, r = both / sum(own.values()), both / sum(wanted.values())
    return 100 * p, 100 * r, 200 * p * r / (p + r)


def shown(line: Line) -> str:
    """A line for a person."""
    f1 = "P {:.0f} R {:.0f} F1 {:.0f}".format(*line.f1) if line.f1 else ""
    return (
        f"{line.name:10} {line.writer:9} turns {line.turns:4}  calls/turn "
        f"{line.calls / line.turns:.3f}  prompt tokens/turn {line.prompt_tokens / line.turns:.0f}  "
        f"completion {line.completion_tokens / line.turns:.0f}  {f1}  sentences {line.sentences} "
        f"({line.supported} supported)  events {line.events}  memos {line.memos} "
        f"(turns covered {line.covered:.0%})  dead {line.dead}  {line.seconds:.0f} s"
    )


async def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("what", choices=["msc", "locomo"])
    parser.add_argument("--part", default="test")
    parser.add_argument("--dialogues", type=int, default=4)
    parser.add_argument("--sessions", type=int, default=1)
    parser.add_argument("--conversation", type=int, default=0)
    parser.add_argument("--writers", default="fused,separate")
    parser.add_argument("--save", type=Path, help="write what was made as JSON")
    given = parser.parse_args()
    everything = []
    for writer in given.writers.split(","):
        lines = []
        if given.what == "msc":
            dialogues = msc(
                given.data, given.part, dialogues=given.dialogues, sessions=given.sessions
            )
            asked: Sequence[locomo.Asked] = ()
        else:
            one = locomo.load(given.data / "locomo")[given.conversation]
            dialogues, asked = {one.name: of_locomo(one)[: given.sessions or None]}, one.questions
        for name, sessions in dialogues.items():
            line, memory = await run(name, sessions, writer=writer)
            lines.append(line)
            print(shown(line), flush=True)
            everything.append(await written(memory, name, writer))
            there = {id_ for session in sessions for _, _, id_ in session.turns}
            if questions := [q for q in asked if q.evidence & there]:
                for k in (5, 10):
                    got = await found(memory, questions, k=k)
                    print(f"  of {len(questions)} questions at k={k}: {got}", flush=True)
            await memory.close()
        turns = sum(line.turns for line in lines)
        print(
            f"{writer}: {sum(line.calls for line in lines) / turns:.3f} calls and "
            f"{sum(line.prompt_tokens for line in lines) / turns:.0f} prompt tokens a turn"
        )
    if given.save:
        given.save.write_text(json.dumps(everything, ensure_ascii=False, indent=1))


async def written(memory: Memory, name: str, writer: str) -> dict[str, object]:
    """All that was made of a dialogue, for a person to look at."""
    return {
        "dialogue": name,
        "writer": writer,
        "memory": [s.text for s in (await memory.memory(USER)).sentences],
        "events": [[e.text, e.topics, e.keywords] for e in await memory.store.events.read(OWNER)],
        "memos": [
            [m.topic, m.summary, len(m.sources), m.whole]
            for m in await memory.store.memos.read(OWNER)
        ],
        "aside": [r.text for r in await memory.aside(USER)],
    }


if __name__ == "__main__":
    asyncio.run(main())
