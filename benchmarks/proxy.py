"""Measures the proxy's overhead: CPU per request, delay of the first token, 200 streams at once.

    python benchmarks/proxy.py [--requests 300] [--streams 200] [--embedder none] [--protocol chat]
    python benchmarks/proxy.py --against ../old/src [--requests 300] [--embedder none] [--items 6]

A fake upstream in this process answers at once; the proxy is `omoide serve` in another process, so
its CPU can be read separately (from /proc: Linux only). Everything is on loopback and bounded in
time. The user has a history of 200 turns, and each request is a new message after ten others, so
memory is searched, inserted and written each time. On a busy machine, trust the CPU figures.

With --against, a second proxy runs from the sources of another commit. Both get the same requests
in small turns, so a busy machine slows both alike, and the ratio of their CPU can be trusted.
`--items 6` gives this one as many recalled turns as the first round's proxy had.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from omoide.testing import FakeEndpoint

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

CHAT = "/chat/completions"
PATHS = {
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "messages": "/v1/messages",
    "ollama": "/api/chat",
}
"""Where each protocol is served."""
REPLY = "I am glad to hear that, and I hope that the weather stays fine for your walk by the sea. "
SAID = (
    "We went to the market in {place} and bought {n} oranges.",
    "My sister {n} called about the train to {place}.",
    "The cat slept on chair number {n} while it rained in {place}.",
    "I read {n} pages of a novel about {place} last night.",
)
PLACES = ("Oslo", "Bergen", "Kyoto", "Leeds", "Hanoi", "Busan", "Porto")
LIMIT = 300.0
TURN = 10
"""Requests to one proxy before the other has its turn."""


def words(number: int) -> str:
    """A new sentence."""
    return SAID[number % len(SAID)].format(n=number, place=PLACES[number % len(PLACES)])


def body(number: int, *, user: str, stream: bool) -> dict[str, Any]:
    """A chat with ten messages of history."""
    history = [
        {"role": role, "content": f"{words(i)} ({number})"}
        for i in range(5)
        for role in ("user", "assistant")
    ]
    asked = {"role": "user", "content": f"Do you remember? {words(number)}"}
    messages = [{"role": "system", "content": "Be kind."}, *history, asked]
    return {"model": "fake-1", "user": user, "stream": stream, "messages": messages}


def spoken(protocol: str, chat: dict[str, Any]) -> dict[str, Any]:
    """The same chat in another protocol."""
    system, *messages = chat["messages"]
    if protocol == "responses":
        rest = {name: chat[name] for name in ("model", "user", "stream")}
        return {**rest, "instructions": system["content"], "input": messages}
    if protocol == "messages":
        rest = {"model": chat["model"], "stream": chat["stream"], "max_tokens": 400}
        named = {"metadata": {"user_id": chat["user"]}, "system": system["content"]}
        return {**rest, **named, "messages": messages}
    return chat


def cpu(pid: int) -> float:
    """CPU seconds that a process has used, including its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rss(pid: int) -> int:
    """Resident memory of a process, in megabytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) // 1024


@asynccontextmanager
async def serving(
    upstream: str, embedder: str, folder: str, *, sources: str = "", items: int = 0
) -> AsyncIterator[tuple[int, str]]:
    """`omoide serve` in its own process, from these sources: process id and address."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "omoide.cli", "--db", f"{folder}/bench.sqlite"),
        *("serve", "--port", "0", "--upstream", f"{upstream}#fake-1", "--log-level", "info"),
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "OMOIDE_EMBEDDER": embedder}
        | ({"PYTHONPATH": sources} if sources else {})
        | ({"OMOIDE_RECALL_ITEMS": str(items)} if items else {}),
    )
    assert process.stderr
    address = ""
    while not address:
        address = json.loads(await process.stderr.readline()).get("address", "")
    drain = asyncio.create_task(process.stderr.read())
    try:
        yield process.pid, address
    finally:
        process.terminate()
        await process.wait()
        await drain


async def remember(client: httpx.AsyncClient, url: str) -> None:
    """Give the user a history of 200 turns in four sessions."""
    for session in range(4):
        turns = [{"speaker": "user", "text": words(session * 50 + i)} for i in range(50)]
        made = await client.post(
            f"{url}/api/turns?user=ana", json={"turns": turns, "session": f"past-{session}"}
        )
        assert made.status_code == 201, made.text


async def sequence(
    client: httpx.AsyncClient,
    url: str,
    count: int,
    *,
    stream: bool,
    protocol: str = "chat",
    first: int = 0,
) -> list[float]:
    """Send requests one after another, numbered from the first; returns the seconds to the first
    piece of text of each."""
    delays = []
    for number in range(first, first + count):
        began = time.perf_counter()
        chat = body(number + (1_000_000 if stream else 0), user="ana", stream=stream)
        sent = spoken(protocol, chat)
        async with client.stream("POST", url, json=sent) as response:
            assert response.status_code == 200, await response.aread()
            assert response.headers.get("x-omoide-status", "ok") == "ok", response.headers
            seen, heard = b"", 0.0
            async for block in response.aiter_bytes():
                seen += block
                if not heard and b"I am" in seen:
                    heard = time.perf_counter() - began
            delays.append(heard or time.perf_counter() - began)
    return delays


