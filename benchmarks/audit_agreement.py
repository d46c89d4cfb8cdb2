"""How far the error audit agrees with hand labels of real memories of MSC.

    python benchmarks/audit_agreement.py --data DIR --outputs memories.jsonl

The labels are in `tests/fixtures/audit/msc_labels.jsonl`; the sentences they belong to may not be
published and are looked up in `--outputs`, a line a memory: `{"id": "valid_2", "form": "…", "i": 1,
"memory": ["…"]}`, by their SHA-256. The audit's rules were made with the dialogues in `SEEN` in
sight; what counts is the figure for the others.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

from omoide.evals.agreement import agreement
from omoide.evals.data import msc
from omoide.evals.metrics.auditing import audit

LABELS = Path(__file__).parents[1] / "tests" / "fixtures" / "audit" / "msc_labels.jsonl"
SEEN = ("valid_2", "valid_6", "valid_7")


def main() -> None:
    """Print accuracy, kappa, and precision and recall of each label."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder with MSC")
    parser.add_argument("--outputs", type=Path, required=True)
    given = parser.parse_args()
    sentences = {
        hashlib.sha256(text.encode()).hexdigest()[:16]: text
        for line in given.outputs.read_text(encoding="utf-8").splitlines()
        for text in json.loads(line)["memory"]
    }
    dialogues = {dialogue.id: dialogue for dialogue in msc.load(given.data, "valid")}
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
