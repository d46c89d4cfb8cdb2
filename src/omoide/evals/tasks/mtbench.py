"""MT-Bench+ (Lu et al. 2023), as paper C uses it: a long chat, then a question that reaches back.

The data set has the user's side only. The answers to all but the last question are made once, by
the model without any memory, so that every method has the same history; it is cut into sessions
where it has grown by `SESSION` tokens, which is when memos are written. Only the last question is
answered by the method. The paper's figure is a judge's, 1 to 100, for how faithful the answer is
to what was said before; without a judge only what went into the prompt is measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.accounts import complete
from omoide.domain import Speaker
from omoide.engine import Utterance
from omoide.evals.data import memochat
from omoide.evals.judges import Case
from omoide.evals.metrics import reply_length
from omoide.evals.running.asked import without_loops
from omoide.evals.running.items import Item
from omoide.evals.tasks import judging, scoring
from omoide.evals.tasks.dialogues import evidence_share
from omoide.evals.tasks.survival import Said, brought
from omoide.language import estimate_tokens
from omoide.memory.replies import looping
from omoide.ports import Message, Request

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide.evals.data.memochat import LongTalk
    from omoide.evals.running.asked import Asked
    from omoide.evals.tasks.base import Sample, Trial

SESSION = 1024
"""Tokens after which the dialogue so far is put into memory (the paper's set length)."""
ANSWER = 300
WINDOW = 3000
"""Tokens of the history that an answer of the shared history sees."""


class MtBenchPlus:
    """Retrospection, continuation, conjunction."""

    name = "mtbench-plus"
    about = "the last answer of a long chat, for faithfulness to what it reaches back to (paper C)"
    source = memochat.SOURCE
    usual: tuple[str, ...] = ("memochat", "memos", "search")
    rivals: tuple[str, ...] = ()
    measures = (
        scoring.JUDGED,
        scoring.EVIDENCE_MEASURE,
        scoring.EVIDENCE_WORDS,
        scoring.SPOKE,
        scoring.LENGTH,
    )
    criteria = (scoring.JUDGED.name,)
    options: Mapping[str, str] = {
        "session": f"tokens after which the chat so far is put into memory (default {SESSION})"
    }

    def cases(self, data: Path, sample: Sample) -> tuple[LongTalk, ...]:
        """The dialogues."""
        return sample.draw(memochat.load_mtbench_plus(data))

    async def run(self, case: LongTalk, trial: Trial) -> list[Item]:
        """The history, then the question."""
        history = await _history(case, trial.model)
        async with trial.place(user=case.id, began=case.start) as place:
            sessions = _sessions(history, int(trial.option("session", str(SESSION))))
            await place.live_through(sessions[:-1])
            await place.say(sessions[-1])
            asked = Utterance(
                speaker=Speaker.USER,
                text=case.question,
                id="question",
                time=case.at(len(case.turns)),
            )
            (turn,) = await place.say([asked])
            answer = await place.reply_to(turn)
        wanted = frozenset(f"user-{i}" for i in case.evidence)
        told = [
            said for said in history if said.id and int(said.id.partition("-")[2]) in case.evidence
        ]
        related = "\n".join(said.text for said in told)
        answered = [said.text for said in told if said.speaker is Speaker.ASSISTANT]
        scores: dict[str, float] = {
            scoring.LENGTH.name: float(reply_length(answer.text)),
            scoring.SPOKE.name: float(bool(answer.contributions)),
        }
        back = await brought(
            related,
            [one.text for one in answer.contributions],
            said=Said.of([related]),
            seen=Said.of(one.text for one in (*sessions[-1], asked)),
            language="en",
            analyser=None,
        )
        if back is not None:
            scores[scoring.EVIDENCE_WORDS.name] = back
        if wanted:
            in_session = {said.id for said in sessions[-1] if said.id}
            share = evidence_share(answer.contributions, wanted)
            seen = len(wanted & in_session) / len(wanted)
            scores[scoring.EVIDENCE] = min(1.0, share + seen)
        judged, unscored = await judging.faithful(
            trial, question=case.question, reply=answer.text, history=related
        )
        return [
            Item(
                id=case.id,
                cluster=case.id,
                group=case.kind,
                scores={**scores, **judged},
                unscored=unscored,
                prompt_tokens=answer.completion.prompt_tokens,
                completion_tokens=answer.completion.completion_tokens,
                texts={
                    "known": related,
                    "dialogue": case.question,
                    "reply": answer.text,
                    "told": answered[-1] if answered else "",
                },
            )
        ]

    def known_replies(self, items: Sequence[Item]) -> list[Case]:
        """What the model itself said at the place that the question is about stands in the
        history word for word: nothing can be more faithful to it."""
        return [
            Case(known=item.texts["known"], dialogue=item.texts["dialogue"], reply=told)
            for item in items
            if (told := item.texts.get("told"))
        ]

    def whole(self, items: Sequence[Item]) -> Mapping[str, Mapping[str, float]]:
        """Nothing beyond the means."""
        del items
        return {}


async def _history(case: LongTalk, model: Asked) -> list[Utterance]:
    """What the user says and what the model answers without memory: the same for all methods."""
    said: list[Utterance] = []
    for i, text in enumerate(case.turns):
        said.append(Utterance(speaker=Speaker.USER, text=text, id=f"user-{i}", time=case.at(i)))
        answer = await complete(model, _request(said))
        told = without_loops(answer.text, looping).strip() or "…"
        said.append(Utterance(speaker=Speaker.ASSISTANT, text=told, id=f"bot-{i}", time=case.at(i)))
    return said


def _request(said: Sequence[Utterance]) -> Request:
    shown: list[Message] = []
    room = WINDOW
    for one in reversed(said):
        room -= estimate_tokens(one.text) + 8
        if room < 0 and shown:
            break
        shown.append(Message(role=one.speaker.value, content=one.text))
    while shown[-1].role != "user":
        shown.pop()
    return Request(messages=tuple(reversed(shown)), max_tokens=ANSWER, frequency_penalty=0.4)


def _sessions(said: Sequence[Utterance], longest: int) -> list[list[Utterance]]:
    """The history in stretches of whole exchanges, the last one still going on."""
    found: list[list[Utterance]] = [[]]
    tokens = 0
    for question, answer in zip(said[::2], said[1::2], strict=True):
        if tokens > longest:
            found.append([])
            tokens = 0
        found[-1] += [question, answer]
        tokens += estimate_tokens(question.text) + estimate_tokens(answer.text)
    return found
