"""Records the picture of the chat guide: `omoide chat` at a terminal, as it was, as an SVG.

    python tools/recording.py docs/pictures/chat.svg [MODEL]

Three chats, weeks apart, each a process of its own in a real terminal (a pty, read by pyte).
Nothing is edited. Takes some minutes with a local model.
"""

from __future__ import annotations

import fcntl
import html
import os
import pty
import select
import struct
import sys
import tempfile
import termios
import time
from itertools import groupby
from pathlib import Path

import pyte

WIDTH, HEIGHT = 92, 200
PROMPT = "you ›"
QUIET = 2.0
"""Seconds without output after which a prompt counts as waiting for a line."""
CHATS = [
    (
        ["chat", "--at", "3 weeks ago"],
        ["Hi, I'm Ana! I live in Oslo with my cat Miso.", "I'm allergic to peanuts."],
    ),
    (["chat", "--at", "1 week ago"], ["Big news: I moved to Bergen last weekend!"]),
    (
        ["chat"],
        [
            "Good evening!",
            "Where do I live now?",
            "What should I avoid when you suggest me a dessert?",
            "/memory",
        ],
    ),
]
COLOURS = {"default": "#d8dee9", "green": "#a3be8c", "cyan": "#88c0d0", "brown": "#ebcb8b"}
FAINT = "#7b88a1"


class Screen(pyte.Screen):
    """A screen that answers what the running program asks, such as where the cursor is."""

    program = -1
    """The program's end of the terminal."""

    def write_process_input(self, data: str) -> None:
        """Answer the program."""
        os.write(self.program, data.encode())


class Terminal:
    """A screen that programs write to, one after another."""

    def __init__(self) -> None:
        self.screen = Screen(WIDTH, HEIGHT)
        self._stream = pyte.ByteStream(self.screen)

    def write(self, text: str) -> None:
        """Write as a shell would."""
        self._stream.feed(text.encode())

    def run(self, command: list[str], lines: list[str], environment: dict[str, str]) -> None:
        """Run a program, typing each line when it waits for one, until it ends."""
        pid, fd = pty.fork()
        if pid == 0:
            os.execvpe(command[0], command, environment)  # noqa: S606 - no shell is wanted
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
        self.screen.program = fd
        waiting = [*lines, "/quit"]
        heard = time.monotonic()
        while True:
            if select.select([fd], [], [], 0.2)[0]:
                try:
                    data = os.read(fd, 65_536)
                except OSError:  # the program ended
                    break
                self._stream.feed(data)
                heard = time.monotonic()
            elif waiting and self._prompts() and time.monotonic() - heard > QUIET:
                os.write(fd, f"{waiting.pop(0)}\r".encode())
                heard = time.monotonic()
        os.close(fd)
        os.waitpid(pid, 0)

    def _prompts(self) -> bool:
        return self.screen.display[self.screen.cursor.y].strip() == PROMPT

    def rows(self) -> list[list[pyte.screens.Char]]:
        """What is on the screen, without empty lines at the end."""
        rows = [[self.screen.buffer[y][x] for x in range(WIDTH)] for y in range(HEIGHT)]
        while rows and not "".join(char.data for char in rows[-1]).strip():
            rows.pop()
        return rows


def main(target: Path, model: str = "default") -> None:
    """Record all chats, then draw them."""
    terminal = Terminal()
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ, "OMOIDE_DB": f"{folder}/memory.sqlite", "OMOIDE_MODEL": model,
            "OMOIDE_LOCAL_SERVERS": "none", "OMOIDE_TIMEOUT": "1800", "TERM": "xterm-256color",
        }  # fmt: skip
        for words, lines in CHATS:
            shown = " ".join(f'"{word}"' if " " in word else word for word in words)
            terminal.write(f"\x1b[36m$ omoide {shown}\x1b[0m\r\n")
            terminal.run([sys.executable, "-m", "omoide.cli", *words], lines, environment)
            terminal.write("\r\n")
            print("\n".join(line.rstrip() for line in terminal.screen.display).strip(), flush=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(draw(terminal.rows()), encoding="utf-8")


def draw(rows: list[list[pyte.screens.Char]]) -> str:
    """A terminal window as an SVG."""
    height = 20 * len(rows) + 60
    drawn = "\n".join(
        f'<text x="20" y="{52 + 20 * i}" xml:space="preserve">{spans(row)}</text>'
        for i, row in enumerate(rows)
    )
    label = "Three chats, weeks apart: the last one knows what was said in the others"
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="800" height="{height}" role="img"
 aria-label="{label}">
<style>text {{ font: 13.5px ui-monospace, Menlo, Consolas, monospace }}</style>
<rect width="800" height="{height}" rx="10" fill="#20242e"/>
<circle cx="20" cy="18" r="6" fill="#bf616a"/><circle cx="40" cy="18" r="6" fill="#ebcb8b"/>
<circle cx="60" cy="18" r="6" fill="#a3be8c"/>
{drawn}
</svg>
"""


def spans(row: list[pyte.screens.Char]) -> str:
    """A line of the screen, by colour."""
    end = len("".join(char.data for char in row).rstrip())

    def style(char: pyte.screens.Char) -> tuple[str, str]:
        return COLOURS.get(char.fg, FAINT), "bold" if char.bold else "normal"

    return "".join(
        f'<tspan fill="{colour}" font-weight="{weight}">'
        f"{html.escape(''.join(char.data for char in run))}</tspan>"
        for (colour, weight), run in groupby(row[:end], key=style)
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
