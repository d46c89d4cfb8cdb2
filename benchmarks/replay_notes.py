"""What becomes of a strong model's notes: replays kept answers through the reader and a store.

    python benchmarks/replay_notes.py NOTES.jsonl.gz

Each line of the file is a request (`messages`, whose last one lists what a speaker wrote, one line
each after "- ") and the model's `answer`, one fact a line. Every line must end as a fact, as a
confirmation of one, or set aside with a reason.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import omoide
from omoide.testing import ScriptedModel

NONE = "(none)"
START = datetime(2026, 5, 20, 9, tzinfo=UTC)


async def replay(items: list[dict[str, Any]], *, profile: str, show: bool) -> None:
    """Replay each item as a session of a user of its own, and count."""
    ends: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    model = ScriptedModel(name="replayed")
    async with omoide.open_async(
        db=":memory:", model=model, embedder="none", profile=profile, partner="person"
    ) as memory:
        for number, item in enumerate(items):
            user = f"u{number}"
            model.answers.append(item["answer"])
            await memory.record(user, _said(item), at=START)
            await memory.end_session(user, at=START + timedelta(hours=1))
            await memory.run_jobs()
            model.answers.clear()
            written = await memory.facts(user, ended=True)
            aside = await memory.rejected(user)
            lines = [line for line in item["answer"].splitlines() if line.strip() not in ("", NONE)]
            ends["lines"] += len(lines)
            ends["facts"] += len(written)
            ends["facts with sources"] += sum(bool(fact.sources) for fact in written)
            ends["set aside"] += len(aside)
            reasons.update(problem for answer in aside for problem in answer.problems)
            if show:
                for answer in aside:
                    print(f"aside: {answer.text}  ({'; '.join(answer.problems)})")
    print(f"{len(items)} answers, profile {profile}")
    for name, count in ends.items():
        print(f"  {name}: {count} ({100 * count / ends['lines']:.1f} %)")
    for reason, count in reasons.most_common():
        print(f"  aside, {reason}: {count}")


def _said(item: dict[str, Any]) -> list[dict[str, str]]:
    asked = item["messages"][-1]["content"]
    role = "assistant" if "Messages of Assistant" in asked else "user"
    texts = [line[2:] for line in asked.splitlines() if line.startswith("- ")]
    return [{"role": role, "content": text} for text in texts]


def main() -> None:
    """Read the file and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notes", type=Path)
    parser.add_argument("--profile", default="large", choices=["large", "small"])
    parser.add_argument("--show", action="store_true", help="print what is set aside")
    arguments = parser.parse_args()
    with gzip.open(arguments.notes, "rt", encoding="utf-8") as file:
        items = [json.loads(line) for line in file]
    asyncio.run(replay(items, profile=arguments.profile, show=arguments.show))


if __name__ == "__main__":
    main()
