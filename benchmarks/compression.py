"""What compression leaves: tokens, and the words that answers are made of.

    python benchmarks/compression.py --data ../shared/data --gguf model.gguf

English: LoCoMo's dialogues are cut into stretches of eight turns, each compressed as a memo would
be. An answer word is a content term of a gold answer (categories 1 to 4) that stands in one of the
turns given as evidence; it survives if it still stands in that turn's line. Japanese: tokens left
of RealPersonaChat. Tokens are those of the model in the GGUF file; nothing is asked of a model.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omoide.adapters.analysers import choose
from omoide.adapters.analysers.gguf_tokens import GgufTokens
from omoide.domain import Speaker, Turn
from omoide.language import content_terms
from omoide.memory.memos.compression import FunctionWords, RandomTokens, Whole
from omoide.memory.memos.compression_budget import Budget
from omoide.memory.overlap import rarity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omoide.memory.memos.compression import Compressor

STRETCH = 8
WHEN = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(kw_only=True)
class Tally:
    """What one method left."""

    tokens: int = 0
    whole: int = 0
    words: int = 0
    survived: int = 0
    questions: list[bool] = field(default_factory=list)
    example: str = ""


@dataclass(frozen=True, kw_only=True)
class Dialogue:
    """One user's turns, and which words of which turns answers need."""

    turns: tuple[Turn, ...]
    answers: tuple[dict[str, set[str]], ...]
    """A question each: turn id to the answer words it holds."""


def compressors(tokenizer: GgufTokens) -> list[Compressor]:
    """Every method at every ratio."""
    shares = (0.25, 0.5, 0.75)
    return [
        Whole(),
        *(RandomTokens(share=share, tokenizer=tokenizer) for share in shares),
        *(FunctionWords(share=share, analyser=choose) for share in (*shares, 1.0)),
        *(Budget(share=share, analyser=choose) for share in shares),
    ]


def locomo(folder: Path) -> Iterator[Dialogue]:
    """LoCoMo's ten dialogues; the first speaker is the user."""
    with gzip.open(folder / "locomo" / "locomo10.json.gz", "rt") as file:
        samples: list[dict[str, Any]] = json.load(file)
    for sample in samples:
        talk = sample["conversation"]
        number, turns = 1, list[Turn]()
        while f"session_{number}" in talk:
            turns += [
                _turn(said["dia_id"], number, len(turns), said["text"], "en", user=_is_user)
                for said in talk[f"session_{number}"]
                for _is_user in [said["speaker"] == talk["speaker_a"]]
            ]
            number += 1
        by_id = {turn.id: content_terms(turn.text) for turn in turns}
        answers = []
        for question in sample["qa"]:
            if question["category"] == 5:
                continue
            wanted = content_terms(str(question["answer"]))
            needed = {
                name: wanted & by_id[name]
                for name in question["evidence"]
                if wanted & by_id.get(name, set())
            }
            if needed:
                answers.append(needed)
        yield Dialogue(turns=tuple(turns), answers=tuple(answers))


def real_persona_chat(folder: Path, count: int) -> Iterator[Dialogue]:
    """The first pairs of RealPersonaChat."""
    with gzip.open(folder / "real_persona_chat" / "multi_day_pairs.jsonl.gz", "rt") as file:
        for _, text in zip(range(count), file, strict=False):
            turns: list[Turn] = []
            for number, talk in enumerate(json.loads(text)["dialogues"], start=1):
                first = talk["interlocutors"][0]
                turns += [
                    _turn(
                        f"{number}.{said['utterance_id']}",
                        number,
                        len(turns),
                        said["text"],
                        "ja",
                        user=said["interlocutor_id"] == first,
                    )
                    for said in talk["utterances"]
                    if said["text"].strip()
                ]
            yield Dialogue(turns=tuple(turns), answers=())


def _turn(name: str, session: int, place: int, text: str, language: str, *, user: bool) -> Turn:
    return Turn(
        id=name,
        session=session,
        position=place + 1,
        speaker=Speaker.USER if user else Speaker.ASSISTANT,
        text=text,
        time=WHEN,
        language=language,
    )


def stretches(turns: Sequence[Turn]) -> Iterator[tuple[Turn, ...]]:
    """Up to eight turns of one session at a time."""
    start = 0
    while start < len(turns):
        end = start
        while (
            end < len(turns)
            and end - start < STRETCH
            and turns[end].session == turns[start].session
        ):
            end += 1
        yield tuple(turns[start:end])
        start = end


async def measure(
    dialogues: Sequence[Dialogue], compressor: Compressor, tokenizer: GgufTokens, language: str
) -> Tally:
    """Compress every stretch and count."""
    tally = Tally()
    for dialogue in dialogues:
        weight = rarity(content_terms(turn.text) for turn in dialogue.turns)
        left: dict[str, str] = {}
        for stretch in stretches(dialogue.turns):
            lines = await compressor.shorten(stretch, language=language, weight=weight)
            left |= {turn.id: text for turn, text in zip(stretch, lines, strict=True)}
        for turn in dialogue.turns:
            tally.whole += tokenizer.count(turn.text) + 3
            tally.tokens += tokenizer.count(left[turn.id]) + 3 if left[turn.id] else 0
        for needed in dialogue.answers:
            kept = {name: content_terms(left[name]) for name in needed}
            lost = {(n, w) for n, its in needed.items() for w in its if w not in kept[n]}
            total = sum(len(its) for its in needed.values())
            tally.words += total
            tally.survived += total - len(lost)
            tally.questions.append(not lost)
        shown = dialogue.turns[:3]
        tally.example = tally.example or " / ".join(left[turn.id] for turn in shown)
    return tally


def spread(outcomes: Sequence[bool], rounds: int = 1000) -> float:
    """Half the width of the 95 % interval of the mean, by bootstrap over questions."""
    dice = random.Random(0)  # noqa: S311
    means = sorted(
        sum(dice.choices(outcomes, k=len(outcomes))) / len(outcomes) for _ in range(rounds)
    )
    return (means[int(0.975 * rounds)] - means[int(0.025 * rounds)]) / 2


async def main() -> None:
    """Print both tables."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--data", type=Path, required=True)
    asked.add_argument("--gguf", type=Path, required=True)
    asked.add_argument("--japanese", type=int, default=10, help="pairs of RealPersonaChat")
    given = asked.parse_args()
    tokenizer = GgufTokens(given.gguf)
    english = list(locomo(given.data))
    print("| LoCoMo | tokens left | answer words left | questions with all of theirs (±95 %) |")
    print("|---|---|---|---|")
    for compressor in compressors(tokenizer):
        tally = await measure(english, compressor, tokenizer, "en")
        share = sum(tally.questions) / len(tally.questions)
        print(
            f"| {compressor.name} | {tally.tokens / tally.whole:.1%} "
            f"| {tally.survived / tally.words:.1%} "
            f"| {share:.1%} ±{spread(tally.questions):.1%} |",
            flush=True,
        )
    print(f"\n{tally.words} answer words, {len(tally.questions)} questions\n")
    japanese = list(real_persona_chat(given.data, given.japanese))
    print("| RealPersonaChat | tokens left | the first three turns |")
    print("|---|---|---|")
    for compressor in compressors(tokenizer):
        tally = await measure(japanese, compressor, tokenizer, "ja")
        print(f"| {compressor.name} | {tally.tokens / tally.whole:.1%} | {tally.example} |")


if __name__ == "__main__":
    asyncio.run(main())
