"""Write what `gpu_retriever.py` reads: conversations, requests about their turns, and the exams.

    python benchmarks/retriever_inputs.py DATA WORK

Exams are LoCoMo, BEAM, MemoryBank, MSC, DuLeMon, RealPersonaChat (its first pairs) and MemDaily;
nothing of them is among the conversations.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from omoide_bench.corpora import load
from omoide_tune.retrieval.asking import requests
from omoide_tune.retrieval.conversations import read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

EXAMS = ("locomo", "beam", "memorybank", "msc", "dulemon", "real_persona_chat", "memdaily")
LANGUAGE = {"dulemon": "zh", "memdaily": "zh", "real_persona_chat": "ja"}
SHARES = {"synthetic_persona_chat": 0.27, "real_persona_chat": 0.16, "own": 0.36}
"""Of the turns worth asking about; of other sources nine in ten."""
OWN = 4
"""Every so many chains of our own talks; more of the languages that have little else."""


def exams(data: Path) -> Iterator[dict[str, object]]:
    """Conversations with questions whose evidence is known."""
    for name in EXAMS:
        for one in load(data / name):
            language = "zh" if one.name.startswith("zh ") else LANGUAGE.get(name, "en")
            yield {
                "exam": f"{name}-{language}" if name == "memorybank" else name,
                "language": language,
                "name": one.name,
                "turns": [(line.id, line.text) for line in one.lines],
                "questions": [(q.text, q.category, sorted(q.evidence)) for q in one.questions],
                "unanswerable": [q.text for q in one.unanswerable],
            }


def write(path: Path, records: Iterable[dict[str, object]]) -> None:
    """One line each, packed."""
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def main() -> None:
    """Write the three files."""
    data, work = map(Path, sys.argv[1:3])
    work.mkdir(parents=True, exist_ok=True)
    write(work / "exams.jsonl.gz", exams(data))
    asked: list[dict[str, object]] = []
    kept = []
    counts: Counter[tuple[str, str]] = Counter()
    for one in read(data):
        every = OWN if one.language in ("en", "ja") else OWN // 2
        if one.source == "own" and int(one.name.rpartition("/")[2]) % every:
            continue
        own = list(requests(one, share=SHARES.get(one.source, 0.9)))
        if own:
            kept.append(one.record())
            counts[one.source, one.language] += len(own)
            asked += [
                {
                    "conversation": r.conversation,
                    "turn": r.turn,
                    "language": r.language,
                    "messages": r.messages,
                }
                for r in own
            ]
    write(work / "conversations.jsonl.gz", kept)
    write(work / "requests.jsonl.gz", asked)
    print(f"{len(kept)} conversations, {len(asked)} requests: {dict(counts)}")


if __name__ == "__main__":
    main()
