"""The table of clients and features in `docs/clients.md`, made from the tests that show them.

`python -m tests.integration.clients.table` writes it anew.
"""

from __future__ import annotations

from pathlib import Path

from . import test_chat, test_clients, test_memory_tool, test_messages, test_ollama, test_responses
from .drivers import DRIVERS
from .lines import SHOWN, title

PAGE = Path(__file__).parents[3] / "docs" / "clients.md"
BEGIN, END = "<!-- made by tests/integration/clients/table.py -->", "<!-- end -->"
TESTS = (test_clients, test_chat, test_responses, test_messages, test_ollama, test_memory_tool)
"""Importing these fills `SHOWN`."""


def table() -> str:
    """The table, in Markdown."""
    heads = ["feature", *(title(driver) for driver in DRIVERS)]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for feature, shown in sorted(SHOWN.items(), key=lambda row: (-len(row[1]), row[0])):
        cells = ["yes" if driver in shown else "–" for driver in DRIVERS]
        lines.append(f"| {' | '.join([feature, *cells])} |")
    return "\n".join(lines)


def between(page: str) -> str:
    """What stands between the marks on the page."""
    return page.partition(BEGIN)[2].partition(END)[0].strip()


def main() -> None:
    """Write the table into the page."""
    page = PAGE.read_text("utf-8")
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
