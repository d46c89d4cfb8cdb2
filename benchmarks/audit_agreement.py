"""Measures how far the error audit agrees with hand labels of real memories of MSC.

    python benchmarks/audit_agreement.py --data DIR --outputs memories.jsonl

The labels are in `tests/fixtures/audit/msc_labels.jsonl`. Their sentences may not be
published and are looked up by SHA-256 in `--outputs`, one line per memory: `{"id": "valid_2",
"form": "…", "i": 1, "memory": ["…"]}`. The audit's rules were written with the dialogues in `SEEN`
in view, so the figure that counts is the one for the others.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

from omoide_bench.agreement import agreement
from omoide_bench.data import msc
from omoide_bench.metrics.auditing import audit

LABELS = Path(__file__).parents[1] / "tests" / "fixtures" / "audit" / "msc_labels.jsonl"
SEEN = ("valid_2", "valid_6", "valid_7")


def main() -> None:
    """Print accuracy, kappa, and precision and recall of each label."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder with MSC")
    parser.add_argument("--outputs", type=Path, required=True)
    args = parser.parse_args()
    sentences = {
        hashlib.sha256(text.encode()).hexdigest()[:16]: text
        for line in args.outputs.read_text(encoding="utf-8").splitlines()
        for text in json.loads(line)["memory"]
    }
    dialogues = {dialogue.id: dialogue for dialogue in msc.load(args.data, "valid")}
    found: dict[str, list[tuple[str, str]]] = {"seen": [], "held out": []}
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        label = json.loads(line)
        dialogue = dialogues[label["dialogue"]]
        finding = audit(
            sentences[label["sha256"]],
            about=dialogue.speakers[label["about"] == "assistant"],
            lines=dialogue.sessions[label["session"] - 1].lines,
        )
        half = "seen" if label["dialogue"] in SEEN else "held out"
        found[half].append((finding.fault.value, label["label"]))
    for half, pairs in found.items():
        four = agreement([a for a, _ in pairs], [b for _, b in pairs])
        two = agreement([a != "sound" for a, _ in pairs], [b != "sound" for _, b in pairs])
        print(f"{half}: {four.count} sentences, {four.accuracy:.3f}, kappa {four.kappa:.3f}")
        print(f"  any fault: {two.accuracy:.3f}, kappa {two.kappa:.3f}")
        for name, label in four.labels.items():
            shares = f"precision {label.precision:.2f}, recall {label.recall:.2f}"
            print(f"  {name}: {shares}, n = {label.count}")


if __name__ == "__main__":
    main()
