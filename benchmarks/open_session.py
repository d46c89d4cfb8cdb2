"""Whether the embedded model answers from what was told minutes ago, in the session that is open.

    python benchmarks/open_session.py [--kind changed] [--language ja] [--unseen | --mentioned]
                                      [--kept | --digested]

Fifteen items in each of five languages (`open_session.tsv`): something is told, one other thing is
said, and then the user asks for what was told. Before `told` there is no memory at all; before
`changed` it holds one fact, from three months ago, that is not true any more; before `planned` one
that still is, since what is told is yet to come. Only the last reply is the model's. `--kept` asks
for what memory holds after something else was told; `--digested` asks in the next session, when the
notes of this one are written. `--unseen` takes others by authors who knew nothing of the code:
sixteen a language (`open_session_unseen.tsv`), and six of the kind `planned`
(`open_session_planned.tsv`). `--mentioned` takes twelve more a language of such an author: in half
of them what changed is told in other words than the question's, and in the others (the kind
`mentioned`) the session speaks of what the note is about without changing it
(`open_session_mentioned.tsv`).
Right: it has the wording that a good reply has, and for `changed` not the old one. Denied: it says
that it was not told (`omoide_bench.unknown.admitting`).
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from omoide import Memory, Settings, Utterance, bootstrap
from omoide.domain import Fact, FactChanges, Origin, Owner, Sentence, Speaker, Summary
from omoide_bench.unknown.admitting import admits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.engine import Runtime

ITEMS = Path(__file__).with_suffix(".tsv")
MENTIONED = [ITEMS.with_stem("open_session_mentioned")]
UNSEEN = [ITEMS.with_stem(f"open_session_{name}") for name in ("unseen", "planned")]
NOW = datetime(2026, 8, 20, 19, tzinfo=UTC)
BEFORE = NOW - timedelta(days=92)


class Item(NamedTuple):
    """What is told and asked, and what a right reply has and lacks."""

    language: str
    kind: str
    before: str
    told: str
    reply: str
    talk: str
    answer: str
    asked: str
    has: str
    lacks: str

    def right(self, reply: str) -> bool:
        """Whether a reply has a wording that it should have, and none that it should not."""
        said = reply.casefold().replace("’", "'")
        wanted, unwanted = (
            [word.casefold() for word in words.split("|") if word]
            for words in (self.has, self.lacks)
        )
        return any(w in said for w in wanted) and not any(w in said for w in unwanted)


def items(paths: Sequence[Path]) -> list[Item]:
    """Our own items, or those of others."""
    found = []
    for path in paths:
        with path.open(encoding="utf-8") as rows:
            found += [Item(**row) for row in csv.DictReader(rows, delimiter="\t")]
    return found


def kept(given: Sequence[Item]) -> list[Item]:
    """What memory holds and the session does not change: before each question for it the user
    tells something else, and the old answer is right."""
    told = [item for item in given if item.kind == "told"]
    changed = [item for item in given if item.kind == "changed"]
    others = [
        next(t for t in told[3 * n :] + told if t.language == item.language)
        for n, item in enumerate(changed)
    ]
    return [
        item._replace(kind="kept", told=other.told, has=item.lacks, lacks="")
        for item, other in zip(changed, others, strict=True)
    ]


async def replied(
    memory: Memory, runtime: Runtime, user: str, item: Item, *, digested: bool = False
) -> str:
    """The model's reply to the question."""
    if item.before:
        said = [Utterance(speaker=Speaker.USER, text=item.before, time=BEFORE)]
        [turn] = await memory.record(user, said, session="before", at=BEFORE)
        owner = Owner(tenant=runtime.settings.tenant, user=user)
        fact = Fact(
            id=f"{user}-f",
            about="user",
            text=item.before,
            said=BEFORE,
            learned=BEFORE,
            language=item.language,
            sources=(turn.id,),
        )
        await runtime.store.facts.apply(owner, FactChanges(added=(fact,)))
        await memory.end_session(user, at=BEFORE)
        sentence = Sentence(text=item.before, about=Speaker.USER, sources=(turn.id,))
        summary = Summary(
            number=1,
            sentences=(sentence,),
            origin=Origin.DIGEST,
            session=turn.session,
            time=BEFORE,
            language=item.language,
        )
        await runtime.store.summaries.commit(owner, summary)
    lines = ((0, item.told), (1, item.reply), (2, item.talk), (3, item.answer))
    said = [
        Utterance(
            speaker=Speaker.ASSISTANT if minute % 2 else Speaker.USER,
            text=text,
            time=NOW + timedelta(minutes=minute),
        )
        for minute, text in lines
    ]
    await memory.record(user, said, session="now", at=NOW)
    asked = NOW + timedelta(minutes=4)
    if digested:
        await memory.end_session(user, at=asked)
    await memory.run_jobs()  # as the worker does while the user types
    session = "next" if digested else "now"
    answer = await memory.reply(user, item.asked, session=session, at=asked)
    return "".join([piece async for piece in answer]).strip()


async def main() -> None:
    """Ask all, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--language", action="append")
    others = parser.add_mutually_exclusive_group()
    others.add_argument("--unseen", dest="paths", action="store_const", const=UNSEEN)
    others.add_argument("--mentioned", dest="paths", action="store_const", const=MENTIONED)
    parser.add_argument("--kept", action="store_true", help="what the session does not change")
    parser.add_argument("--digested", action="store_true", help="once the session has ended")
    parser.add_argument("--kind", choices=("told", "changed", "planned", "mentioned"))
    parser.add_argument("--model", default="default")
    parser.add_argument("--out", type=Path)
    parser.set_defaults(paths=[ITEMS])
    options = parser.parse_args()
    if options.kept and options.paths is MENTIONED:
        parser.error("--kept needs items of the kind `told`: leave out --mentioned")
    given = items(options.paths)
    chosen = [
        item
        for item in (kept(given) if options.kept else given)
        if (not options.language or item.language in options.language)
        and options.kind in (None, item.kind)
    ]
    settings = Settings(db=Path(":memory:"), model=options.model, timezone="UTC")
    counts, rows = Counter[str](), []
    async with await bootstrap.open_runtime(settings) as runtime:
        memory = runtime.memory()
        for number, item in enumerate(chosen):
            user = f"user-{number}"
            reply = await replied(memory, runtime, user, item, digested=options.digested)
            right, denied = item.right(reply), admits(reply, item.language)
            rows.append({**item._asdict(), "said": reply, "right": right, "denied": denied})
            for group in (item.kind, f"{item.kind} {item.language}"):
                counts[f"{group}: asked"] += 1
                counts[f"{group}: right"] += right
                counts[f"{group}: denied"] += denied
            print("right " if right else "DENIED" if denied else "wrong ", item.asked, "→", reply)
    for name, count in sorted(counts.items()):
        print(f"{name}: {count}")
    if options.out:
        text = json.dumps(rows, ensure_ascii=False, indent=1)
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
