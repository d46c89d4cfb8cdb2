"""Measures how well code finds topic changes, on dialogues joined end to end.

    python benchmarks/segmentation.py --data ../shared/data [--tune]

As in paper C, two to four short dialogues of different topics are joined, so that the true
boundaries are known: DialogSum in English, the Japanese Daily Dialogue corpus in Japanese. The
settings are chosen on one half (`--tune`) and reported on the other: Pk and WindowDiff (lower is
better; 50 and more is chance), F1 of exact boundaries and of those off by one turn. Baselines: no
boundary, one every eight turns, and TextTiling's depth scores over the same vectors and words.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
import re
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from omoide.bootstrap import make_embedder
from omoide.claims import coverage, rarity
from omoide.domain import Speaker, Turn
from omoide.language import content_terms
from omoide.mechanisms.fused import gist
from omoide.mechanisms.memos import segments, topic
from omoide.settings import Settings
from omoide_bench.corpora import locomo
from omoide_bench.statistics import estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from omoide.ports import Embedder, Vectors
    from omoide_bench.corpora.questions import EvidenceConversation
    from omoide_bench.data.shapes import DatasetLine


@dataclass(frozen=True, kw_only=True)
class Joined:
    """Several dialogues as one."""

    texts: tuple[str, ...]
    starts: tuple[int, ...]
    """Where each dialogue except the first begins."""
    vectors: Vectors


def dialogsum(folder: Path, part: str) -> list[tuple[str, list[str]]]:
    """Topic and turns of each dialogue."""
    with gzip.open(folder / "dialogsum" / f"{part}.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
    return [
        (
            row.get("topic") or row.get("topic1", ""),
            [re.sub(r"^#Person\d#:\s*", "", line) for line in row["dialogue"].splitlines()],
        )
        for row in rows
    ]


def daily(folder: Path) -> list[tuple[str, list[str]]]:
    """The same for the Japanese Daily Dialogue corpus, which has five topics."""
    found = []
    for path in sorted((folder / "japanese_daily_dialogue").glob("topic*.json.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            rows = json.load(file)
        found += [(path.stem, [turn["utterance"] for turn in row["utterances"]]) for row in rows]
    random.Random(0).shuffle(found)  # noqa: S311 - not for secrets
    return found


async def joined(
    dialogues: Sequence[tuple[str, list[str]]], *, embedder: Embedder, count: int, seed: int
) -> list[Joined]:
    """Two to four dialogues of different topics at a time."""
    dice = random.Random(seed)  # noqa: S311 - not for secrets
    found = []
    for _ in range(count):
        chosen: list[tuple[str, list[str]]] = []
        while len(chosen) < dice.choice((2, 3, 4)):
            one = dice.choice(dialogues)
            if one[0] not in {topic for topic, _ in chosen} and len(one[1]) >= 4:
                chosen.append(one)
        texts = [text for _, turns in chosen for text in turns]
        starts = np.cumsum([len(turns) for _, turns in chosen])[:-1]
        found.append(
            Joined(
                texts=tuple(texts),
                starts=tuple(int(s) for s in starts),
                vectors=await embedder.embed(texts),
            )
        )
    return found


def errors(true: Sequence[int], found: Sequence[int], size: int) -> dict[str, float]:
    """Pk, WindowDiff (Pevzner & Hearst 2002), F1 of boundaries, exact and within one turn, in %."""
    k = max(2, round(size / (len(true) + 1) / 2))
    ids = [np.searchsorted(cuts, np.arange(size), side="right") for cuts in (true, found)]
    spans = [ids_[k:] - ids_[:-k] for ids_ in ids]
    pk = float(np.mean((spans[0] == 0) != (spans[1] == 0)))
    diff = float(np.mean(spans[0] != spans[1]))
    exact = len(set(true) & set(found))
    near = sum(min((abs(t - f) for f in found), default=9) <= 1 for t in true)
    back = sum(min((abs(t - f) for t in true), default=9) <= 1 for f in found)
    return {
        "pk": 100 * pk,
        "windowdiff": 100 * diff,
        "f1": 200 * exact / max(len(true) + len(found), 1),
        "f1 ±1": 100 * (near + back) / max(len(true) + len(found), 1),
        "cuts found/true": len(found) / max(len(true), 1),
    }


def tiling(one: Joined, *, width: int = 3) -> list[int]:
    """TextTiling: depth of the valleys of similarity between neighbouring blocks."""
    rows = one.vectors.astype(float)
    similarities = np.array(
        [
            float(_mean(rows[max(0, i - width) : i]) @ _mean(rows[i : i + width]))
            for i in range(1, len(rows))
        ]
    )
    depth = [
        max(similarities[: i + 1]) + max(similarities[i:]) - 2 * similarities[i]
        for i in range(len(similarities))
    ]
    limit = float(np.mean(depth) + np.std(depth))
    return [
        i + 1
        for i, d in enumerate(depth)
        if d > limit and d == max(depth[max(0, i - 2) : i + 3]) and 2 <= i + 1 <= len(rows) - 2
    ]


def _mean(rows: np.ndarray) -> np.ndarray:
    mixed = rows.mean(0)
    unit: np.ndarray = mixed / max(float(np.linalg.norm(mixed)), 1e-9)
    return unit


def mean(found: Sequence[dict[str, float]], name: str) -> float:
    """The mean of one figure."""
    return float(np.mean([one[name] for one in found]))


def tune(sets: Sequence[Sequence[Joined]], *, with_vectors: bool) -> segments.SegmentationSettings:
    """The settings with the lowest WindowDiff over the sets."""
    best: tuple[float, segments.SegmentationSettings] = (1e9, segments.BY_WORDS)
    grid = product(
        (1.4, 1.8, 2.0, 2.2, 2.6, 3.0, 3.5),
        (0.0, 0.1, 0.25, 0.5) if with_vectors else (1.0,),
        (0.0, 0.25, 0.5),
    )
    for price, words, blur in grid:
        cuts = segments.SegmentationSettings(price=price, words=words, blur=blur)
        score = 0.0
        for some in sets:
            for one in some:
                found = segments.boundaries(
                    one.texts, vectors=one.vectors if with_vectors else None, cuts=cuts
                )
                score += errors(one.starts, found, len(one.texts))["windowdiff"] / len(some)
        best = min(best, (score / len(sets), cuts), key=lambda pair: pair[0])
    print(f"tuned {'with vectors' if with_vectors else 'by words'}: {best}")
    return best[1]


async def found(folder: Path, embedder: Embedder, *, conversations: int) -> None:
    """How often one of the three best memos, written by code alone, contains a turn with the answer
    to a question of LoCoMo; memos split by topic against memos of eight turns each."""
    hits: dict[str, list[bool]] = {"by topic": [], "every eight turns": []}
    sizes: dict[str, list[int]] = {name: [] for name in hits}
    for conversation in locomo.load(folder / "locomo")[:conversations]:
        lines = conversation.lines
        sessions = [
            [_turn(line, conversation, i) for i, line in enumerate(lines) if line.session == number]
            for number in sorted({line.session for line in lines})
        ]
        for name in hits:
            stretches: list[Sequence[Turn]] = []
            for said in sessions:
                stretches += (
                    await segments.segments(said, embedder=embedder)
                    if name == "by topic"
                    else [said[i : i + 8] for i in range(0, len(said), 8)]
                )
            every = [turn for said in sessions for turn in said]
            texts = [
                f"{topic(stretch, every, language='en')}: {gist(stretch, 'en')}"
                for stretch in stretches
            ]
            words = [content_terms(" ".join(turn.text for turn in s)) for s in stretches]
            weight = rarity(words)
            vectors = await embedder.embed(texts)
            asked = await embedder.embed([question.text for question in conversation.questions])
            for question, vector in zip(conversation.questions, asked, strict=True):
                wanted = content_terms(question.text)
                score = vectors @ vector + 0.5 * np.array(
                    [coverage(wanted, its, weight) for its in words], dtype=np.float32
                )
                best = np.argsort(-score)[:3]
                held = {turn.id for i in best for turn in stretches[i]}
                hits[name].append(bool(held & question.evidence))
                sizes[name].append(len(held))
    for name, found_ in hits.items():
        e = estimate([100.0 * hit for hit in found_])
        print(
            f"LoCoMo, {e.count} questions, memos {name}: evidence in the best three "
            f"{e.mean:.1f} % [{e.low:.1f}, {e.high:.1f}], {np.mean(sizes[name]):.1f} turns in them"
        )


def _turn(line: DatasetLine, conversation: EvidenceConversation, place: int) -> Turn:
    own = line.speaker == conversation.speakers[0]
    return Turn(
        id=line.id,
        session=line.session,
        position=place,
        speaker=Speaker.USER if own else Speaker.ASSISTANT,
        text=line.text,
        time=line.time,
        language="en",
    )


async def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--locomo", type=int, default=0, help="how many of its conversations")
    args = parser.parse_args()
    embedder = make_embedder(Settings())
    if embedder is None:
        raise SystemExit("an embedder is needed, but OMOIDE_EMBEDDER is none")
    if args.locomo:
        await found(args.data, embedder, conversations=args.locomo)
        return
    japanese = daily(args.data)
    half = len(japanese) // 2
    if args.tune:
        sets = [
            await joined(dialogsum(args.data, "dev"), embedder=embedder, count=args.count, seed=1),
            await joined(japanese[:half], embedder=embedder, count=args.count, seed=2),
        ]
        tune(sets, with_vectors=True)
        tune(sets, with_vectors=False)
    for name, dialogues in (
        ("DialogSum test", dialogsum(args.data, "test")),
        ("Japanese Daily Dialogue, second half", japanese[half:]),
    ):
        some = await joined(dialogues, embedder=embedder, count=args.count, seed=3)
        ways: dict[str, Callable[[Joined], list[int]]] = {
            "ours, vectors and words": lambda o: segments.boundaries(
                o.texts, vectors=o.vectors, cuts=segments.WITH_VECTORS["use-multilingual"]
            ),
            "ours, words alone": lambda o: segments.boundaries(
                o.texts, vectors=None, cuts=segments.BY_WORDS
            ),
            "TextTiling over vectors": tiling,
            "every eight turns": lambda o: list(range(8, len(o.texts) - 1, 8)),
            "no cut": lambda _: [],
        }
        size = np.mean([len(o.texts) for o in some])
        print(f"\n{name}: {len(some)} joined dialogues of {size:.0f} turns")
        for way, cut in ways.items():
            got = [errors(o.starts, cut(o), len(o.texts)) for o in some]
            spread = estimate([one["windowdiff"] for one in got])
            figures = "  ".join(f"{key} {mean(got, key):.1f}" for key in got[0])
            print(f"{way:26} {figures}  [windowdiff {spread.low:.1f}, {spread.high:.1f}]")


if __name__ == "__main__":
    asyncio.run(main())
