"""The table of methods and clients in `docs/clients.md`, made from the code.

`python -m tests.unit.client_table` writes it anew.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from omoide import Memory, RemoteMemory

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/clients.md"
BEGIN, END = "<!-- made by tests/unit/client_table.py -->", "<!-- end of methods -->"
SCRIPT = ROOT / "packages/omoide-js/src/index.ts"
OTHER_NAMES = {"begin": "exchange", "pin": "mark", "unpin": "mark", "expire": "mark", "tag": "mark"}
"""Methods that TypeScript has under the name of a more general one."""


def table() -> str:
    """The table, in Markdown."""
    script = SCRIPT.read_text("utf-8")
    methods = set(re.findall(r"^  async \*?(\w+)[<(]", script, re.MULTILINE))
    lines = ["| method | library | Python over HTTP | TypeScript |", "|---|---|---|---|"]
    for name, _ in inspect.getmembers(Memory, inspect.isfunction):
        if name.startswith("_"):
            continue
        remote = hasattr(RemoteMemory, name)
        camel = re.sub(r"_(\w)", lambda m: m.group(1).upper(), OTHER_NAMES.get(name, name))
        cells = [f"`{name}`", "yes", *(_cell(there) for there in (remote, camel in methods))]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(there: bool) -> str:
    return "yes" if there else "–"


def between(page: str) -> str:
    """What stands between the marks on the page."""
    return page.partition(BEGIN)[2].partition(END)[0].strip()


def main() -> None:
    """Write the table into the page."""
    page = PAGE.read_text("utf-8")
    before, _, rest = page.partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}", "utf-8")


if __name__ == "__main__":
    main()
