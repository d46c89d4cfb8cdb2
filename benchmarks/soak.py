"""A soak test of the server: many clients, for a while, with all the failures of real life.

    python benchmarks/soak.py [--seconds 120] [--clients 24] [--seed 7]

Clients chat with and without streaming, disconnect in the middle, search, and end sessions; the
upstream sometimes answers 500 or breaks off. In the end every line that the server reported as
remembered must be stored exactly once, no request may have failed unexpectedly, and memory must
not grow without bound. The exit code says whether that held. Linux only (/proc).
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx
from proxy import CHAT, REPLY, body, cpu, rss, serving, words

from omoide.testing import FakeEndpoint, Scripted

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

LATE = 60.0
"""Timeout of one request, in seconds."""
GROWTH = 1.5
"""Maximum growth of the server's memory from a third of the time to the end, as a factor."""
BROKEN = (
    Scripted(status=500, blocks=(b'{"error": {"message": "overloaded"}}',)),
    Scripted(media_type="text/event-stream", blocks=(b"data: {",), cut=True),
)


@dataclass
class Soak:
    """What the clients did, and what the server answered."""

    client: httpx.AsyncClient
    url: str
    endpoint: FakeEndpoint
    dice: random.Random
    until: float
    done: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    remembered: dict[str, set[str]] = field(default_factory=dict)
    """By user, the messages whose request was answered with "remembered"."""
    number: int = 0

    async def live(self, user: str) -> None:
        """One client, until the time is up."""
        acts: list[tuple[Callable[[str], Awaitable[None]], int]] = [
            (self.streamed, 55),
            (self.whole, 20),
            (self.hang_up, 10),
            (self.search, 10),
            (self.end, 5),
        ]
        while time.monotonic() < self.until:
            (act,) = self.dice.choices([a for a, _ in acts], [w for _, w in acts])
            try:
                async with asyncio.timeout(LATE):
                    await act(user)
            except (TimeoutError, httpx.HTTPError) as error:
                self.wrong.append(f"{act.__name__}: {type(error).__name__} {error}")
            self.done[act.__name__] += 1

    def asked(self, *, user: str, stream: bool) -> tuple[str, dict[str, object]]:
        """A new message, and its request."""
        self.number += 1
        sent = body(self.number, user=user, stream=stream)
        text = f"Line {self.number}. {words(self.number)}"
        sent["messages"][-1]["content"] = text
        if self.dice.random() < 0.1:
            self.endpoint.answers.append(self.dice.choice(BROKEN))
        return text, sent

    def note(self, user: str, text: str, response: httpx.Response) -> None:
        """Record what the server says about a request."""
        self.done[f"status {response.status_code}"] += 1
        if response.headers.get("x-omoide-status") == "ok":
            self.remembered.setdefault(user, set()).add(text)
        elif response.status_code < 500:
            self.wrong.append(f"status {response.status_code}, {dict(response.headers)}")

    async def streamed(self, user: str) -> None:
        """A streamed chat, read to its end."""
        text, sent = self.asked(user=user, stream=True)
        response = await self.client.post(f"{self.url}/v1{CHAT}", json=sent)
        self.note(user, text, response)

    async def whole(self, user: str) -> None:
        """A chat without streaming."""
        text, sent = self.asked(user=user, stream=False)
        self.note(user, text, await self.client.post(f"{self.url}/v1{CHAT}", json=sent))

    async def hang_up(self, user: str) -> None:
        """Disconnect after the first piece."""
        text, sent = self.asked(user=user, stream=True)
        async with self.client.stream("POST", f"{self.url}/v1{CHAT}", json=sent) as response:
            self.note(user, text, response)
            async for _ in response.aiter_bytes():
                break

    async def search(self, user: str) -> None:
        """Recall over REST."""
        sent = {"query": words(self.dice.randrange(1000)), "k": 5}
        response = await self.client.post(f"{self.url}/api/recall?user={user}", json=sent)
        if response.status_code != 200:
            self.wrong.append(f"recall {response.status_code} {response.text[:80]}")

    async def end(self, user: str) -> None:
        """End the session, so that it is digested."""
        response = await self.client.post(f"{self.url}/api/sessions/end?user={user}", json={})
        if response.status_code >= 400:
            self.wrong.append(f"end {response.status_code} {response.text[:80]}")

    async def check(self) -> tuple[int, int]:
        """How many remembered lines are missing, and how many are there twice."""
        lost = doubled = 0
        for user, texts in self.remembered.items():
            stored: Counter[str] = Counter()
            after: str | None = None
            while True:
                params = {"user": user, "limit": "1000"} | ({"cursor": after} if after else {})
                page = (await self.client.get(f"{self.url}/api/turns", params=params)).json()
                stored.update(t["text"] for t in page["items"] if t["speaker"] == "user")
                after = page.get("next")
                if not after:
                    break
            lost += sum(stored[text] == 0 for text in texts)
            doubled += sum(stored[text] > 1 for text in texts)
        return lost, doubled


async def soak(seconds: float, clients: int, seed: int) -> int:
    """Run the soak test; returns the exit code."""
    limits = httpx.Limits(max_connections=None)
    with tempfile.TemporaryDirectory() as folder:
        async with (
            FakeEndpoint(otherwise=REPLY) as endpoint,
            serving(endpoint.url, "none", folder) as (pid, url),
            httpx.AsyncClient(timeout=LATE, limits=limits) as client,
        ):
            began = time.monotonic()
            run = Soak(client, url, endpoint, random.Random(seed), began + seconds)  # noqa: S311 - not a secret
            everyone = asyncio.gather(*(run.live(f"user-{i}") for i in range(clients)))
            sizes = []
            while not everyone.done():
                await asyncio.wait([everyone], timeout=max(1.0, seconds / 24))
                sizes.append(rss(pid))
                print(f"{time.monotonic() - began:5.0f} s  {sizes[-1]} MB", file=sys.stderr)
            await everyone
            lost, doubled = await run.check()
            exchanges = sum(map(len, run.remembered.values()))
            third = sizes[len(sizes) // 3]
            print(f"{clients} clients, {time.monotonic() - began:.0f} s: {dict(run.done)}")
            print(f"remembered lines {exchanges}, lost {lost}, doubled {doubled}")
            print(f"memory {third} MB after a third, {sizes[-1]} MB in the end; ", end="")
            print(f"{cpu(pid):.1f} s of CPU; went wrong: {len(run.wrong)}")
            for text in run.wrong[:5]:
                print(f"  {text}")
    return int(bool(lost or doubled or run.wrong or sizes[-1] > third * GROWTH))


def main() -> None:
    """Parse, soak, exit."""
    parser = argparse.ArgumentParser(description="A soak test of the server.")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--clients", type=int, default=24)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    sys.exit(asyncio.run(soak(args.seconds, args.clients, args.seed)))


if __name__ == "__main__":
    main()
