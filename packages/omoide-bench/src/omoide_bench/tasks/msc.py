"""Multi-Session Chat with the protocol of paper A.

Earlier sessions are replayed. Then the method replies at each gold reply of session 4 or 5, while
the dialogue continues as in the data set. Memory is scored against the annotated facts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.domain import CallPurpose, Speaker
from omoide.errors import BadInput
from omoide_bench.concurrency import Started
from omoide_bench.data import msc
from omoide_bench.running.items import ScoredItem, failed
from omoide_bench.tasks import judging, scoring
from omoide_bench.tasks.dialogues import (
    gold_facts,
    remembered,
    transcript_lines,
    utterance,
    utterances,
)
from omoide_bench.tasks.memory_parts import WRITTEN, written_scores
from omoide_bench.tasks.shots import SHOTS, few_shot_form
from omoide_bench.tasks.survival import TextSet, words_brought_back

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide import Context
    from omoide.mechanisms import ReplyForm
    from omoide_bench.data.shapes import DatasetLine, DatasetSession, Dialogue
    from omoide_bench.judges import ReplyCase
    from omoide_bench.running.memory_under_test import MemoryUnderTest
    from omoide_bench.tasks.base import Sample, Trial


class Msc:
    """Replies and memories of MSC."""

    name = "msc"
    about = "replies at sessions 4 and 5, and memory against annotated facts (paper A)"
    source = msc.SOURCE
    default_methods: tuple[str, ...] = ("summary", "search", "summary+search", "gold")
    alternatives: tuple[str, ...] = ()
    measures = (*scoring.REPLY, *judging.CRITERIA, *scoring.MEMORY, *WRITTEN, *scoring.WHOLE)
    criteria = judging.NAMES
    options: Mapping[str, str] = {
        "sessions": "sessions with replies to score, such as 5 or 4,5 (default 4,5)",
        "memory": "yes (default), no, or only: score the memory before these sessions",
        "audit": "yes or no (default): check every remembered sentence against the dialogue",
        "split": "test (default) or valid",
        "parts": "yes or no (default): score summary, events, memos and their cost separately",
        SHOTS: "worked examples of the valid part before each case (default 0; Table 7)",
    }

    def cases(self, data: Path, sample: Sample) -> tuple[Dialogue, ...]:
        """Dialogues that have the wanted sessions."""
        dialogues = msc.load(data, sample.option("split", "test"))
        wanted = wanted_sessions(sample.option("sessions", "4,5"))
        if sample.option("memory", "yes") == "only":
            have = [d for d in dialogues if len(d.sessions) >= max(wanted) - 1]
        else:
            have = [d for d in dialogues if {s.number for s in d.sessions} & set(wanted)]
        return sample.draw(have)

    async def run(self, case: Dialogue, trial: Trial) -> list[ScoredItem]:
        """Replay the sessions; at a wanted one, score the memory, then the replies."""
        return await dialogue_items(
            case,
            trial,
            wanted=wanted_sessions(trial.option("sessions", "4,5")),
            memory=trial.option("memory", "yes"),
        )

    def known_replies(self, items: Sequence[ScoredItem]) -> list[ReplyCase]:
        """The gold replies, to calibrate a judge on."""
        return judging.shown_before(items)

    def whole(self, items: Sequence[ScoredItem]) -> Mapping[str, Mapping[str, float]]:
        """BLEU and distinct n-grams over all replies of a session."""
        return scoring.whole_replies(items)


async def dialogue_items(
    dialogue: Dialogue, trial: Trial, *, wanted: Sequence[int], memory: str, group: str = ""
) -> list[ScoredItem]:
    """The items of one dialogue with paper A's protocol, for any data set with sessions. Replies
    are grouped by session unless `group` is given."""
    gold: dict[str, list[str]] = {dialogue.id: []}
    items: list[ScoredItem] = []
    last, audit = max(wanted), trial.option("audit", "no") == "yes"
    apart = trial.option("parts", "no") == "yes"
    began = dialogue.sessions[0].start
    form = await few_shot_form(trial)
    async with (
        trial.new_memory(user=dialogue.id, began=began, gold=gold) as under_test,
        Started[ScoredItem]() as replies,
    ):
        await trial.prefetch_embeddings(line.text for line in dialogue.lines)
        for session in dialogue.sessions:
            if session.number > last or (memory == "only" and session.number >= last):
                break
            gold[dialogue.id][:] = gold_facts(dialogue, until=session.number - 1)
            if session.number in wanted:
                if memory != "no":
                    before = session.number
                    items += await _memory(
                        dialogue, under_test, before=before, audit=audit, apart=apart
                    )
                if memory != "only":
                    called = group or f"session {session.number}"
                    known = gold_facts(dialogue, until=session.number - 1)
                    for due in await _due_replies(dialogue, session, under_test, form):
                        replies.start(
                            _reply(due, dialogue, under_test, trial, group=called, known=known)
                        )
                    if session.number < last:
                        await under_test.end_session()
                    continue
            await under_test.replay([utterances(session, dialogue)])
        if memory == "only":
            items += await _memory(dialogue, under_test, before=last, audit=audit, apart=apart)
    return [*items, *replies.results()]


async def _memory(
    dialogue: Dialogue, under_test: MemoryUnderTest, *, before: int, audit: bool, apart: bool
) -> list[ScoredItem]:
    """The memory before a session, scored against the facts annotated until then."""
    facts = [fact for side in dialogue.facts(before - 1) for fact in side]
    sentences = await remembered(under_test)
    name, group = f"{dialogue.id}/memory/{before}", f"memory before session {before}"
    digested = await _digested(under_test, before - 1)
    if apart:
        digested |= await written_scores(under_test, dialogue, before=before)
    if not sentences and under_test.failed:
        measures = tuple(m.name for m in scoring.MEMORY if m.name not in digested)
        why = "the model gave no usable memory of any session"
        unscored = failed(name, cluster=dialogue.id, group=group, measures=measures, why=why)
        return [replace(unscored, scores=digested)]
    if not facts or not sentences:
        return []
    audited = scoring.audit_scores(sentences, dialogue, until=before - 1) if audit else {}
    return [
        ScoredItem(
            id=name,
            cluster=dialogue.id,
            group=group,
            scores=scoring.memory_scores(sentences, facts, language=dialogue.language)
            | audited
            | digested,
            texts={"memory": "\n".join(sentences), "gold": "\n".join(facts)},
        )
    ]


async def _digested(under_test: MemoryUnderTest, sessions: int) -> dict[str, float]:
    """Shares of sessions digested at first try and in the end; nothing if no model was called."""
    calls = await under_test.memory.calls(under_test.user)
    if not any(call.purpose is CallPurpose.DIGEST for call in calls):
        return {}
    refused = {rejected.session for rejected in await under_test.memory.rejected(under_test.user)}
    return {
        "valid": 1 - len(refused) / sessions,
        "usable": 1 - len(under_test.failed) / sessions,
    }


@dataclass(frozen=True, kw_only=True)
class _DueReply:
    """A reply to ask for: its prompt, the real reply, and the session up to it."""

    gold: DatasetLine
    context: Context
    transcript: tuple[str, ...]
    earlier: TextSet
    """What was said in the sessions before."""


async def _due_replies(
    dialogue: Dialogue,
    session: DatasetSession,
    under_test: MemoryUnderTest,
    form: ReplyForm | None = None,
) -> list[_DueReply]:
    """Each reply of the assistant that follows a turn of the user, in this form or the method's.
    The dialogue goes on with the real replies, so all of the method's replies may be asked for at
    the same time."""
    due: list[_DueReply] = []
    earlier = TextSet.of(line.text for line in dialogue.lines if line.session < session.number)
    transcript: list[str] = []
    turn = None
    for line in session.lines:
        if not line.text.strip():
            continue
        spoken = utterance(line, dialogue)
        if spoken.speaker is Speaker.ASSISTANT and turn is not None:
            context = await under_test.context_of(turn)
            context = replace(context, form=form) if form else context
            due.append(
                _DueReply(gold=line, context=context, transcript=tuple(transcript), earlier=earlier)
            )
        (recorded,) = await under_test.say([spoken], session=f"session {session.number}")
        user = spoken.speaker is Speaker.USER
        transcript += transcript_lines([line], dialogue)
        turn = recorded if user else None
    return due


async def _reply(
    due: _DueReply,
    dialogue: Dialogue,
    under_test: MemoryUnderTest,
    trial: Trial,
    *,
    group: str,
    known: Sequence[str],
) -> ScoredItem:
    """The scored item of one reply."""
    line = due.gold
    answer = await under_test.answer(due.context)
    memory_scores = {scoring.SPOKE.name: float(bool(answer.contributions))}
    brought_back = await words_brought_back(
        line.text,
        [contribution.text for contribution in answer.contributions],
        said=due.earlier,
        seen=TextSet.of(due.transcript),
        language=dialogue.language,
        analyser=trial.lab.analyser,
    )
    if brought_back is not None:
        memory_scores[scoring.WORDS.name] = brought_back
    marks, unscored = await judging.replies(
        trial,
        known=known,
        dialogue=due.transcript,
        reply=answer.text,
        language=dialogue.language,
    )
    return ScoredItem(
        id=f"{dialogue.id}/{line.id}",
        cluster=dialogue.id,
        group=group,
        scores=marks
        | memory_scores
        | scoring.reply_scores(answer.text, line.text, language=dialogue.language),
        unscored=unscored,
        prompt_tokens=answer.completion.prompt_tokens,
        completion_tokens=answer.completion.completion_tokens,
        texts={
            "known": "\n".join(known),
            "dialogue": "\n".join(due.transcript),
            "reply": answer.text,
            "gold": line.text,
        },
    )


def wanted_sessions(text: str) -> list[int]:
    """The numbers in an option such as `4,5`. Raises `BadInput` for anything else."""
    try:
        return sorted(int(part) for part in text.split(","))
    except ValueError as error:
        raise BadInput(f"sessions must be numbers such as 4,5, got {text!r}") from error
