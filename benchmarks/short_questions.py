"""Whether a short question about the asker brings what answers it into a prompt.

    python benchmarks/short_questions.py --data DATA [--profile large] [--embedder none] [--facts]

"Where do I live?" has no word in common with "I moved to Bergen last week." The pairs are in
`short_questions.tsv`, sixteen in each of five languages. Each language has memories of about 5, 30
and 300 turns; the rest of them is other people's talk (DATA: Synthetic-Persona-Chat, DuLeMon,
RealPersonaChat; for Korean and Vietnamese our own talks about the world and stories). Of each
memory there are two, with every second pair told to one and the others to the other, and every
question is asked in both: found is the share of told ones whose turn, or fact, comes into the
prompt, silent the share of the others that bring nothing. (In other people's talk there may be an
answer too, so not all that is brought is wrong.) With `--facts` memory has the fact of each turn
too, but no summary, and beside them a hundred facts of other people (`omoide_bench.unknown`).

With `--friend` the stories of `omoide_bench.friend` are told instead, which are nobody's tuning
data: found is the share of questions for what was told whose answer's words come into the prompt,
silent the share of questions for what was never told, and of small talk, that brings nothing. No
model is asked.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from omoide import Settings, Utterance, bootstrap
from omoide.domain import Fact, FactChanges, Owner, Speaker
from omoide_bench.data import dulemon, real_persona_chat, synthetic_persona_chat
from omoide_bench.friend import reading as friend
from omoide_bench.quiet import talks
from omoide_bench.stories import reading as stories
from omoide_bench.unknown import questions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omoide import Memory
    from omoide.engine import Runtime
    from omoide_bench.data.shapes import Dialogue

PAIRS = Path(__file__).with_suffix(".tsv")
START = datetime(2024, 5, 1, tzinfo=UTC)
LATER = START + timedelta(days=99)
SIZES = (5, 30, 300)


class Pair(NamedTuple):
    """Something that was told, a question that it answers, and the fact that it states."""

    language: str
    topic: str
    told: str
    asked: str
    fact: str

    @property
    def id(self) -> str:
        """The id of its turn."""
        return f"{self.language}-{self.topic}"


@dataclass
class Tally:
    """Counts over the questions of one language and size."""

    told: int = 0
    turn: int = 0
    fact: int = 0
    either: int = 0
    others: int = 0
    silent: int = 0
    items: int = 0
    missed: list[str] = field(default_factory=list)

    def line(self) -> str:
        """The counts in a line."""
        return (
            f"found {self.either}/{self.told} (turn {self.turn}, fact {self.fact}), "
            f"silent {self.silent}/{self.others}, "
            f"items {self.items / max(self.told + self.others, 1):.1f}"
        )


def pairs(file: Path) -> list[Pair]:
    """The pairs of a file."""
    with file.open(encoding="utf-8") as rows:
        return [Pair(**row) for row in csv.DictReader(rows, delimiter="\t")]


def others_talk(data: Path, language: str) -> Iterator[tuple[Speaker, str]]:
    """What other people said, the first of them as the user."""
    dialogues: Sequence[Dialogue] = ()
    match language:
        case "en":
            dialogues = synthetic_persona_chat.load(data / "synthetic_persona_chat", "valid")
        case "zh":
            dialogues = [found.dialogue for found in dulemon.load(data / "dulemon")]
        case "ja":
            dialogues = real_persona_chat.load(data / "real_persona_chat", limit=3)
    for dialogue in dialogues:
        for line in dialogue.lines:
            mine = line.speaker == dialogue.speakers[0]
            yield Speaker.USER if mine else Speaker.ASSISTANT, line.text
    for talk in talks.load():
        if talk.language == language:
            for who, text in talk.lines:
                yield Speaker.USER if who == "U" else Speaker.ASSISTANT, text
    for story in stories.load(language):
        for session in story.sessions:
            for who, text in session.lines:
                yield Speaker.USER if who in ("U", "user") else Speaker.ASSISTANT, text


async def tell(
    memory: Memory,
    runtime: Runtime,
    user: str,
    told: Sequence[Pair],
    talk: Sequence[tuple[Speaker, str]],
    *,
    facts: bool,
) -> None:
    """Record the pairs' turns, spread over other talk in sessions of 20."""
    step = max(len(talk) // max(len(told), 1), 1)
    said: list[Utterance] = []
    left = list(told)
    for number, (speaker, text) in enumerate(talk):
        if number % step == 0 and left:
            pair = left.pop(0)
            said.append(Utterance(speaker=Speaker.USER, text=pair.told, id=pair.id))
        said.append(Utterance(speaker=speaker, text=text))
    said += [Utterance(speaker=Speaker.USER, text=pair.told, id=pair.id) for pair in left]
    for first in range(0, len(said), 20):
        at = START + timedelta(days=first // 20)
        await memory.record(user, said[first : first + 20], session=str(first), at=at)
    if facts:
        added = tuple(
            fact_of(f"f-{pair.id}", pair.fact, pair.language, (pair.id,)) for pair in told
        )
        owner = Owner(tenant=runtime.settings.tenant, user=user)
        await runtime.store.facts.apply(owner, FactChanges(added=(*added, *others_facts(told))))


def others_facts(told: Sequence[Pair]) -> Iterator[Fact]:
    """Facts about other things, in the language of the pairs."""
    language = told[0].language if told else ""
    for question in questions.load():
        if question.language == language:
            texts = (question.fact, *(other for other, _ in question.others))
            for number, text in enumerate(texts):
                if text:
                    yield fact_of(f"o-{question.id}-{number}", text, language)


def fact_of(name: str, text: str, language: str, sources: tuple[str, ...] = ()) -> Fact:
    """A fact about the user that was learned at the start."""
    return Fact(
        id=name,
        about="user",
        text=text,
        said=START,
        learned=START,
        language=language,
        sources=sources,
    )


async def ask(memory: Memory, user: str, told: Sequence[Pair], asked: Sequence[Pair]) -> Tally:
    """Ask all questions and count what comes."""
    tally = Tally()
    for pair in asked:
        context = await memory.context(user, pair.asked, at=LATER)
        shown = context.recalled
        turn = any(c.kind == "turn" and pair.id in c.sources for c in shown)
        fact = any(c.kind == "fact" and pair.id in c.sources for c in shown)
        tally.items += len(shown)
        if pair in told:
            tally.told += 1
            tally.turn += turn
            tally.fact += fact
            tally.either += turn or fact
            if not (turn or fact):
                tally.missed.append(f"{pair.asked}{'' if shown else ' (silent)'}")
        else:
            tally.others += 1
            tally.silent += not shown
    return tally


def added(into: Tally, more: Tally) -> None:
    """Add counts to others."""
    for name, value in vars(more).items():
        setattr(into, name, getattr(into, name) + value)


async def measure(runtime: Runtime, options: argparse.Namespace) -> None:
    """Fill the memories, ask and print."""
    memory = runtime.memory()
    given = pairs(options.pairs)
    tallies: dict[tuple[str, int], Tally] = defaultdict(Tally)
    for language in dict.fromkeys(pair.language for pair in given):
        mine = [pair for pair in given if pair.language == language]
        most = list(islice(others_talk(options.data, language), max(SIZES)))
        for size in SIZES:
            part = 3 if size == 5 else len(mine)
            for first in range(0, len(mine), part):
                asked = mine[first : first + part]
                for half in range(2):
                    told = asked[half::2]
                    user = f"{language}-{size}-{first}-{half}"
                    talk = most[2 * first : 2 * first + size - len(told)]
                    await tell(memory, runtime, user, told, talk, facts=options.facts)
                    await memory.run_jobs()
                    added(tallies[language, size], await ask(memory, user, told, asked))
    for size in SIZES:
        total = Tally()
        for (language, its_size), tally in tallies.items():
            if its_size == size:
                print(f"{size:4} {language}: {tally.line()}")
                if options.missed:
                    print("        missed:", " | ".join(tally.missed))
                added(total, tally)
        print(f"{size:4} all: {total.line()}")


async def befriend(runtime: Runtime, options: argparse.Namespace) -> None:
    """Tell the stories, send the messages of the last day and print what comes."""
    memory, counts = runtime.memory(), Counter[str]()
    for story in friend.load_all():
        added = list[Fact]()
        for number, session in enumerate(story.sessions):
            at = datetime.combine(session.day, time(20), tzinfo=UTC)
            said = [
                Utterance(
                    speaker=Speaker.USER if who == "U" else Speaker.ASSISTANT,
                    text=text,
                    id=f"{story.id}-{number}-{line}",
                )
                for line, (who, text) in enumerate(session.lines)
            ]
            await memory.record(story.id, said, session=str(number), at=at)
        for number, note in enumerate(story.notes):
            turn = f"{story.id}-{note.session}-{note.line}"
            added.append(fact_of(f"{story.id}-n{number}", note.text, story.language, (turn,)))
        if options.facts:
            owner = Owner(tenant=runtime.settings.tenant, user=story.id)
            await runtime.store.facts.apply(owner, FactChanges(added=tuple(added)))
        await memory.run_jobs()
        at = datetime.combine(story.day, time(20), tzinfo=UTC)
        for message in story.messages:
            context = await memory.context(story.id, message.text, at=at)
            shown = "\n".join(c.text for c in context.recalled)
            for group in (message.kind.value, f"{message.kind.value} {story.language}"):
                counts[f"{group}: messages"] += 1
                counts[f"{group}: silent"] += not shown
                if message.wording and message.kind.value in ("ask", "changed"):
                    counts[f"{group}: found"] += message.wording.within(shown)
    for name, count in sorted(counts.items()):
        print(f"{name}: {count}")


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--pairs", type=Path, default=PAIRS)
    parser.add_argument("--embedder", default="multilingual")
    parser.add_argument("--profile", choices=("small", "large"), default="small")
    parser.add_argument("--facts", action="store_true")
    parser.add_argument("--friend", action="store_true")
    parser.add_argument("--missed", action="store_true", help="name the questions that missed")
    options = parser.parse_args()
    settings = Settings(
        db=Path(":memory:"),
        mechanisms=("search",),
        embedder=options.embedder,
        model="none",
        profile=options.profile,
    )
    async with await bootstrap.open_runtime(settings) as runtime:
        await (befriend if options.friend else measure)(runtime, options)


if __name__ == "__main__":
    asyncio.run(main())
