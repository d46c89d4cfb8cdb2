"""Whether the embedded model notes what will happen on a day that is named in passing.

    python benchmarks/plans.py [--language ja] [--alone] [--model URL#NAME] [--out FILE]

Twelve remarks in each of five languages (`plans.tsv`), all in the simple present and all said on
Thursday, 20 August 2026: eight of them tell what happens once in the week after ("We fly to Lisbon
on Saturday"), four what happens every week. Each is one line of an ordinary talk with an assistant,
which ends and is digested; `--alone` leaves the rest of the talk out.
Noted: a fact has a word that a note of it must have. Dated: that fact holds on the right day, or
from it on. A habit must be noted and have no day. What is printed has every fact that was written.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
from collections import Counter
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from omoide import Settings, Utterance, bootstrap
from omoide.domain import Speaker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide import Fact, Memory

ITEMS = Path(__file__).with_suffix(".tsv")
NOW = datetime(2026, 8, 20, 18, tzinfo=UTC)
AROUND = {
    "en": ("Hi there!", "Hello! How are you?", "What should I cook tonight?", "Pasta, perhaps."),
    "zh": ("你好！", "你好！最近怎么样？", "今晚做什么吃好？", "面条怎么样。"),
    "ja": (
        "こんにちは！",
        "こんにちは！お元気ですか？",
        "今夜は何を作ろうかな？",
        "パスタはどうでしょう。",
    ),
    "ko": ("안녕!", "안녕하세요! 잘 지내셨어요?", "오늘 저녁은 뭐 해 먹을까?", "파스타 어때요."),
    "vi": ("Chào bạn!", "Chào bạn! Bạn khỏe không?", "Tối nay nấu gì nhỉ?", "Mì Ý chẳng hạn."),
}
"""What is said before and after each remark, by the user and the assistant in turn."""


class Item(NamedTuple):
    """A remark, the words of which a note must have one, and the day that it names."""

    language: str
    kind: str
    said: str
    has: str
    day: str

    def session(self, *, alone: bool) -> list[Utterance]:
        """The talk with the remark."""
        user, assistant = Speaker.USER, Speaker.ASSISTANT
        hello, welcome, request, answer = AROUND[self.language]
        lines = [(user, hello), (assistant, welcome), (user, self.said), (assistant, "OK.")]
        lines += [(user, request), (assistant, answer)]
        lines = [(user, self.said)] if alone else lines
        return [Utterance(speaker=speaker, text=text, time=NOW) for speaker, text in lines]

    def noted(self, facts: Sequence[Fact]) -> list[Fact]:
        """The facts that are notes of it."""
        words = self.has.casefold().split("|")
        return [fact for fact in facts if any(word in fact.text.casefold() for word in words)]

    def right(self, facts: Sequence[Fact]) -> bool:
        """Whether its notes have the right day, or none if it is a habit."""
        noted = self.noted(facts)
        if self.kind == "habit":
            return bool(noted) and all(fact.since is fact.until is None for fact in noted)
        return any(fact.since == date.fromisoformat(self.day) for fact in noted)


async def written(memory: Memory, user: str, item: Item, *, alone: bool) -> Sequence[Fact]:
    """The facts that the model writes about the session."""
    await memory.record(user, item.session(alone=alone), at=NOW)
    await memory.end_session(user, at=NOW)
    await memory.run_jobs()
    return await memory.facts(user)


async def main() -> None:
    """Have all sessions digested, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--language", action="append", choices=tuple(AROUND))
    parser.add_argument("--alone", action="store_true", help="the remark is all that is said")
    parser.add_argument("--model", default="default")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with ITEMS.open(encoding="utf-8") as rows:
        given = [Item(**row) for row in csv.DictReader(rows, delimiter="\t")]
    chosen = [item for item in given if item.language in (options.language or AROUND)]
    settings = Settings(db=Path(":memory:"), model=options.model, timezone="UTC", embedder="none")
    counts, results = Counter[str](), []
    async with await bootstrap.open_runtime(settings) as runtime:
        memory = runtime.memory()
        for number, item in enumerate(chosen):
            facts = await written(memory, f"user-{number}", item, alone=options.alone)
            noted, right = bool(item.noted(facts)), item.right(facts)
            texts = [fact.text for fact in facts]
            results.append({**item._asdict(), "facts": texts, "noted": noted, "right": right})
            for group in (item.kind, f"{item.kind} {item.language}"):
                counts[f"{group}: told"] += 1
                counts[f"{group}: noted"] += noted
                counts[f"{group}: {'dated' if item.kind == 'plan' else 'without a day'}"] += right
            print(
                "right" if right else "NOTED" if noted else "-", item.said, "→", texts, flush=True
            )
    for name, count in sorted(counts.items()):
        print(f"{name}: {count}")
    if options.out:
        text = json.dumps(results, ensure_ascii=False, indent=1)
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
