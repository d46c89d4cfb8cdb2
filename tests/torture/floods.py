"""Floods from clients and upstreams, and how much memory the server's process takes under each.

    python -m tests.torture.floods --out docs/security.md

A flood comes from another process than the server's, over a socket; the upstream is in the server's
process and makes what it sends piece by piece. The table replaces the one between its marks.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import re
import subprocess
import sys
import tempfile
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx

from omoide.server.idempotency import MAX_ENTRY_BYTES
from omoide.server.options import Options
from omoide.testing.endpoint import DONE, Scripted, event, whole
from tests.server.serving import CHAT, listening, serving

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

MIB = 2**20
SIZE = 256 * MIB
PIECE = b"x" * (64 * 1024)
TENANTS, EACH = 40, 30
"""Tenants, and answers of each that are kept: together more than may be kept in all."""
LONGEST = 300.0
"""Seconds of one flood."""
ASK = {"model": "m", "user": "ana", "messages": [{"role": "user", "content": "Hi"}]}


def _filled(before: bytes, after: bytes) -> Iterator[bytes]:
    yield before
    for _ in range(SIZE // len(PIECE)):
        yield PIECE
    yield after


def _answer() -> Iterator[bytes]:
    [block] = whole("#").blocks
    assert isinstance(block, bytes)
    before, _, after = block.partition(b"#")
    return _filled(before, after)


def _events() -> Iterator[bytes]:
    piece = event({"content": PIECE.decode()})
    for _ in range(SIZE // len(PIECE)):
        yield piece
    yield DONE


def _bomb() -> Iterator[bytes]:
    packer = zlib.compressobj(wbits=31)
    for block in _answer():
        yield packer.compress(block)
    yield packer.flush()


def _padded() -> Iterator[bytes]:
    """The longest answer that is kept for its key; little of it is recorded. Made anew each time,
    or all that are kept would share its bytes."""
    [block] = whole("Yes.").blocks
    assert isinstance(block, bytes)
    yield json.dumps({**json.loads(block), "padding": "x" * (MAX_ENTRY_BYTES - 1024)}).encode()


def _scripted(blocks: Iterator[bytes], **more: Any) -> Scripted:  # noqa: ANN401
    return Scripted(blocks=blocks, **more)  # type: ignore[arg-type] # made as it is sent


async def _chat(
    client: httpx.AsyncClient,
    _: list[str],
    *,
    path: str = CHAT,
    body: Mapping[str, object] = ASK,
    stream: bool = False,
) -> str:
    """A chat whose answer is read and dropped."""
    size, last = 0, b""
    async with client.stream("POST", path, json={**body, "stream": stream}) as response:
        with suppress(httpx.RemoteProtocolError):
            async for piece in response.aiter_raw():
                size += len(piece)
                last = last[-200:] + piece
    stored = response.headers.get("x-omoide-stored", "-")
    if later := re.search(rb": X-Omoide-Stored: (\w+)", last[-200:]):
        stored = f"{stored}, at the end {later[1].decode()}"
    return f"{response.status_code}, {size / MIB:.0f} MiB passed on, stored: {stored}"


async def _stream(client: httpx.AsyncClient, _: list[str]) -> str:
    return await _chat(client, [], stream=True)


async def _responses(client: httpx.AsyncClient, _: list[str]) -> str:
    body = {"model": "m", "user": "ana", "input": "Hi"}
    return await _chat(client, [], path="/v1/responses", body=body, stream=True)


async def _headers(client: httpx.AsyncClient, _: list[str]) -> str:
    """Headers that do not end, past the client's library."""
    address = urlsplit(str(client.base_url))
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nX-A: ")
    sent = 0
    with suppress(ConnectionError):
        while sent < SIZE and not reader.at_eof():
            writer.write(PIECE)
            await writer.drain()
            sent += len(PIECE)
            await asyncio.sleep(0)
    writer.close()
    return f"refused after {sent / MIB:.0f} MiB" if sent < SIZE else "all was taken"


