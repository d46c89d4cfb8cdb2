"""Takes the code out of a page of docs/ and runs it as a reader would, from top to bottom.

Blocks marked `sh` and `python` are run in one new home folder. A block `text` right after one of
them is what it prints: each line must be in the output, in that order; `…` stands for anything.
Blocks marked `json` and `toml` must be such. A block of code that cannot be run here has a comment
`<!-- not run: the reason -->` before it. `omoide serve` is left running for the blocks after it.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import sys
import tomllib
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from omoide.testing.endpoint import FakeEndpoint, Received, Scripted, stream, whole

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator, Callable

ROOT = Path(__file__).parents[1]
PORT = "8377"
"""The port in the pages; another one is used."""
BLOCK = re.compile(
    r"(<!-- not run: ([^>]+) -->\n+)?^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
ELSEWHERE = "https://app.example"
"""Somebody's program in the pages; the stand-in of the model answers for it."""
PARSERS: dict[str, Callable[[str], object]] = {"json": json.loads, "toml": tomllib.loads}
FILES = {
    "moving-in.md": {"memories.json": "imports/mem0.json", "store.jsonl": "imports/two_users.jsonl"}
}
"""What a reader of a page has already."""
PRELUDE = """
omoide() {
  if [ "$1" = serve ]; then shift; command omoide serve --port 0 "$@"
  else command omoide "$@"; fi
}
pip() { :; }   # everything is installed
"""


@dataclass(frozen=True, kw_only=True)
class Block:
    """A piece of code, and what it prints."""

    language: str
    code: str
    line: int
    shown: str = ""
    skipped: str = ""
    """Why it is not run."""

    @property
    def is_code(self) -> bool:
        """Whether it is more than a picture of something printed."""
        return self.language != "text"

    @property
    def serves(self) -> bool:
        """Whether it starts a server that the next blocks talk to."""
        return self.code.startswith("omoide serve")


def blocks(page: Path) -> list[Block]:
    """The code of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found: list[Block] = []
    end = 0
    for match in BLOCK.finditer(text):
        language, code = match.group(3), match.group(4)
        line = text.count("\n", 0, match.start()) + 1
        if language == "text" and found and not text[end : match.start()].strip():
            before = found.pop()
            found.append(
                Block(
                    language=before.language, code=before.code, line=before.line,
                    shown=code, skipped=before.skipped,
                )
            )  # fmt: skip
        else:
            found.append(
                Block(language=language, code=code, line=line, skipped=match.group(2) or "")
            )
        end = match.end()
    return found


class NotingEndpoint(FakeEndpoint):
    """Answers chats with `otherwise`, and notes what users said as facts when asked for them."""

    def _next(self, received: Received) -> Scripted:
        if received.path.endswith("/completions") and not self.answers:
            prompt = "\n".join(str(m["content"]) for m in received.body["messages"])
            if '"changes"' in prompt:
                answer = noted(prompt)
                return stream(answer) if received.body.get("stream") else whole(answer)
        return super()._next(received)


def noted(prompt: str) -> str:
    """One fact for each statement of the user's, who says every other line."""
    lines = re.findall(r"^(\d+)\W+[^:：]+[:：] ?(.+[.。])$", prompt, flags=re.MULTILINE)
    changes = [
        {
            "do": "add", "text": f"The user said: {text}", "about": "user", "kind": "state",
            "turns": [int(number)],
        }
        for number, text in lines
        if int(number) % 2
    ]  # fmt: skip
    return json.dumps({"changes": changes, "topics": []})


async def run_page(page: Path, home: Path) -> str:
    """Run all blocks of a page; returns what they printed. Raises AssertionError if one fails."""
    for name, file in FILES.get(page.name, {}).items():
        shutil.copy(ROOT / "tests" / "fixtures" / file, home / name)
    async with AsyncExitStack() as stack:
        endpoint = await stack.enter_async_context(NotingEndpoint(otherwise="I see."))
        environment = reader(home, endpoint.url)
        printed, port = [], PORT
        for block in blocks(page):
            if block.skipped or not block.is_code:
                continue
            if block.language in PARSERS:
                PARSERS[block.language](block.code)
                continue
            if block.serves:
                port = await stack.enter_async_context(served(block.code, home, environment))
                continue
            code = block.code.replace(PORT, port)
            code = code.replace(ELSEWHERE, endpoint.url.removesuffix("/v1"))
            output = await run_code(block.language, code, home, environment, block.line)
            assert_shown(block, output)
            printed.append(output)
        return "\n".join(printed)


def reader(home: Path, endpoint: str) -> dict[str, str]:
    """The environment of somebody who follows the page, with a model that is a stand-in."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("OMOIDE_")}
    programs = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", "")])
    return {
        **kept,
        "PATH": programs,
        "HOME": str(home),
        "COLUMNS": "200",
        "OMOIDE_MODEL": f"{endpoint}#stand-in",
        "OMOIDE_EMBEDDER": "none",
    }


async def run_code(
    language: str, code: str, home: Path, environment: dict[str, str], line: int
) -> str:
    """Run one block to its end."""
    assert language in ("sh", "python"), f"line {line}: nothing runs {language or 'it'}"
    process = await start(language, code, home, environment)
    output = (await process.communicate())[0].decode()
    assert process.returncode == 0, f"line {line} ended with {process.returncode}:\n{output}"
    return output


async def start(language: str, code: str, home: Path, environment: dict[str, str]) -> Process:
    """A process that runs the block, in a process group of its own."""
    command = (
        [sys.executable, "-c", code]
        if language == "python"
        else ["bash", "-euo", "pipefail", "-c", PRELUDE + code]
    )
    return await asyncio.create_subprocess_exec(
        *command,
        cwd=home,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )


@asynccontextmanager
async def served(code: str, home: Path, environment: dict[str, str]) -> AsyncIterator[str]:
    """A server in the background until the page ends, and the port that it logs."""
    process = await start("sh", code, home, environment)
    assert process.stdout is not None
    logged = b""
    while not (found := re.search(rb'"address": ?"[^"]+:(\d+)"', logged)):
        line = await process.stdout.readline()
        assert line, f"the server ended: {logged.decode()}"
        logged += line
    rest = asyncio.ensure_future(process.stdout.read())  # so that it never waits for us to read
    try:
        yield found.group(1).decode()
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGTERM)
        await rest
        await process.wait()


def assert_shown(block: Block, output: str) -> None:
    """The lines that the page shows are in the output, in order."""
    rest = output
    for line in filter(None, map(str.strip, block.shown.splitlines())):
        pattern = ".*?".join(re.escape(part) for part in line.split("…"))
        match = re.search(pattern, rest)
        assert match, f"line {block.line} should print {line!r}; it printed:\n{output}"
        rest = rest[match.end() :]
