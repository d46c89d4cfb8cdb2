"""MT-Bench+ (Lu et al. 2023), as paper C uses it: a long chat, then a question about its past.

The data set has the user's side only. The model answers all but the last question once, without
memory, so that every method has the same history. The history is cut into sessions of about
`SESSION` tokens, and memos are written at the end of each. The method answers only the last
question. The paper's figure is a judge's mark, 1 to 100, for how faithful the answer is to the
history; without a judge only the content of the prompt is measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide import Utterance
from omoide.domain import Speaker
from omoide.engine import complete
from omoide.language import estimate_tokens
from omoide.mechanisms import is_looping
from omoide.ports import Message, Request
from omoide_bench.data import memochat
from omoide_bench.judges import ReplyCase
from omoide_bench.metrics import reply_length
from omoide_bench.running.cached_model import without_loops
from omoide_bench.running.items import ScoredItem
from omoide_bench.tasks import judging, scoring
from omoide_bench.tasks.dialogues import evidence_share
from omoide_bench.tasks.survival import TextSet, words_brought_back

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide_bench.data.memochat import LongTalk
    from omoide_bench.running.cached_model import MethodModel
    from omoide_bench.tasks.base import Sample, Trial

SESSION = 1024
"""Tokens after which a session ends and is digested (the length set in the paper)."""
ANSWER = 300
WINDOW = 3000
"""Most tokens of history in the prompt when the shared history is generated."""


class MtBenchPlus:
    """The last answers of chats for retrospection, continuation, conjunction."""

    name = "mtbench-plus"
    about = "faithfulness of the last answer of a long chat to its history (paper C)"
    source = memochat.SOURCE
    default_methods: tuple[str, ...] = ("memochat", "memos", "search")
    alternatives: tuple[str, ...] = ()
    measures = (
        scoring.JUDGED,
        scoring.EVIDENCE_MEASURE,
        scoring.EVIDENCE_WORDS,
        scoring.SPOKE,
        scoring.LENGTH,
    )
    criteria = (scoring.JUDGED.name,)
    options: Mapping[str, str] = {
        "session": f"tokens after which a session ends and is digested (default {SESSION})"
    }

    def cases(self, data: Path, sample: Sample) -> tuple[LongTalk, ...]:
        """The dialogues."""
        return sample.draw(memochat.load_mtbench_plus(data))

    async def run(self, case: LongTalk, trial: Trial) -> list[ScoredItem]:
        """Generate or reuse the history, replay it, then ask the question."""
        history = await _history(case, trial.model)
        async with trial.new_memory(user=case.id, began=case.start) as under_test:
            sessions = _sessions(history, int(trial.option("session", str(SESSION))))
            await under_test.replay(sessions[:-1])
            await under_test.say(sessions[-1])
            question = Utterance(
                speaker=Speaker.USER,
                text=case.question,
                id="question",
                time=case.at(len(case.turns)),
            )
            (turn,) = await under_test.say([question])
            answer = await under_test.reply_to(turn)
        wanted = frozenset(f"user-{i}" for i in case.evidence)
        parts = [
            utterance
            for utterance in history
            if utterance.id and int(utterance.id.partition("-")[2]) in case.evidence
        ]
        related = "\n".join(utterance.text for utterance in parts)
        answered = [utterance.text for utterance in parts if utterance.speaker is Speaker.ASSISTANT]
        scores: dict[str, float] = {
            scoring.LENGTH.name: float(reply_length(answer.text)),
            scoring.SPOKE.name: float(bool(answer.contributions)),
        }
        brought_back = await words_brought_back(
            related,
            [one.text for one in answer.contributions],
            said=TextSet.of([related]),
            seen=TextSet.of(one.text for one in (*sessions[-1], question)),
            language="en",
            analyser=None,
        )
        if brought_back is not None:
            scores[scoring.EVIDENCE_WORDS.name] = brought_back
        if wanted:
            in_session = {utterance.id for utterance in sessions[-1] if utterance.id}
            share = evidence_share(answer.contributions, wanted)
            seen = len(wanted & in_session) / len(wanted)
            scores[scoring.EVIDENCE] = min(1.0, share + seen)
        judged, unscored = await judging.faithful(
            trial, question=case.question, reply=answer.text, history=related
        )
        return [
            ScoredItem(
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

    def known_replies(self, items: Sequence[ScoredItem]) -> list[ReplyCase]:
        """The model's own earlier answer that the question refers to. It is in the history word
        for word: no reply can be more faithful."""
        return [
            ReplyCase(known=item.texts["known"], dialogue=item.texts["dialogue"], reply=reply)
            for item in items
            if (reply := item.texts.get("told"))
        ]

    def whole(self, items: Sequence[ScoredItem]) -> Mapping[str, Mapping[str, float]]:
        """No corpus-level measures."""
        del items
        return {}


async def _history(case: LongTalk, model: MethodModel) -> list[Utterance]:
    """The user's turns and the model's answers without memory: the same for all methods."""
    history: list[Utterance] = []
    for i, text in enumerate(case.turns):
        history.append(Utterance(speaker=Speaker.USER, text=text, id=f"user-{i}", time=case.at(i)))
        answer = await complete(model, _request(history))
        text_ = without_loops(answer.text, is_looping).strip() or "…"
        history.append(
            Utterance(speaker=Speaker.ASSISTANT, text=text_, id=f"bot-{i}", time=case.at(i))
        )
    return history


def _request(history: Sequence[Utterance]) -> Request:
    messages: list[Message] = []
    room = WINDOW
    for utterance in reversed(history):
        room -= estimate_tokens(utterance.text) + 8
        if room < 0 and messages:
            break
        messages.append(Message(role=utterance.speaker.value, content=utterance.text))
    while messages[-1].role != "user":
        messages.pop()
    return Request(messages=tuple(reversed(messages)), max_tokens=ANSWER, frequency_penalty=0.4)


def _sessions(history: Sequence[Utterance], max_chars: int) -> list[list[Utterance]]:
    """The history cut into sessions of complete exchanges; the last one is still open."""
    sessions: list[list[Utterance]] = [[]]
    tokens = 0
    for question, answer in zip(history[::2], history[1::2], strict=True):
        if tokens > max_chars:
            sessions.append([])
            tokens = 0
        sessions[-1] += [question, answer]
        tokens += estimate_tokens(question.text) + estimate_tokens(answer.text)
    return sessions
