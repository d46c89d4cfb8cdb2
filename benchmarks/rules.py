"""Measures what the rules of `omoide.claims` do to notes whose truth is known. No model calls.

    python benchmarks/rules.py --data DATA

- `changes`: in our own generated talks in five languages, the facts that a later meeting made
  untrue are known. Counts what `retire` removes of these, and of the others.
- `notes`: the notes of docs/results/tuning/taught.jsonl.xz, each stated in one line of its
  speaker. Counts what the small form would reject, by reason.
"""

from __future__ import annotations

import argparse
import json
import lzma
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from omoide.claims import NotedFact, read_facts, retire, unsupported
from omoide.domain import Speaker
from omoide.language import BUILT_IN
from omoide_tune.own.meetings import talks
from omoide_tune.sources import select_sources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.mechanisms import Line

TAUGHT = Path(__file__).parents[1] / "docs" / "results" / "tuning" / "taught.jsonl.xz"


def said(lines: Sequence[Line]) -> dict[Speaker, str]:
    """What each speaker said."""
    return {who: "\n".join(one.text for one in lines if one.speaker is who) for who in Speaker}


def changes(language: str, *, chains: int) -> Counter[str]:
    """How many changed and unchanged facts are retired."""
    count = Counter[str]()
    memory: dict[str, list[NotedFact]] = defaultdict(list)
    for talk in talks(language, chains=chains):
        old = memory[talk.chain]
        new = [NotedFact(about=who, text=text.rstrip(".。")) for who, text in talk.known]
        gone = {NotedFact(about=who, text=text.rstrip(".。")) for who, text, _ in talk.changed}
        fresh = [fact for fact in new if fact not in old]
        holding, _ = retire(old, fresh, language, said=said(talk.lines))
        for fact in old:
            truth = "untrue" if fact in gone else "true"
            count[f"{truth} {'kept' if fact in holding else 'retired'}"] += 1
        memory[talk.chain] = [one for one in old if one not in gone and one not in new] + new
    return count


def notes(data: Path) -> Counter[str]:
    """Why taught notes would be rejected."""
    wanted = defaultdict(list)
    with lzma.open(TAUGHT, "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            wanted[row["source"], row["key"]].append(row)
    count = Counter[str]()
    for source in select_sources(tuple({name for name, _ in wanted}), research=True):
        for talk in source.read(data):
            for row in wanted.get((source.name, talk.key), ()):
                for fact in read_facts("\n".join(row["sentences"]), talk.language):
                    count["notes"] += 1
                    count[unsupported(fact, talk.lines, talk.language) or "kept"] += 1
    return count


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--chains", type=int, default=120)
    args = parser.parse_args()
    for language in BUILT_IN:
        print(language, dict(changes(language, chains=args.chains)))
    print("notes", dict(notes(args.data)))


if __name__ == "__main__":
    main()
