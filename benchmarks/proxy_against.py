"""The proxy's CPU of two versions of the source, a few requests of each in turn.

    python benchmarks/proxy_against.py ../other/src [--rounds 30] [--each 10]

On a machine that others use too, the same code costs half as much again from one minute to the
next, and `proxy.py` run twice compares two minutes. Here both servers are up at once and take
turns, so what is left is the ratio. What is asked, and of what, is as in `proxy.py`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import proxy

import omoide
from omoide.server.testing import FakeEndpoint


def cpu(pid: int) -> float:
    """Seconds of CPU of a process and its threads, to the nanosecond."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


async def measure(sources: list[str], rounds: int, each: int) -> None:
    """Print what a request costs in both, and the ratio."""
    async with AsyncExitStack() as stack:
        endpoint = await stack.enter_async_context(FakeEndpoint(otherwise=proxy.REPLY))
        client = await stack.enter_async_context(httpx.AsyncClient(timeout=proxy.LIMIT))
        servers = []
        for source in sources:
            os.environ["PYTHONPATH"] = source
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            server = proxy.serving(endpoint.url, "none", folder)
            servers.append(await stack.enter_async_context(server))
            await proxy.remember(client, servers[-1][1])
        spent: dict[tuple[int, bool], list[float]] = {}
        for number in range(-2, rounds):  # the first two load what is late
            for stream in (False, True):
                for which in (0, 1) if number % 2 else (1, 0):
                    pid, address = servers[which]
                    before = cpu(pid)
                    url, first = f"{address}/v1", (number + 3) * 1000
                    await proxy.sequence(client, url, each, stream=stream, first=first)
                    if number >= 0:
                        took = (cpu(pid) - before) / each * 1000
                        spent.setdefault((which, stream), []).append(took)
                    endpoint.requests.clear()
    for stream in (False, True):
        other, this = spent[0, stream], spent[1, stream]
        pairs = sorted(b / a for a, b in zip(other, this, strict=True))
        low, middle, high = statistics.quantiles(pairs, n=4)
        print(
            f"{'streamed' if stream else 'at once':9} other {statistics.median(other):5.1f} ms, "
            f"this {statistics.median(this):5.1f} ms, ratio {sum(this) / sum(other):.2f}; "
            f"of pairs {middle:.2f} ({low:.2f} to {high:.2f})"
        )


def main() -> None:
    """Parse and measure."""
    parser = argparse.ArgumentParser(description="The proxy's CPU of two versions.")
    parser.add_argument("other", help="the other version's src folder")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--each", type=int, default=10)
    args = parser.parse_args()
    here = str(Path(omoide.__file__).parents[1])
    asyncio.run(measure([args.other, here], args.rounds, args.each))


if __name__ == "__main__":
    main()
