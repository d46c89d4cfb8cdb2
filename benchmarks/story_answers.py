"""Runs ten stories of `omoide bench run stories` with answers written by hand. No model calls.

    python benchmarks/story_answers.py --profile small
    python benchmarks/story_answers.py --profile large

What is lost here is lost by omoide's own reading, checks and rules, not by a model. The answers
(story_answers.jsonl) are by the author of the stories: for `small`, the short notes that a small
model is asked for; for `large`, what a careful strong model would answer to the request.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from omoide import bootstrap
from omoide.settings import Settings
from omoide.testing import ScriptedModel
from omoide_bench.methods import parse, registry
from omoide_bench.running.cached_model import MethodModel, SharedModel
from omoide_bench.running.calls import CallCache
from omoide_bench.running.memory_under_test import RunContext
from omoide_bench.statistics import estimate
from omoide_bench.stories.reading import load_all
from omoide_bench.tasks import TASKS
from omoide_bench.tasks.base import Trial

ANSWERS = Path(__file__).with_name("story_answers.jsonl")
MEASURES = ("present", "changed", "dated", "aside", "rotting", "counts")


async def run(story: Any, answers: list[str], profile: str) -> list[Any]:  # noqa: ANN401 - any task's case
    """The scored items of one story."""
    calls = CallCache(None)
    try:
        shared = SharedModel(ScriptedModel(answers, name=profile), calls, concurrency=1)
        context = RunContext(
            shared_model=shared,
            open_store=bootstrap.temporary_store,
            embedder=None,
            settings=replace(Settings(), profile=profile),
        )
        method = parse("summary@facts", registry())
        return await TASKS["stories"].run(
            story, Trial(lab=context, method=method, model=MethodModel(shared))
        )
    finally:
        calls.close()


async def main() -> None:
    """Print what is wrong in each story, and the shares by language."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", choices=("small", "large"), default="small")
    profile = parser.parse_args().profile
    stories = {story.id: story for story in load_all()}
    items: list[Any] = []
    for row in map(json.loads, ANSWERS.read_text("utf-8").splitlines()):
        answers = [
            one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)
            for one in row[profile]
        ]
        found = await run(stories[row["story"]], answers, profile)
        items += found
        print(f"# {row['story']}\n{found[-1].texts['wrong']}")
    for group in ("all", *dict.fromkeys(item.group for item in items)):
        shares = []
        for measure in MEASURES:
            values = [
                item.scores[measure]
                for item in items
                if measure in item.scores and group in ("all", item.group)
            ]
            got = estimate(values)
            shares.append(
                f"{measure} {100 * got.mean:.0f} [{100 * got.low:.0f}, {100 * got.high:.0f}]"
            )
        print(group, "; ".join(shares))


if __name__ == "__main__":
    asyncio.run(main())
