"""Records the picture in the README: real commands and their real output, as an SVG.

    python tools/picture.py docs/pictures/chat.svg [MODEL]

Three sessions, weeks apart, each in its own process. Takes some minutes with a local model.
"""

from __future__ import annotations

import html
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

WIDTH = 92
SESSIONS = [
    (
        "3 weeks ago",
        [
            "Hi, I'm Ana! I live in Oslo, I work as a nurse, and I adopted a cat called Miso.",
            "I'm allergic to peanuts, so no peanut cookies for me.",
        ],
    ),
    ("1 week ago", ["Big news: I moved to Bergen last weekend, and I got engaged to Jonas!"]),
    (None, ["I'd like to bake something this evening. What should I keep in mind?"]),
]


def main(target: Path, model: str = "default") -> None:
    """Run everything, then draw it."""
    lines: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        base = [sys.executable, "-m", "omoide.cli", "--db", f"{folder}/memory.sqlite"]
        for at, says in SESSIONS:
            when = ["--at", at] if at else []
            end = ["--end"] if at else []
            lines.append(("note", f"── {at or 'today'} " + "─" * 40))
            for i, text in enumerate(says):
                last = end if i == len(says) - 1 else []
                lines.append(("you", f"you › {text}"))
                shown = run([*base, "chat", "--model", model, *when, "--say", text, *last])
                reply, _, update = shown.partition("\nMemory")
                lines.append(("reply", reply.strip()))
                if update:
                    lines += [("memory", line) for line in f"Memory{update}".strip().splitlines()]
        lines.append(("note", ""))
        lines.append(("you", "$ omoide memory why"))
        lines += [("memory", line) for line in run([*base, "memory", "why"]).splitlines()]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(draw(lines))


def run(command: list[str]) -> str:
    """What the command prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def draw(lines: list[tuple[str, str]]) -> str:
    """A terminal window as an SVG."""
    rows = [
        (kind, row)
        for kind, text in lines
        for row in (textwrap.wrap(text, WIDTH, subsequent_indent="      ") or [""])
    ]
    height = 20 * len(rows) + 60
    drawn = "\n".join(
        f'<text class="{kind}" x="20" y="{52 + 20 * i}" xml:space="preserve">'
        f"{html.escape(row)}</text>"
        for i, (kind, row) in enumerate(rows)
    )
    label = "Three chats, weeks apart; the memory is kept up to date and cites its sources"
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="800" height="{height}" role="img"
 aria-label="{label}">
<style>
text {{ font: 13.5px ui-monospace, Menlo, Consolas, monospace; fill: #d8dee9 }}
.you {{ fill: #88c0d0; font-weight: bold }} .memory {{ fill: #a3be8c }} .note {{ fill: #6c7a91 }}
</style>
<rect width="800" height="{height}" rx="10" fill="#20242e"/>
<circle cx="20" cy="18" r="6" fill="#bf616a"/><circle cx="40" cy="18" r="6" fill="#ebcb8b"/>
<circle cx="60" cy="18" r="6" fill="#a3be8c"/>
{drawn}
</svg>
"""


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
