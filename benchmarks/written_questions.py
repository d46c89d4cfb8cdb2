"""Whole recall on the written questions whose talks no map for questions was taught with.

    python benchmarks/written_questions.py DATA [--plain] [--language ja …]

Talks of one language and source are told to one user, a session a day, until there are 150 turns.
Printed is the share of the turns that answer a question among the first 5, 10 and 20 recalled, by
language and by style, with 95 % intervals. `--plain`: recall as it is for an embedder without a
map, with the weights that were learnt so.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import defaultdict
from dataclasses import replace
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from omoide import Settings, Utterance, bootstrap
from omoide.domain import Speaker
from omoide.errors import BadInput
from omoide_bench.data.shapes import FIRST_DAY
from omoide_bench.evidence import recall_at
from omoide_bench.statistics import estimate
from omoide_tune import written
from omoide_tune.retrieval import conversations, shapes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide import Memory
    from omoide.ports import Embedder
    from omoide_tune.retrieval.shapes import Conversation
    from omoide_tune.written import WrittenQuestion

CUTS = (5, 10, 20)
READ = ("en", "zh", "ja", "ko")
"""The languages that the embedder reads: Vietnamese is searched by words."""
LATER = FIRST_DAY.replace(year=FIRST_DAY.year + 5)


class Plain:
    """The default embedder under another name: without its map, with the weights of any other."""

    def __init__(self, embedder: Embedder) -> None:
        self.space = replace(embedder.space, name="without a map")
        self.embed, self.close = embedder.embed, embedder.close


def held_out(asked: Sequence[WrittenQuestion], data: Path) -> list[Conversation]:
    """The talks that are not taught with, as far as the questions' authors read them."""
    named = defaultdict[str, set[str]](set)
    for question in asked:
        named[question.conversation].update(question.turns)
    found = []
    for one in conversations.read(data, names={question.source for question in asked}):
        places = [i for i, turn in enumerate(one.turns) if turn.id in named[one.name]]
        if one.held_out and places:
            found.append(replace(one, turns=one.turns[places[0] : places[-1] + 1]))
    return found


async def tell(memory: Memory, user: str, talks: Sequence[Conversation]) -> None:
    """Record the talks, a session a day."""
    day = FIRST_DAY
    for talk in talks:
        for number, turns in groupby(talk.turns, key=lambda turn: turn.id.partition(".")[0]):
            said = [
                Utterance(
                    speaker=Speaker.USER if turn.speaker == "user" else Speaker.ASSISTANT,
                    text=turn.text,
                    id=f"{talk.name} {turn.id}",
                    time=day + timedelta(minutes=place),
                )
                for place, turn in enumerate(turns)
            ]
            await memory.record(user, said, session=f"{talk.name} {number}")
            day += timedelta(days=1)
    await memory.run_jobs()


async def main() -> None:
    """Tell, ask and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--language", action="append", choices=READ)
    given = parser.parse_args()
    asked = [q for language in given.language or READ for q in written.questions(language)]
    settings = Settings(db=Path(":memory:"), mechanisms=("search",), model="none")
    made = bootstrap.make_embedder(settings)
    if made is None:
        raise BadInput("there is no embedder: set OMOIDE_EMBEDDER to multilingual")
    embedder = Plain(made) if given.plain else made
    found = defaultdict[str, list[list[float]]](list)
    async with await bootstrap.open_runtime(settings, embedder=embedder) as runtime:
        memory = runtime.memory()
        for number, pool in enumerate(shapes.pools(held_out(asked, given.data))):
            user, names = f"pool {number}", {talk.name for talk in pool}
            await tell(memory, user, pool)
            for question in asked:
                if question.conversation not in names:
                    continue
                gold = frozenset(f"{question.conversation} {turn}" for turn in question.turns)
                items = await memory.recall(
                    user,
                    question.text,
                    k=CUTS[-1],
                    kinds=("turn",),
                    at=FIRST_DAY.replace(year=2030),
                )
                best = [item.sources[0] for item in items]
                shares = [recall_at(best, gold, k) for k in CUTS]
                for group in (pool[0].language, question.style, "all"):
                    found[group].append(shares)
    await embedder.close()
    for group, rows in sorted(found.items(), key=lambda item: item[0] not in READ):
        means = (estimate(column) for column in zip(*rows, strict=True))
        shown = [f"{100 * m.mean:.1f} [{100 * m.low:.1f}, {100 * m.high:.1f}]" for m in means]
        print(f"{group:10}{len(rows):5}  {'  '.join(shown)}", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