async def _body(client: httpx.AsyncClient, _: list[str]) -> str:
    """A body much larger than is allowed, without its length."""

    async def pieces() -> Any:  # noqa: ANN401 - an async generator
        for _ in range(SIZE // len(PIECE)):
            yield PIECE

    try:
        answer = await client.post(CHAT, content=pieces())
    except httpx.TransportError as error:
        return f"refused ({type(error).__name__})"
    return str(answer.status_code)


async def _labels(client: httpx.AsyncClient, _: list[str]) -> str:
    """Made-up methods and paths."""
    for number in range(2_000):
        await client.request(f"M{number}", f"/path/{number}")
    metrics = (await client.get("/metrics")).text
    return f"2,000 requests, {len(metrics.splitlines())} lines of metrics"


async def _tenants(client: httpx.AsyncClient, keys: list[str]) -> str:
    """Answers that are kept for their idempotency keys, of many tenants."""
    count = 0
    for key in keys:
        for number in range(EACH):
            headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": f"k{number}"}
            answer = await client.post(CHAT, json=ASK, headers=headers)
            count += answer.status_code == 200
    return f"{count} answers of {MAX_ENTRY_BYTES // 1024} KiB, of {TENANTS} tenants"


@dataclass(frozen=True)
class Flood:
    """What is sent, and what the upstream answers."""

    about: str
    send: Callable[[httpx.AsyncClient, list[str]], Awaitable[str]]
    answer: Callable[[], Scripted] | None = None


FLOODS = {
    "nothing": Flood("one chat", _chat),
    "answer": Flood("an answer of 256 MiB", _chat, lambda: _scripted(_answer())),
    "stream": Flood(
        "a stream of 256 MiB",
        _stream,
        lambda: _scripted(_events(), media_type="text/event-stream"),
    ),
    "responses": Flood(
        "a stream of 256 MiB, converted into Responses",
        _responses,
        lambda: _scripted(_events(), media_type="text/event-stream"),
    ),
    "line": Flood(
        "a line of a stream of 256 MiB",
        _stream,
        lambda: _scripted(_filled(b"data: ", b"\n\n"), media_type="text/event-stream"),
    ),
    "gzip": Flood(
        "an answer of 256 MiB that comes as 256 KiB of gzip",
        _chat,
        lambda: _scripted(_bomb(), headers={"content-encoding": "gzip"}),
    ),
    "headers": Flood("headers that do not end", _headers),
    "body": Flood("a request's body of 256 MiB", _body),
    "labels": Flood("made-up methods and paths", _labels),
    "tenants": Flood("idempotency keys of many tenants", _tenants),
}


async def _serve(flood: Flood) -> None:
    """The server, until it is killed; it tells its address and the keys of its tenants."""
    with tempfile.TemporaryDirectory() as folder:
        async with serving(Path(folder), options=Options(patience=300.0, rate=0)) as bench:
            keys: list[str] = []
            if flood.send is _tenants:
                bearers = [bench.key(f"t{number}")["Authorization"] for number in range(TENANTS)]
                keys = [bearer.removeprefix("Bearer ") for bearer in bearers]
                bench.upstairs.answers.extend(_scripted(_padded()) for _ in range(TENANTS * EACH))
            elif flood.answer is not None:
                bench.upstairs.answers.append(flood.answer())
            async with listening(bench.app) as url:
                sys.stdout.write(f"{json.dumps([url, keys])}\n")
                sys.stdout.flush()
                await asyncio.Event().wait()


async def _flooded(name: str) -> str:
    """One row of the table."""
    flood = FLOODS[name]
    command = [sys.executable, "-m", "tests.torture.floods", "--serve", name]
    server = subprocess.Popen(command, stdout=subprocess.PIPE)  # noqa: ASYNC220 - its first line
    assert server.stdout is not None
    try:
        url, keys = json.loads(server.stdout.readline())
        before, began = _memory(server.pid, "VmRSS"), monotonic()
        async with httpx.AsyncClient(base_url=url, timeout=600.0) as client:
            try:
                async with asyncio.timeout(LONGEST):
                    outcome = await flood.send(client, keys)
            except TimeoutError:
                outcome = f"not over after {LONGEST:.0f} s"
        peak, took = _memory(server.pid, "VmHWM"), monotonic() - began
    finally:
        server.kill()
        server.wait()
    return f"| {flood.about} | {outcome} | {took:.0f} | {before:.0f} | {peak:.0f} |"


def _memory(pid: int, what: str) -> float:
    """In MiB, from the kernel."""
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    found = re.search(rf"{what}:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) / 1024


HEAD = "| flood | what came of it | s | MiB before | MiB at most |\n|---|---|---:|---:|---:|"
MARKS = ("<!-- floods -->", "<!-- /floods -->")


def main() -> None:
    """Serve one flood, or measure all."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture.floods")
    parser.add_argument("--serve", choices=FLOODS, help=argparse.SUPPRESS)
    parser.add_argument("--only", action="append", choices=FLOODS)
    parser.add_argument("--out", type=Path, help="the page that has the table, between its marks")
    given = parser.parse_args()
    if given.serve:
        logging.disable(logging.WARNING)
        asyncio.run(_serve(FLOODS[given.serve]))
        return
    rows = []
    for name in given.only or FLOODS:
        rows.append(asyncio.run(_flooded(name)))
        sys.stderr.write(f"{rows[-1]}\n")
    if given.out:
        page = given.out.read_text("utf-8")
        before, rest = page.split(MARKS[0])
        after = rest.split(MARKS[1])[1]
        table = "\n".join([MARKS[0], HEAD, *rows, MARKS[1]])
        given.out.write_text(f"{before}{table}{after}", "utf-8")


if __name__ == "__main__":
    main()
