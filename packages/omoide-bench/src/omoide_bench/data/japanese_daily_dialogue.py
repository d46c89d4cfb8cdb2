"""Japanese Daily Dialogue (Akama et al. 2023): everyday conversations on five topics.

`topic1.json` to `topic5.json` (daily life, school, travel, health, entertainment), each a list of
dialogues; an invented example:

    {"topic_id": 3, "topic_name": "Travel", "dialogue_id": 7, "dialogue_length": 2,
     "utterances": [{"turn_num": 1, "speaker": "A", "utterance": "夜行バスは初めてです。"},
                    {"turn_num": 2, "speaker": "B", "utterance": "枕があると楽ですよ。"}]}

There are no dates: they are invented. We take A as the user.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide_bench.data.reading import json_file
from omoide_bench.data.shapes import FIRST_DAY, DatasetSession, Dialogue, timed
from omoide_bench.data.source import DatasetSource

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from omoide_bench.data.reading import JsonRecord

SOURCE = DatasetSource(
    name="japanese_daily_dialogue",
    title="Japanese Daily Dialogue (Akama et al. 2023)",
    licence="CC BY-NC-ND 4.0: not for commercial use, not to be passed on changed",
    page="https://github.com/jqk09a/japanese-daily-dialogue",
)
TOPICS = (1, 2, 3, 4, 5)


def load(data: Path | None, topics: Sequence[int] = TOPICS) -> list[Dialogue]:
    """The dialogues of the topics, in file order."""
    return [
        _dialogue(record)
        for topic in topics
        for record in json_file(SOURCE.find(data, f"topic{topic}.json")).each()
    ]


def _dialogue(record: JsonRecord) -> Dialogue:
    turns = [
        (turn.of("speaker").text, turn.of("utterance").text)
        for turn in record.of("utterances").each()
    ]
    if len(turns) != record.of("dialogue_length").number:
        raise record.of("utterances").bad(f"{record.of('dialogue_length').number} utterances")
    return Dialogue(
        id=f"{record.of('topic_id').number}-{record.of('dialogue_id').number}",
        language="ja",
        speakers=("A", "B"),
        sessions=(DatasetSession(number=1, lines=timed(turns, session=1, start=FIRST_DAY)),),
        topic=record.of("topic_name").text,
        dated=False,
    )
