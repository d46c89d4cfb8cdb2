"""Measures an endpoint's tokens per second under concurrent requests in the product's own forms.

    python benchmarks/gpu_load.py [--url http://127.0.0.1:8000/v1] [--start MODEL.gguf]
        [--requests 256] [--at-once 256]

Dialogues are generated. A third of the requests are notes about a speaker (a GBNF grammar), a
third memos (a JSON schema), a third replies in free text. `--start` runs `gpu_server.py` first and
stops it afterwards. Every answer is checked against its form; a truncated one is not counted as
wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx

from omoide.domain import Speaker
from omoide.mechanisms.memos import schema
from omoide.mechanisms.summary import grammar
from omoide.prompts import render

PLACES = "Oslo Bergen Kyoto Leeds Hanoi Busan Porto Cork Lima Quito".split()
WORK = "baker nurse carpenter teacher gardener driver translator sailor tailor potter".split()
LIKES = "hiking chess pottery swimming jazz cycling baking astronomy fishing sewing".split()
SAID = (
    "I moved to {place} last spring and I am still unpacking my boxes.",
    "I work as a {work}, mostly in the mornings.",
    "My sister in {place} wants me to visit her in June.",
    "At weekends I am busy with {likes}, when the weather allows it.",
    "I used to be a {work}, but I gave it up because of my back.",
    "We had soup again yesterday, since the oven is broken.",
    "My two cats do not like the new flat at all.",
)


def said(dice: random.Random) -> str:
    """One made-up turn."""
    words = {k: dice.choice(v) for k, v in (("place", PLACES), ("work", WORK), ("likes", LIKES))}
    return " ".join(dice.sample(SAID, 2)).format(**words)


def bodies(count: int) -> list[dict[str, Any]]:
    """Requests of the three kinds, alternating."""
    dice = random.Random(1)  # noqa: S311 - the same every time
    made = []
    for i in range(count):
        turns = [said(dice) for _ in range(16)]
        body: dict[str, Any] = {"model": "any", "temperature": 0.0}
        if i % 3 == 0:
            own = "\n".join(f"- {turn}" for turn in turns[::2])
            filled = {"session": own, "subject": "User", "name": "User", "limit": "10"}
            body |= {"max_tokens": 320, "grammar": grammar(Speaker.USER, language="en")}
            prompt = render("memory_small", "en", **filled)
        elif i % 3 == 1:
            lines = "\n".join(f"{n} User: {turn}" for n, turn in enumerate(turns, 1))
            form = {"name": "answer", "schema": dict(schema(16, 4)), "strict": True}
            body |= {"max_tokens": 400}
            body |= {"response_format": {"type": "json_schema", "json_schema": form}}
            prompt = render("memo_write", "en", limit="4", count="16", lines=lines)
        else:
            body |= {"max_tokens": 120, "frequency_penalty": 0.2}
            body["messages"] = [{"role": "user", "content": " ".join(turns)}]
            made.append(body)
            continue
        body["messages"] = [{"role": m.role, "content": m.content} for m in prompt.messages]
        made.append(body)
    return made


def wrong(body: dict[str, Any], text: str) -> bool:
    """Whether a finished answer violates its form."""
    if "grammar" in body:
        return any(not re.fullmatch(r"User [a-z][^?!:]{3,160}", line) for line in text.split("\n"))
    if "response_format" in body:
        try:
            return not json.loads(text)["memos"]
        except (ValueError, KeyError):
            return True
    return False


async def measure(url: str, count: int, at_once: int) -> None:
    """Send the requests, and print the figures."""
    gate = asyncio.Semaphore(at_once)
    limits = httpx.Limits(max_connections=at_once)
    async with httpx.AsyncClient(timeout=900, limits=limits, trust_env=False) as client:

        async def ask(body: dict[str, Any]) -> dict[str, Any]:
            async with gate:
                reply = await client.post(f"{url}/chat/completions", json=body)
                reply.raise_for_status()
                return dict(reply.json())

        for name in ("cold", "warm"):
            asked = bodies(count)
            began = time.monotonic()
            replies = await asyncio.gather(*map(ask, asked))
            seconds = time.monotonic() - began
            used = [reply["usage"] for reply in replies]
            made = sum(u["completion_tokens"] for u in used)
            read = sum(u["prompt_tokens"] for u in used)
            choices = [reply["choices"][0] for reply in replies]
            cut = sum(c["finish_reason"] == "length" for c in choices)
            bad = sum(
                c["finish_reason"] == "stop" and wrong(body, c["message"]["content"])
                for body, c in zip(asked, choices, strict=True)
            )
            print(
                f"{name}: {count} answers in {seconds:.1f} s; {made / seconds:,.0f} generated and "
                f"{read / seconds:,.0f} prompt tokens a second; {cut} cut, {bad} of wrong form",
                flush=True,
            )


def main() -> None:
    """Measure a running server, or one that is started here."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", default="http://127.0.0.1:8000/v1")
    parser.add_argument("--start", type=Path)
    parser.add_argument("--slots", type=int, default=128)
    parser.add_argument("--requests", type=int, default=256)
    parser.add_argument("--at-once", type=int, default=256)
    args = parser.parse_args()
    server = None
    if args.start:
        script = Path(__file__).with_name("gpu_server.py")
        server = subprocess.Popen(
            [sys.executable, str(script), str(args.start), "--slots", str(args.slots)]
        )
        while True:
            try:
                httpx.get(f"{args.url}/models", trust_env=False)
                break
            except httpx.TransportError:
                if server.poll() is not None:
                    sys.exit("the server exited before it listened")
                time.sleep(0.5)
    try:
        asyncio.run(measure(args.url, args.requests, args.at_once))
        print(httpx.get(f"{args.url.removesuffix('/v1')}/metrics", trust_env=False).text)
    finally:
        if server:
            server.terminate()
            server.wait(20)


if __name__ == "__main__":
    main()
