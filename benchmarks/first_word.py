"""How long the first word of a reply takes after Enter, in `omoide chat` at a real terminal.

    python benchmarks/first_word.py [--language ja] [--model default] [--speed 6] [--out FILE]

Two sessions of a story, weeks apart. The first is held by `--say` and ended, so that there is a
memory; the second is typed letter by letter into a pty, as fast as people type, and the clock runs
from Enter to the first word of the reply on the screen, be it faint, as it is forming. Run it on a
machine that does nothing else: the load is told beside the figures.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

import pyte

WIDTH, HEIGHT = 92, 50
PROMPT = "you ›"
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
"""Before words that are forming, and before "thinking"."""
OMOIDE = [sys.executable, "-m", "omoide.cli"]
STORIES = {
    "en": (
        [
            "Hi, I'm Hedda! I live in Oslo, and I'm allergic to peanuts.",
            "From June I'll work as a school nurse in Bergen, so I'm moving there next week.",
        ],
        [
            "Hello again, long time no see!",
            "Where do I live now?",
            "What should I avoid when you suggest me a dessert?",
            "We went hiking on Saturday, Lars and I.",
            "What do you know about my plans?",
        ],
    ),
    "ja": (
        [
            "こんにちは、美咲です。札幌の図書館で働いていて、モチという三毛猫を飼っています。",
            "来月、仙台に引っ越します。",
        ],
        [
            "お久しぶり！",
            "うちの猫の名前、覚えてる？",
            "私は今どこに住んでる？",
            "昨日は友だちと映画を見たよ。",
            "夕飯は何がいいかな？",
        ],
    ),
}


class Screen(pyte.Screen):
    """Answers what the running program asks, such as where the cursor is."""

    program = -1

    def write_process_input(self, data: str) -> None:
        """Answer the program."""
        os.write(self.program, data.encode())


class Chat:
    """A running chat, and what it shows."""

    def __init__(self, words: list[str], environment: dict[str, str]) -> None:
        self._pid, self._fd = pty.fork()
        if self._pid == 0:
            os.execvpe(OMOIDE[0], [*OMOIDE, *words], environment)  # noqa: S606 - no shell is wanted
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
        self._screen = Screen(WIDTH, HEIGHT)
        self._screen.program = self._fd
        self._stream = pyte.ByteStream(self._screen)

    def asked(self, text: str, speed: float) -> tuple[float, str]:
        """Type a message and Enter; the seconds to the first word, and the reply."""
        self._await_prompt()
        for letter in text:
            os.write(self._fd, letter.encode())
            self._read(1 / speed)
        row = self._screen.cursor.y
        os.write(self._fd, b"\r")
        entered = time.monotonic()
        while not (shown := self._reply(row)):
            self._read(0.1)  # looking more often would take CPU time from the model
        first = time.monotonic() - entered
        self._await_prompt()
        shown = self._reply(row)
        return first, " ".join(shown)

    def close(self) -> None:
        """Leave without an end of the session."""
        os.close(self._fd)
        os.waitpid(self._pid, 0)

    def _reply(self, row: int) -> list[str]:
        """The lines after the message that are a reply's, or its words as they are forming."""
        lines = [self._line(y) for y in range(row + 1, min(row + 8, HEIGHT))]
        others = ("·", "thinking", PROMPT)
        return [line for line in lines if line and not line.startswith(others)]

    def _line(self, y: int) -> str:
        row = self._screen.buffer[y]
        return "".join(row[x].data for x in range(WIDTH)).strip().lstrip(SPINNER).strip()

    def _await_prompt(self) -> None:
        """Until it waits for a line, and has been silent for a while."""
        silent = 0
        while silent < 10:
            heard = self._read(0.1)
            waits = self._line(self._screen.cursor.y) == PROMPT
            silent = silent + 1 if waits and not heard else 0

    def _read(self, seconds: float) -> bool:
        """Show what comes within this time; whether anything came."""
        end, heard = time.monotonic() + seconds, False
        while (left := end - time.monotonic()) > 0:
            if select.select([self._fd], [], [], left)[0]:
                self._stream.feed(os.read(self._fd, 65_536))
                heard = True
        return heard


def main() -> None:
    """Hold both sessions of each language and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--language", action="append", choices=STORIES)
    parser.add_argument("--model", default="default")
    parser.add_argument("--speed", type=float, default=6.0, help="letters a second")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    rows = []
    for language in given.language or list(STORIES):
        for text, seconds, reply in held(language, given.model, given.speed):
            rows.append({"language": language, "said": text, "s": seconds, "reply": reply})
            print(f"{language}  {seconds:5.2f} s  {text}  →  {reply}", flush=True)
    times = [float(row["s"]) for row in rows]
    print(
        f"median {statistics.median(times):.2f} s, longest {max(times):.2f} s, "
        f"{sum(time <= 3 for time in times)} of {len(times)} within 3 s; "
        f"load of the last minute {os.getloadavg()[0]:.1f}"
    )
    if given.out:
        given.out.write_text(json.dumps(rows, ensure_ascii=False, indent=1), encoding="utf-8")


def held(language: str, model: str, speed: float) -> list[tuple[str, float, str]]:
    """The messages of the second session, how long each reply took, and the replies."""
    first, second = STORIES[language]
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "OMOIDE_DB": f"{folder}/memory.sqlite",
            "OMOIDE_MODEL": model,
            "OMOIDE_LOCAL_SERVERS": "none",
            "TERM": "xterm-256color",
        }
        said = [word for text in first for word in ("--say", text)]
        command = [*OMOIDE, "chat", "--at", "12 weeks ago", *said, "--end"]
        subprocess.run(command, env=environment, check=True, capture_output=True)
        chat = Chat(["chat"], environment)
        try:
            return [(text, *chat.asked(text, speed)) for text in second]
        finally:
            chat.close()


if __name__ == "__main__":
    main()
