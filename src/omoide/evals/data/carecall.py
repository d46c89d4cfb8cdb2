"""CareCall-memory (Bae et al. 2022): check-in calls to elderly people, with memory by people.

The file is a list of episodes, each a list of two to five sessions; one, made up (the original is
Korean; `carecall-memory_en.json` is looked for as an English translation in the same form):

    [[{"guid": "interactive-7-S1",
       "dialogue": [{"role": "system", "text": "안녕하세요, 안부 전화 드렸습니다."},
                    {"role": "user", "text": "요즘 무릎이 아파요."}],
       "memory": [],
       "summary": ["무릎이 아프심"]},
      {"guid": "interactive-7-S2", "dialogue": [...],
       "memory": ["무릎이 아프심"], "summary": ["무릎이 다 나으심"]}]]

`memory` is what held before the session, `summary` what it told; both are about the user alone.
Sessions are one to two weeks apart by the authors' word: ten days are taken. All dates are made
up. `system` is the assistant.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.evals.data.reading import json_file
from omoide.evals.data.shapes import FIRST_DAY, Dialogue, Session, timed
from omoide.evals.data.source import Source

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.evals.data.reading import Record

SOURCE = Source(
    name="carecall",
    title="CareCall-memory (Bae et al. 2022)",
    licence="as its authors state where they publish it; read it there before use",
    page="https://github.com/naver-ai/carecall-memory",
)
FILES = {
    "ko": ("carecall-memory.json", "carecall-memory-sample.json"),
    "en": ("carecall-memory_en.json",),
}
GAP = timedelta(days=10)
_GUID = re.compile(r"(.+)-S(\d+)")


def load(data: Path | None, language: str = "ko", *, limit: int | None = None) -> list[Dialogue]:
    """The episodes, at most `limit` of them."""
    if language not in FILES:
        raise BadInput(f"CareCall is read in {', '.join(FILES)}, not {language!r}")
    episodes = json_file(SOURCE.find(data, *FILES[language])).each()
    return [_dialogue(episode, language) for episode in episodes[:limit]]


def _dialogue(episode: Record, language: str) -> Dialogue:
    sessions: list[Session] = []
    start, name = FIRST_DAY, ""
    for told in episode.each():
        guid = _GUID.fullmatch(told.of("guid").text)
        if not guid:
            raise told.of("guid").bad("a name such as 'interactive-7-S1'")
        name = guid[1]
        lines = timed(
            [(_role(turn.of("role")), turn.of("text").text) for turn in told.of("dialogue").each()],
            session=int(guid[2]),
            start=start,
        )
        if not lines:
            raise told.of("dialogue").bad("at least one utterance")
        sessions.append(
            Session(
                number=int(guid[2]),
                lines=lines,
                facts=(told.of("summary").texts(), ()),
                memory=told.of("memory").texts(),
            )
        )
        start = lines[-1].time + GAP
    if not sessions:
        raise episode.bad("at least one session")
    return Dialogue(
        id=name,
        language=language,
        speakers=("user", "system"),
        sessions=tuple(sessions),
        dated=False,
    )


def _role(told: Record) -> str:
    if told.text not in ("user", "system"):
        raise told.bad("'user' or 'system'")
    return told.text
