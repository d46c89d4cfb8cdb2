"""The conversations whose turns are asked about: only sources that may be shipped.

PersonaMem is read from `documents.json.gz`, a list of sessions; one, made up and shortened:

    {"id": "e8_0", "content": "[SYSTEM] …\n\n[USER] User: I bake.\n\n[ASSISTANT] Assistant: Oh."}

MemoryBank and DuLeMon are left out unless they are asked for: they are exams.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from itertools import groupby
from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.errors import BadInput
from omoide.language import LANGUAGES
from omoide_tune.retrieval.shapes import LICENCES, Conversation, Turn
from omoide_tune.sources import SOURCES
from omoide_tune.stories.reading import drills, stories

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from omoide_tune.talk import TrainingTalk

SHIPPED = ("everyday", "stories")
"""Sources that are part of this package: nothing is read from the folder."""
EXAM_PAIRS = 12
"""The first pairs of RealPersonaChat are an exam (`omoide_bench.corpora.real_persona_chat`)."""
_NAMES = {
    "en": "Anna Ben Carla Dan Emma Finn Grace Hugo Iris Jack Kate Leo Maria Nick Olivia Paul Rosa "
    "Sam Tina Victor Wendy Zoe Caroline Melanie Joanna Nate Deborah Jolene".split(),
    "zh": "小雨 志强 晓梅 子涵 建国 思琪 浩然 雅婷".split(),
    "ja": "健太 美咲 陽子 翔太 由美 直樹 彩 大輔".split(),
    "ko": "민수 지영 서연 준호 하은 도윤 수진 현우".split(),
    "vi": "Lan Minh Hương Tuấn Mai Đức Thảo Nam".split(),
}
_MARKED = re.compile(r"\n*\[(USER|ASSISTANT|SYSTEM)\] ")


def read(folder: Path, *, names: Iterable[str] = ()) -> Iterator[Conversation]:
    """The conversations of these sources, or of all that are no exams."""
    wanted = set(names) or set(LICENCES) - {"memorybank", "dulemon"}
    for source in SOURCES:
        if source.name in wanted:
            chains: dict[str, list[TrainingTalk]] = {}
            for talk in source.read(folder):
                chains.setdefault(talk.chain or talk.key, []).append(talk)
            exam = EXAM_PAIRS if source.name == "real_persona_chat" else 0
            for chain in list(chains)[exam:]:
                yield _joined(source.name, chain, chains[chain])
    if "stories" in wanted:
        yield from _stories()
    if "personamem" in wanted:
        yield from _personamem(folder)
    if "memorybank" in wanted:
        yield from _memorybank(folder)


def _joined(source: str, chain: str, talks: list[TrainingTalk]) -> Conversation:
    first = talks[0]
    dice = random.Random(f"{source}/{chain}")  # noqa: S311 - an order, not a secret
    turns = tuple(
        Turn(
            id=f"{number}.{place}",
            speaker="user" if line.speaker is Speaker.USER else "assistant",
            text=line.text,
        )
        for number, talk in enumerate(talks)
        for place, line in enumerate(talk.lines)
        if line.text.strip()
    )
    user, other = dice.sample(_NAMES[first.language], 2)
    return Conversation(
        name=f"{source}/{chain}",
        source=source,
        language=first.language,
        names=(user, other),
        assisted=first.assisted,
        turns=turns,
    )


def _stories() -> Iterator[Conversation]:
    """Our stories and drills. Their lines are counted from the first day to the last."""
    for language in LANGUAGES:
        for story in (*stories(language), *drills(language)):
            said = [(day, line) for day, one in enumerate(story.sessions) for line in one.lines]
            yield Conversation(
                name=f"stories/{story.key}",
                source="stories",
                language=language,
                names=("User", "Assistant"),
                assisted=True,
                turns=tuple(
                    Turn(
                        id=f"{day}.{place}",
                        speaker="user" if speaker is Speaker.USER else "assistant",
                        text=text,
                    )
                    for place, (day, (speaker, text)) in enumerate(said)
                ),
            )


def _personamem(folder: Path) -> Iterator[Conversation]:
    path = folder / "personamem" / "documents.json.gz"
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            documents = json.load(file)
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}); is --data right?") from error

    def user(document: dict[str, str]) -> str:
        return document["id"].rpartition("_")[0]

    for name, sessions in groupby(documents, key=user):
        turns = []
        for number, session in enumerate(sessions):
            _, *marked = _MARKED.split("\n" + session["content"])
            said = zip(marked[::2], marked[1::2], strict=True)
            turns += [
                Turn(
                    id=f"{number}.{place}",
                    speaker=who.lower(),
                    text=re.sub(r"^(?:User|Assistant): ", "", text).strip(),
                )
                for place, (who, text) in enumerate(said)
                if who != "SYSTEM" and text.strip()
            ]
        yield Conversation(
            name=f"personamem/{name}", source="personamem", language="en",
            names=("User", "Assistant"), assisted=True, turns=tuple(turns),
        )  # fmt: skip


def _memorybank(folder: Path) -> Iterator[Conversation]:
    for language, ending in (("en", "en"), ("zh", "cn")):
        path = folder / "memorybank" / f"memory_bank_{ending}.json"
        for name, user in json.loads(path.read_text(encoding="utf-8")).items():
            turns = tuple(
                Turn(id=f"{day}.{number}{side[0]}", speaker=side, text=exchange[key].strip())
                for day, said in enumerate(user["history"].values())
                for number, exchange in enumerate(said)
                for side, key in (("user", "query"), ("assistant", "response"))
                if exchange.get(key, "").strip()
            )
            yield Conversation(
                name=f"memorybank/{language}/{name.strip()}", source="memorybank",
                language=language, names=(name.strip(), "AI"), assisted=True, turns=turns,
            )  # fmt: skip
