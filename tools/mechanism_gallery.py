"""Generates docs/mechanisms.md: the output of each mechanism for the same real dialogue.

    python tools/mechanism_gallery.py --data ../shared/data [--only summary,memos] [--page]
    python tools/mechanism_gallery.py --data ../shared/data --msc test_100 --out FOLDER [--share F]

Two days of one user of MemoryBank (Zhong et al. 2024; MIT) are recorded with their dates, digested
by each mechanism with the model of the settings, and a message of the third day is put to it.
Each run is kept as JSON in docs/mechanisms/, so that a single one can be repeated; `--page` writes
the page from the existing runs, without a model.

`--msc` takes a dialogue of Multi-Session Chat instead: its sessions before the last are digested,
and the user's first message in the last is used. Its text may not be redistributed, so that
page and its runs go to a folder of your own. `--share` writes what can be redistributed: what the
model wrote, with the position in the dialogue, such as ⟨2.5⟩, instead of its own words.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omoide import Utterance
from omoide.bootstrap import chat_model, make_embedder, temporary_store, text_tools
from omoide.domain import CallPurpose, Owner, Speaker
from omoide.engine import Runtime
from omoide.language import split_sentences
from omoide.mechanisms import MECHANISMS
from omoide.mechanisms.baselines import add_gold
from omoide.settings import Settings
from omoide.testing import FrozenClock
from omoide_bench.data import msc

if TYPE_CHECKING:
    from omoide import Memory

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "mechanisms.md"
TEXT = ROOT / "docs" / "mechanisms"
WHO, DAYS = "Emily", 2
ASKED = "I want to paint tonight. What music should I put on?"
NOTES = ("bank-day", "bank-day-portrait", "bank-global")
RUNS = {
    "fused": (("summary", "memos", "human-recall"), "fused"),
    **{name: ((name,), "separate") for name in MECHANISMS},
}
USER = "emily"
OWNER = Owner(tenant="default", user=USER)


@dataclass(frozen=True, kw_only=True)
class Dialogue:
    """The dialogue of some days, and a later message."""

    names: tuple[str, str]
    days: tuple[tuple[datetime, tuple[tuple[Speaker, str], ...]], ...]
    asked: str
    now: datetime
    gold: tuple[str, ...]
    """Human annotations of it."""


def bank(folder: Path) -> Dialogue:
    """Two days of a user of MemoryBank; the message and the gold memory are ours."""
    path = folder / "memorybank" / "memory_bank_en.json"
    history = json.loads(path.read_text())[WHO]["history"]
    found = []
    for day in list(history)[:DAYS]:
        said = tuple(
            (speaker, " ".join(pair[key].split()))
            for pair in history[day]
            for speaker, key in ((Speaker.USER, "query"), (Speaker.ASSISTANT, "response"))
        )
        found.append((datetime.fromisoformat(day).replace(hour=19, tzinfo=UTC), said))
    noted = (TEXT / "gold.txt").read_text(encoding="utf-8").splitlines()
    return Dialogue(
        names=(WHO, "AI"),
        days=tuple(found),
        asked=ASKED,
        now=found[-1][0] + timedelta(days=1),
        gold=tuple(noted),
    )


def of_msc(folder: Path, name: str) -> Dialogue:
    """The sessions of one dialogue of the test part."""
    chosen = next((one for one in msc.load(folder) if one.id == name), None)
    if chosen is None:
        raise SystemExit(
            f"MSC's test part has no dialogue {name!r}; the names are test_0, test_1, …"
        )
    user = chosen.speakers[0]
    speakers = {user: Speaker.USER}
    *before, last = chosen.sessions
    return Dialogue(
        names=(chosen.speakers[0], chosen.speakers[1]),
        days=tuple(
            (
                session.start,
                tuple(
                    (speakers.get(line.speaker, Speaker.ASSISTANT), line.text)
                    for line in session.lines
                ),
            )
            for session in before
        ),
        asked=next(line.text for line in last.lines if line.speaker == user),
        now=last.start,
        gold=tuple(fact for facts in chosen.facts(last.number - 1) for fact in facts),
    )


async def run(name: str, dialogue: Dialogue) -> dict[str, Any]:
    """Digest the days with the mechanisms of one run, and collect what they contribute."""
    mechanisms, writer = RUNS[name]
    settings = replace(
        Settings.read(os.environ), mechanisms=mechanisms, writer=writer, timezone="UTC"
    )
    return await run_with(settings, dialogue, gold=name == "gold")


async def run_with(settings: Settings, dialogue: Dialogue, *, gold: bool = False) -> dict[str, Any]:
    """Digest the days with these settings, and collect what they contribute."""
    model = chat_model(settings, settings.model)
    clock = FrozenClock()
    store = await temporary_store()
    runtime = Runtime(
        settings,
        store=store,
        model=model,
        embedder=make_embedder(settings),
        clock=clock,
        text_tools=text_tools(settings),
        name="gallery",
        owns=[store, model],
    )
    memory = runtime.memory()
    began = time.monotonic()
    turns = 0
    for number, (at, said) in enumerate(dialogue.days, start=1):
        clock.time = at
        talk = [Utterance(speaker=who, text=text) for who, text in said]
        turns += len(talk)
        await memory.record(USER, talk, session=str(number), at=at)
        clock.time = at + timedelta(minutes=30)
        await memory.end_session(USER)
        await memory.run_jobs()
    if gold:
        await add_gold(store, OWNER, dialogue.gold, key="all", at=clock.now())
    clock.time = dialogue.now
    exchange = await memory.begin(USER, dialogue.asked, session="now")
    calls = [
        c for c in await memory.calls(USER) if c.purpose in (CallPurpose.DIGEST, CallPurpose.CHOOSE)
    ]
    made = await _made(memory)
    await runtime.close()
    return {
        "model": model.name,
        "turns": turns,
        "calls": len(calls),
        "prompt_tokens": sum(c.prompt_tokens for c in calls),
        "completion_tokens": sum(c.completion_tokens for c in calls),
        "seconds": round(time.monotonic() - began),
        **made,
        "brought": [[c.mechanism, c.text, c.why] for c in exchange.why],
    }


async def _made(memory: Memory) -> dict[str, Any]:
    return {
        "memory": [sentence.text for sentence in (await memory.summary(USER)).sentences],
        "memos": [[memo.topic, memo.summary, memo.compressed] for memo in await memory.memos(USER)],
        "events": [event.text for event in await memory.events(USER)],
        "notes": [[n.kind, n.key, n.text] for k in NOTES for n in await memory.notes(USER, kind=k)],
        "aside": [[r.text, list(r.problems)] for r in await memory.rejected(USER)],
        "trouble": [job.error for job in await memory.jobs(USER) if job.error],
    }


def page(dialogue: Dialogue, runs: Path, *, head: str) -> str:
    """The whole page, from the existing runs."""
    parts = [head.rstrip(), "", "## The dialogue", ""]
    user, other = dialogue.names
    for at, said in dialogue.days:
        parts += [f"**{at:%A, %d %B %Y}**", ""]
        parts += [f"> {user if who is Speaker.USER else other}: {text}  " for who, text in said]
        parts.append("")
    parts += [f"The moment, on {dialogue.now:%A, %d %B %Y}: *{dialogue.asked}*", ""]
    for name in RUNS:
        entry = MECHANISMS.get(name)
        about = (TEXT / f"{name}.md").read_text().rstrip()
        parts += [f"## {name}", "", about, ""]
        if entry:
            parts += [f"{entry.paper}. Model calls: {entry.calls}.", ""]
        kept = runs / f"{name}.json"
        if kept.exists():
            parts += shown(json.loads(kept.read_text()))
        else:
            parts += ["*Not run yet.*", ""]
    return "\n".join(parts).rstrip() + "\n"


def shared(dialogue: Dialogue, runs: Path, *, head: str) -> str:
    """The page for a dialogue whose own text may not be redistributed."""
    parts = [head.rstrip(), ""]
    for name in RUNS:
        if (kept := runs / f"{name}.json").exists():
            made = json.loads(kept.read_text())
            if name == "gold":
                noted = f"({len(made['brought'])} sentences that people noted)"
                made["brought"] = [["gold", noted, "written by people"]]
            parts += [f"## {name}", "", *shown(redistributable(name, made, dialogue))]
    return "\n".join(parts).rstrip() + "\n"


def redistributable(name: str, made: dict[str, Any], dialogue: Dialogue) -> dict[str, Any]:
    """A run without the words of its dialogue: what the model wrote, and where it copied."""
    brought = list(made["brought"])
    if (more := len(brought) - 6) > 0:
        brought[6:] = [[name, f"({more} more like these)", "likewise"]]
    made = {
        **made,
        "brought": brought,
        "memos": [[topic, summary, ""] for topic, summary, _ in made["memos"]],
        "aside": [["(an answer)", problems] for _, problems in made["aside"]],
    }
    placed: dict[str, Any] = _placed(made, dialogue)
    return placed


def _placed(made: Any, dialogue: Dialogue) -> Any:  # noqa: ANN401 - whatever JSON holds
    """The same with ⟨session.line⟩ instead of every sentence of the dialogue."""
    if isinstance(made, dict):
        return {key: _placed(value, dialogue) for key, value in made.items()}
    if isinstance(made, list):
        return [_placed(value, dialogue) for value in made]
    if not isinstance(made, str):
        return made
    text = " ".join(made.split())
    for number, (_, said) in enumerate(dialogue.days, start=1):
        for place, (_, words) in enumerate(said, start=1):
            for sentence in [" ".join(words.split()), *split_sentences(words)]:
                if len(sentence) > 11:
                    text = text.replace(sentence, f"⟨{number}.{place}⟩")
    return re.sub(r"(⟨\d+\.\d+⟩)(?: \1)+", r"\1", text)


def shown(made: dict[str, Any]) -> list[str]:
    """One run as lines of Markdown."""
    lines = [
        f"Run with `{made['model']}`: {made['calls']} calls, {made['prompt_tokens']} prompt tokens "
        f"and {made['completion_tokens']} generated for {made['turns']} turns.",
        "",
        "```text",
    ]
    lines += [f"memory   {text}" for text in made["memory"]]
    for topic, summary, compressed in made["memos"]:
        lines.append(f"memo     {topic or '(no topic)'}: {summary}"[:600])
        lines += [f"         | {line}" for line in compressed.splitlines()[:4]]
    lines += [f"event    {text}" for text in made["events"]]
    lines += [
        f"note     {kind} {key}: {' '.join(text.split())}" for kind, key, text in made["notes"]
    ]
    for text, problems in made["aside"]:
        lines.append(f"aside    {' '.join(text.split())[:160]!r}: {' '.join(problems)}")
    lines += [f"trouble  {error}" for error in made["trouble"]]
    lines += ["", "to the moment it brings:"]
    for mechanism, text, why in made["brought"]:
        lines.append(f"  {mechanism}: {' '.join(text.split())[:400]}  ({why})")
    if not made["brought"]:
        lines.append("  nothing")
    return [*lines, "```", ""]


async def main() -> None:
    """Run the mechanisms, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", default=",".join(RUNS))
    parser.add_argument("--page", action="store_true", help="write the page only")
    parser.add_argument("--msc", metavar="ID", help="a dialogue of MSC's test part, with --out")
    parser.add_argument("--out", type=Path, help="a folder of your own for the page of an MSC run")
    parser.add_argument(
        "--share", type=Path, help="file for what may be redistributed of an MSC run"
    )
    args = parser.parse_args()
    if bool(args.msc) != bool(args.out):
        parser.error("--msc and --out go together: MSC's words may not be redistributed")
    dialogue = of_msc(args.data, args.msc) if args.msc else bank(args.data)
    runs = args.out or TEXT
    runs.mkdir(parents=True, exist_ok=True)
    for name in [] if args.page else args.only.split(","):
        made = await run(name, dialogue)
        (runs / f"{name}.json").write_text(
            json.dumps(made, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
        )
        print(f"{name}: {made['calls']} calls, {made['seconds']} s", flush=True)
    target = args.out / "mechanisms.md" if args.out else PAGE
    head = f"# {args.msc} of MSC" if args.msc else (TEXT / "head.md").read_text()
    target.write_text(page(dialogue, runs, head=head), encoding="utf-8")
    if args.share:
        head = (TEXT / "msc.md").read_text().replace("{id}", args.msc)
        args.share.write_text(shared(dialogue, runs, head=head), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
