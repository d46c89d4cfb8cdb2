"""Estimates how much of a memory is made up, from hand labels.

    python benchmarks/hand_labels.py docs/results/tuning/hand-labels.json

The file contains no text of the data. A label names the item (dialogue, and before which session),
the number of the sentence in its memory, the audit's verdict, why it was read (`all` of those
that the audit calls fabricated or of a wrong relation, some of the others by `chance`, and the
others that the guard of `omoide.claims.support` has `turned away`), what it is (`made` up, a
wrong `person`, or `said`), of which kind, and whether that guard rejects it.

Rates treat the random sample as representative of all that the audit accepted; the intervals are
by a bootstrap over dialogues.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WRONG = ("made", "person")
FLAGGED = ("fabricated", "relation")


@dataclass(frozen=True, kw_only=True)
class Label:
    """The hand label of a sentence."""

    item: str
    sentence: int
    audit: str
    drawn: str
    label: str
    kind: str
    away: bool


@dataclass(frozen=True, kw_only=True)
class Labels:
    """All labels, and the number of sentences of each memory."""

    sentences: Mapping[str, int]
    labels: tuple[Label, ...]


def load(path: Path) -> Labels:
    """Read the labels of a file."""
    read = json.loads(path.read_text(encoding="utf-8"))
    names = ("item", "sentence", "audit", "drawn", "label", "kind", "away")
    rows = (Label(**dict(zip(names, row, strict=True))) for row in read["labels"])
    return Labels(sentences=read["sentences"], labels=tuple(rows))


def rate(found: Labels, wanted: Sequence[str], items: Sequence[str] | None = None) -> float:
    """The share of sentences with one of these labels, in all memories or in those named, counting
    repeated names."""
    times = Counter(items if items is not None else found.sentences)
    every = sum(found.sentences[item] * n for item, n in times.items())
    flagged = [one for one in found.labels if one.drawn == "all"]
    chance = [one for one in found.labels if one.drawn == "chance"]

    def count(among: Sequence[Label]) -> int:
        return sum(times[one.item] for one in among if one.label in wanted)

    passed = every - sum(times[one.item] for one in flagged)
    drawn = sum(times[one.item] for one in chance)
    return (count(flagged) + (passed * count(chance) / drawn if drawn else 0.0)) / every


def interval(
    found: Labels, wanted: Sequence[str], *, times: int = 4000, seed: int = 1
) -> tuple[float, float]:
    """The 95 % bootstrap interval of the rate, over memories drawn with replacement."""
    dice = random.Random(seed)  # noqa: S311 - a bootstrap, not a secret
    items = list(found.sentences)
    rates = sorted(rate(found, wanted, dice.choices(items, k=len(items))) for _ in range(times))
    return rates[round(0.025 * times)], rates[round(0.975 * times) - 1]


def main(path: Path) -> None:
    """Print the tables."""
    found = load(path)
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for one in found.labels:
        counts[one.audit if one.audit in FLAGGED else "let pass", one.drawn][one.label] += 1
    print("| by the audit | read | made up | wrong person | said |\n|---|---|---|---|---|")
    for (audit, drawn), own in sorted(counts.items()):
        cells = (f"{audit}, {drawn}", own.total(), *(own[name] for name in (*WRONG, "said")))
        print("| " + " | ".join(map(str, cells)) + " |")
    for name, wanted in (("made up", ("made",)), ("wrong person", ("person",)), ("either", WRONG)):
        low, high = interval(found, wanted)
        print(f"{name}: {rate(found, wanted):.1%} [{low:.1%}, {high:.1%}]")
    for label in (*WRONG, "said"):
        kinds = Counter(o.kind for o in found.labels if o.label == label and o.kind)
        print(f"{label}:", ", ".join(f"{kind} {n}" for kind, n in kinds.most_common()))
    away = Counter(one.label for one in found.labels if one.away)
    print("turned away:", dict(away), f"of {sum(found.sentences.values())}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
