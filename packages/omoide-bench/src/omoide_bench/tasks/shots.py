"""Worked examples for paper A's prompt (its Table 7): n dialogues of the valid part, each with the
memory that the method itself wrote of its earlier sessions, the last session up to one of its
replies, and that reply."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.mechanisms import FewShotForm, PromptPlace, WorkedExample
from omoide.prompts import vocabulary
from omoide_bench.concurrency import gather_all
from omoide_bench.data import msc
from omoide_bench.tasks.base import Sample
from omoide_bench.tasks.dialogues import transcript_lines, utterances

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide_bench.data.shapes import DatasetLine, Dialogue
    from omoide_bench.tasks.base import Trial

SHOTS = "shots"
"""The option that says how many."""


async def few_shot_form(trial: Trial) -> FewShotForm | None:
    """The paper's prompt with as many examples as the option says; None for none. The same seed
    draws the same examples for every case, so their memories are written once."""
    count = int(trial.option(SHOTS, "0"))
    if not count:
        return None
    if trial.lab.data is None:
        raise BadInput(f"{SHOTS}={count} draws examples from the valid part: give --data")
    drawn = Sample(limit=count, seed=trial.seed).draw(msc.load(trial.lab.data, "valid"))
    if len(drawn) < count:
        raise BadInput(f"{SHOTS}={count}: the valid part has only {len(drawn)} dialogues")
    examples = await gather_all(_example(dialogue, trial) for dialogue in drawn)
    return FewShotForm(k=count, given=tuple(examples))


async def _example(dialogue: Dialogue, trial: Trial) -> WorkedExample:
    """One dialogue as an example, with the memory that the method writes of it."""
    *earlier, last = dialogue.sessions
    at = _reply_position(dialogue, last.lines, seed=trial.seed)
    name = f"example {dialogue.id}"
    async with trial.new_memory(user=name, began=earlier[0].start) as memory:
        await memory.replay([utterances(session, dialogue) for session in earlier])
        recalled = await memory.recall_for(last.lines[at - 1].text, at=last.start)
    known = [one.text for one in recalled if one.place is PromptPlace.MEMORY]
    return WorkedExample(
        memory="\n".join(known) or vocabulary(dialogue.language)["none"],
        dialogue="\n".join(transcript_lines(last.lines[:at], dialogue)),
        reply=last.lines[at].text,
    )


def _reply_position(dialogue: Dialogue, lines: Sequence[DatasetLine], *, seed: int) -> int:
    """Where an assistant's reply to the user stands among the lines, drawn by the seed."""
    user = dialogue.speakers[0]
    replies = [
        i
        for i in range(1, len(lines))
        if lines[i].speaker != user and lines[i - 1].speaker == user and lines[i].text.strip()
    ]
    if not replies:
        raise BadInput(f"the last session of {dialogue.id} has no reply to show as an example")
    return random.Random(f"{seed}:{dialogue.id}").choice(replies)  # noqa: S311 - not a secret
