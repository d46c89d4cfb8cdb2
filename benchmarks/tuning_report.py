"""Prints the tables of `docs/results/tuning.md` from the results of `gpu_tuning.sh`.

    python benchmarks/tuning_report.py RESULTS > tables.md

RESULTS has a folder for each model, with `results/EXAM.json` and, if it was tuned, `run.json`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from omoide_bench.reports.judged import load
from omoide_bench.reports.tuning import report

if __name__ == "__main__":
    print(report(load(Path(sys.argv[1]))), end="")
