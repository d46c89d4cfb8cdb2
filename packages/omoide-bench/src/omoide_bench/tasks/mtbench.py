"""MT-Bench+ (Lu et al. 2023), as paper C uses it: a long chat, then a question about its past.

The data set has the user's side only. By default the model answers all but the last question once,
without memory, so that every method has the same history; it is cut into sessions of about
`SESSION` tokens, and memos are written at the end of each. With `history=own`, as in the papers,
each method answers every question itself in one long session, of which the earlier part becomes
memos as it grows. The method's answer to the last question is scored. The papers' figure is a
judge's mark, 1 to 100, for how faithful the answer is to the history; without a judge only the
content of the prompt is measured.

With `language=ja` the data are `mtbenchplus.ja.json`: paper C had the questions translated into
Japanese, but that translation is not public. Make one in the form of `mtbenchplus.json`.
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
from omoide_bench.tasks.survival import TextSet, words_brought_back

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide_bench.data.memochat import LongTalk
    from omoide_bench.running.cached_model import MethodModel
    from omoide_bench.running.memory_under_test import MemoryUnderTest
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
        "session": f"tokens after which a session ends and is digested (default {SESSION})",
        "history": "shared (default) or own: each method answers the earlier questions itself",
        "language": "en (default), or ja: questions in Japanese, from mtbenchplus.ja.json",
    }

    def cases(self, data: Path, sample: Sample) -> tuple[LongTalk, ...]:
        """The dialogues."""
        return sample.draw(memochat.load_mtbench_plus(data, sample.option("language", "en")))

    async def run(self, case: LongTalk, trial: Trial) -> list[ScoredItem]:
        """Generate or reuse the history, then ask the question."""
        own = trial.option("history", "shared") == "own"
        async with trial.new_memory(user=case.id, began=case.start) as under_test:
            if own:
                history = await _own_history(case, under_test)
            else:
                history = await _history(case, trial.model)
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
            context = await under_test.context_of(turn)
            answer = await under_test.answer(context)
        current = context.reply_request.session
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
            seen=TextSet.of(turn.text for turn in current),
            language=case.language,
            analyser=trial.lab.analyser if case.language != "en" else None,
        )
        if brought_back is not None:
            scores[scoring.EVIDENCE_WORDS.name] = brought_back
        if wanted:
            shown = wanted & {turn.id for turn in current}
            recalled = {source for one in answer.contributions for source in one.sources}
            scores[scoring.EVIDENCE] = len(shown | (wanted & recalled)) / len(wanted)
        judged, unscored = await judging.faithful(
            trial,
            question=case.question,
            reply=answer.text,
            history=related,
            language=case.language,
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


async def _own_history(case: LongTalk, under_test: MemoryUnderTest) -> list[Utterance]:
    """The user's turns and the method's own answers, in one session that is digested as it
    grows."""
    history: list[Utterance] = []
    for i, text in enumerate(case.turns):
        said = Utterance(speaker=Speaker.USER, text=text, id=f"user-{i}", time=case.at(i))
        (turn,) = await under_test.say([said])
        answer = await under_test.reply_to(turn)
        reply = Utterance(
            speaker=Speaker.ASSISTANT, text=answer.text or "…", id=f"bot-{i}", time=case.at(i)
        )
        await under_test.say([reply])
        await under_test.digested()
        history += [said, reply]
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


def _sessions(history: Sequence[Utterance], max_tokens: int) -> list[list[Utterance]]:
    """The history cut into sessions of complete exchanges; the last one is still open."""
    sessions: list[list[Utterance]] = [[]]
    tokens = 0
    for question, answer in zip(history[::2], history[1::2], strict=True):
        if tokens > max_tokens:
            sessions.append([])
            tokens = 0
        sessions[-1] += [question, answer]
        tokens += estimate_tokens(question.text) + estimate_tokens(answer.text)
    return sessions
