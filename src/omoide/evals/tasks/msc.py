"""Multi-Session Chat: the paper A protocol. Earlier sessions are lived through; then each gold
reply of session 4 or 5 is asked for, the dialogue going on as it truly did; and what the memory
holds is scored against what people noted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.domain import Purpose, Speaker
from omoide.errors import BadInput
from omoide.evals.data import msc
from omoide.evals.running.items import Item, failed
from omoide.evals.tasks import judging, scoring
from omoide.evals.tasks.dialogues import gold_facts, remembered, utterance, utterances
from omoide.evals.tasks.survival import Said, brought
from omoide.evals.tasks.written import WRITTEN, written_scores
from omoide.prompts import words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide.evals.data.shapes import Dialogue, Session
    from omoide.evals.judges import Case
    from omoide.evals.running.lab import Place
    from omoide.evals.tasks.base import Sample, Trial


class Msc:
    """Replies and memories of MSC."""

    name = "msc"
    about = "replies at sessions 4 and 5, and memory against what people noted (paper A)"
    source = msc.SOURCE
    usual: tuple[str, ...] = ("summary", "search", "summary+search", "gold")
    rivals: tuple[str, ...] = ()
    measures = (*scoring.REPLY, *judging.CRITERIA, *scoring.MEMORY, *WRITTEN, *scoring.WHOLE)
    criteria = judging.NAMES
    options: Mapping[str, str] = {
        "sessions": "which sessions' replies are asked for, such as 5 or 4,5 (default 4,5)",
        "memory": "yes (default), no, or only: score what the memory holds before these sessions",
        "audit": "yes or no (default): hold every sentence of a memory against what was said",
        "split": "test (default) or valid",
        "parts": "yes or no (default): score summary, events and memos apart, and what they cost",
    }

    def cases(self, data: Path, sample: Sample) -> tuple[Dialogue, ...]:
        """Dialogues that have the sessions whose replies are wanted."""
        dialogues = msc.load(data, sample.option("split", "test"))
        wanted = _sessions(sample.option("sessions", "4,5"))
        if sample.option("memory", "yes") == "only":
            have = [d for d in dialogues if len(d.sessions) >= max(wanted) - 1]
        else:
            have = [d for d in dialogues if {s.number for s in d.sessions} & set(wanted)]
        return sample.draw(have)

    async def run(self, case: Dialogue, trial: Trial) -> list[Item]:
        """Live through the sessions; where one is wanted, first the memory, then its replies."""
        return await dialogue_items(
            case,
            trial,
            wanted=_sessions(trial.option("sessions", "4,5")),
            memory=trial.option("memory", "yes"),
        )

    def known_replies(self, items: Sequence[Item]) -> list[Case]:
        """What was truly replied, to try a judge on."""
        return judging.shown_before(items)

    def whole(self, items: Sequence[Item]) -> Mapping[str, Mapping[str, float]]:
        """BLEU and distinct n-grams of all replies of a session."""
        return scoring.whole_replies(items)


async def dialogue_items(
    dialogue: Dialogue, trial: Trial, *, wanted: Sequence[int], memory: str, group: str = ""
) -> list[Item]:
    """The items of one dialogue in the manner of paper A, for any data set of sessions; replies
    are grouped by session unless a group is named."""
    gold: dict[str, list[str]] = {dialogue.id: []}
    items: list[Item] = []
    last, audit = max(wanted), trial.option("audit", "no") == "yes"
    apart = trial.option("parts", "no") == "yes"
    began = dialogue.sessions[0].start
    async with trial.place(user=dialogue.id, began=began, gold=gold) as place:
        await trial.warm(line.text for line in dialogue.lines)
        for session in dialogue.sessions:
            if session.number > last or (memory == "only" and session.number >= last):
                break
            gold[dialogue.id][:] = gold_facts(dialogue, until=session.number - 1)
            if session.number in wanted:
                if memory != "no":
                    before = session.number
                    items += await _memory(dialogue, place, before=before, audit=audit, apart=apart)
                if memory != "only":
                    called = group or f"session {session.number}"
                    items += await _replies(dialogue, session, place, trial, group=called)
                    if session.number < last:
                        await place.end_session()
                    continue
            await place.live_through([utterances(session, dialogue)])
        if memory == "only":
            items += await _memory(dialogue, place, before=last, audit=audit, apart=apart)
    return items


async def _memory(
    dialogue: Dialogue, place: Place, *, before: int, audit: bool, apart: bool
) -> list[Item]:
    """What is remembered before a session, against what people noted until then."""
    facts = [fact for side in dialogue.facts(before - 1) for fact in side]
    held = await remembered(place.memory, dialogue.id)
    name, group = f"{dialogue.id}/memory/{before}", f"memory before session {before}"
    digested = await _digested(place, before - 1)
    if apart:
        digested |= await written_scores(place, dialogue, before=before)
    if not held and place.failed:
        measures = tuple(m.name for m in scoring.MEMORY if m.name not in digested)
        why = "the model gave no usable memory of any session"
        lost = failed(name, cluster=dialogue.id, group=group, measures=measures, why=why)
        return [replace(lost, scores=digested)]
    if not facts or not held:
        return []
    audited = scoring.audit_scores(held, dialogue, until=before - 1) if audit else {}
    return [
        Item(
            id=name,
            cluster=dialogue.id,
            group=group,
            scores=scoring.memory_scores(held, facts, language=dialogue.language)
            | audited
            | digested,
            texts={"memory": "\n".join(held), "gold": "\n".join(facts)},
        )
    ]


async def _digested(place: Place, sessions: int) -> dict[str, float]:
    """How the sessions became memory; nothing where no model was asked to."""
    calls = await place.memory.store.ledger.calls(place.owner)
    if not any(call.purpose is Purpose.DIGEST for call in calls):
        return {}
    aside = await place.memory.store.summaries.aside(place.owner)
    refused = {rejected.session for rejected in aside}
    return {
        "valid": 1 - len(refused) / sessions,
        "usable": 1 - len(place.failed) / sessions,
    }


async def _replies(
    dialogue: Dialogue, session: Session, place: Place, trial: Trial, *, group: str
) -> list[Item]:
    """Each reply of the assistant that follows words of the user."""
    items = []
    names, said_before = words(dialogue.language), list[str]()
    earlier = Said.of(line.text for line in dialogue.lines if line.session < session.number)
    turn = None
    for line in session.lines:
        if not line.text.strip():
            continue
        said = utterance(line, dialogue)
        if said.speaker is Speaker.ASSISTANT and turn is not None:
            answer = await place.reply_to(turn)
            memory = {scoring.SPOKE.name: float(bool(answer.contributions))}
            back = await brought(
                line.text,
                [one.text for one in answer.contributions],
                said=earlier,
                seen=Said.of(said_before),
                language=dialogue.language,
                analyser=trial.lab.analyser,
            )
            if back is not None:
                memory[scoring.WORDS.name] = back
            marks, unscored = await judging.replies(
                trial,
                known=gold_facts(dialogue, until=session.number - 1),
                dialogue=said_before,
                reply=answer.text,
                language=dialogue.language,
            )
            items.append(
                Item(
                    id=f"{dialogue.id}/{line.id}",
                    cluster=dialogue.id,
                    group=group,
                    scores=marks
                    | memory
                    | scoring.reply_scores(answer.text, line.text, language=dialogue.language),
                    unscored=unscored,
                    prompt_tokens=answer.completion.prompt_tokens,
                    completion_tokens=answer.completion.completion_tokens,
                    texts={
                        "known": "\n".join(gold_facts(dialogue, until=session.number - 1)),
                        "dialogue": "\n".join(said_before),
                        "reply": answer.text,
                        "gold": line.text,
                    },
                )
            )
        (recorded,) = await place.say([said], session=f"session {session.number}")
        user = said.speaker is Speaker.USER
        said_before.append(f"{names[said.speaker.value]}: {line.text}")
        turn = recorded if user else None
    return items


def _sessions(text: str) -> list[int]:
    try:
        return sorted(int(part) for part in text.split(","))
    except ValueError as error:
        raise BadInput(f"sessions are numbers such as 4,5, not {text!r}") from error
