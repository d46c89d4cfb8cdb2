"""The tables of `docs/results/tuning.md`, out of what `gpu_tuning.sh` left.

    python benchmarks/tuning_report.py RESULTS > tables.md

RESULTS holds a folder for each model, with `results/EXAM.json` and, where it was tuned, `run.json`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from omoide.evals.reports.judged import load
from omoide.evals.reports.tuning import report

if __name__ == "__main__":
    print(report(load(Path(sys.argv[1]))), end="")