async def together(client: httpx.AsyncClient, url: str, count: int) -> tuple[int, int, float]:
    """Open all streams at once, one per user; returns how many failed, how many got no memory,
    and how long all took."""
    degraded = 0

    async def one(number: int) -> bool:
        nonlocal degraded
        sent = body(number, user=f"user-{number}", stream=True)
        try:
            response = await client.post(f"{url}{CHAT}", json=sent)
        except httpx.HTTPError:
            return False
        degraded += response.headers.get("x-omoide-status", "ok") != "ok"
        return response.status_code == 200 and response.content.endswith(b"data: [DONE]\n\n")

    began = time.perf_counter()
    fine = await asyncio.gather(*(one(i) for i in range(count)))
    return count - sum(fine), degraded, time.perf_counter() - began


def percentiles(name: str, seconds: list[float]) -> str:
    """Format median and 95th percentile."""
    cut = statistics.quantiles(seconds, n=20)
    return (
        f"{name:34} p50 {statistics.median(seconds) * 1000:7.1f} ms  p95 {cut[18] * 1000:7.1f} ms"
    )


async def measure(requests: int, streams: int, embedder: str, protocol: str) -> int:
    """Run everything; the exit code says whether the goals were met."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=256)
    with tempfile.TemporaryDirectory() as folder:
        async with (
            FakeEndpoint(otherwise=REPLY) as endpoint,
            serving(endpoint.url, embedder, folder) as (pid, address),
            httpx.AsyncClient(timeout=LIMIT, limits=limits) as client,
        ):
            proxy = f"{address}/v1"
            await remember(client, address)
            spoken_at, bare_at = f"{address}{PATHS[protocol]}", f"{endpoint.url}{CHAT}"
            for stream in (False, True):  # warm up: lazy imports
                await sequence(client, spoken_at, 20, stream=stream, protocol=protocol)
            spent: dict[bool, float] = {}
            for stream in (False, True):
                before = cpu(pid)
                delays = await sequence(
                    client, spoken_at, requests, stream=stream, protocol=protocol
                )
                spent[stream] = (cpu(pid) - before) / requests * 1000
                bare = await sequence(client, bare_at, requests, stream=stream)
                kind = "streamed" if stream else "at once"
                print(percentiles(f"first token, {kind}, bare", bare))
                print(percentiles(f"first token, {kind}, through omoide", delays))
                print(f"CPU of the proxy, {kind:17} {spent[stream]:7.1f} ms per request")
            before = cpu(pid)
            failed, degraded, took = await together(client, proxy, streams)
            used = (cpu(pid) - before) / streams * 1000
            print(
                f"{streams} streams at once: {failed} failed, {degraded} without memory, ", end=""
            )
            print(f"{took:.1f} s, {used:.1f} ms CPU each")
            print(f"memory of the proxy: {rss(pid)} MB; embedder: {embedder}")
    return int(failed > 0 or (embedder == "none" and max(spent.values()) > 15.0))


async def compare(requests: int, embedder: str, other: str, *, items: int = 0) -> int:
    """Send the same requests to this proxy and to that of other sources, in turns of ten. This one
    recalls at most so many items."""
    spent = {(mine, stream): 0.0 for mine in (True, False) for stream in (False, True)}
    with tempfile.TemporaryDirectory() as new, tempfile.TemporaryDirectory() as old:
        async with (
            FakeEndpoint(otherwise=REPLY) as endpoint,
            serving(endpoint.url, embedder, new, items=items) as here,
            serving(endpoint.url, embedder, old, sources=other) as there,
            httpx.AsyncClient(timeout=LIMIT) as client,
        ):
            for _, address in (here, there):
                await remember(client, address)
            for first in range(-TURN, requests, TURN):  # the first turn is to warm up
                for stream in (False, True):
                    for mine, (pid, address) in ((True, here), (False, there)):
                        before = cpu(pid)
                        url = f"{address}{PATHS['chat']}"
                        await sequence(client, url, TURN, stream=stream, first=first + TURN)
                        if first >= 0:
                            spent[mine, stream] += cpu(pid) - before
    for stream, kind in ((False, "at once"), (True, "streamed")):
        ours, theirs = (spent[which, stream] / requests * 1000 for which in (True, False))
        print(
            f"CPU of the proxy, {kind}: {ours:.1f} ms per request, other {theirs:.1f} ms, "
            f"ratio {ours / theirs:.2f}"
        )
    return 0


def main() -> None:
    """Parse, measure, exit."""
    parser = argparse.ArgumentParser(description="Measure the proxy's overhead.")
    parser.add_argument("--requests", type=int, default=300)
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--embedder", default="none", help="none, multilingual, …")
    parser.add_argument("--protocol", default="chat", choices=PATHS)
    parser.add_argument("--against", default="", help="sources of another commit to compare with")
    parser.add_argument(
        "--items", type=int, default=0, help="most recalled items of this one, beside --against"
    )
    args = parser.parse_args()
    work = (
        compare(args.requests, args.embedder, args.against, items=args.items)
        if args.against
        else measure(args.requests, args.streams, args.embedder, args.protocol)
    )
    sys.exit(asyncio.run(asyncio.wait_for(work, LIMIT)))


if __name__ == "__main__":
    main()
