"""CareCall-memory (Bae et al. 2022): check-in calls to elderly people, with annotated memory.

The file is a list of episodes, each a list of two to five sessions. The original is Korean;
`carecall-memory_en.json` is an English translation in the same format, if present. An invented
example:

    [[{"guid": "interactive-7-S1",
       "dialogue": [{"role": "system", "text": "안녕하세요, 안부 전화 드렸습니다."},
                    {"role": "user", "text": "요즘 무릎이 아파요."}],
       "memory": [],
       "summary": ["무릎이 아프심"]},
      {"guid": "interactive-7-S2", "dialogue": [...],
       "memory": ["무릎이 아프심"], "summary": ["무릎이 다 나으심"]}]]

`memory` is what was true before the session, `summary` what the session added; both are about the
user only.
According to the authors, sessions are one to two weeks apart: we use ten days. All dates are
invented. `system` is the assistant.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide_bench.data.reading import json_file
from omoide_bench.data.shapes import FIRST_DAY, DatasetSession, Dialogue, timed
from omoide_bench.data.source import DatasetSource

if TYPE_CHECKING:
    from pathlib import Path

    from omoide_bench.data.reading import JsonRecord

SOURCE = DatasetSource(
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
        raise BadInput(f"CareCall has no language {language!r}; it has {', '.join(FILES)}")
    episodes = json_file(SOURCE.find(data, *FILES[language])).each()
    return [_dialogue(episode, language) for episode in episodes[:limit]]


def _dialogue(episode: JsonRecord, language: str) -> Dialogue:
    sessions: list[DatasetSession] = []
    start, name = FIRST_DAY, ""
    for raw in episode.each():
        guid = _GUID.fullmatch(raw.of("guid").text)
        if not guid:
            raise raw.of("guid").bad("a name such as 'interactive-7-S1'")
        name = guid[1]
        lines = timed(
            [(_role(turn.of("role")), turn.of("text").text) for turn in raw.of("dialogue").each()],
            session=int(guid[2]),
            start=start,
        )
        if not lines:
            raise raw.of("dialogue").bad("at least one utterance")
        sessions.append(
            DatasetSession(
                number=int(guid[2]),
                lines=lines,
                facts=(raw.of("summary").texts(), ()),
                memory=raw.of("memory").texts(),
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


def _role(record: JsonRecord) -> str:
    if record.text not in ("user", "system"):
        raise record.bad("'user' or 'system'")
    return record.text
