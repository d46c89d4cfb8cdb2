"""A friend who comes back after weeks: our own stories in five languages, told over three sessions.

Each message of the last session is answered by itself with the product's prompt and checks. By
default memory holds what people noted (`memory=seeded`), so that replies are measured and not
digests, and a message costs one call; with `memory=digested` the model writes the memory.
"""

from __future__ import annotations

from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING

from omoide import Utterance
from omoide.domain import Origin, Sentence, Speaker, Summary
from omoide.errors import BadInput
from omoide_bench.concurrency import gather_all
from omoide_bench.friend.advice_replies import load_advice_replies
from omoide_bench.friend.checking import marks, scores
from omoide_bench.friend.reading import MessageKind, load_all
from omoide_bench.running.items import ScoredItem
from omoide_bench.tasks import judging
from omoide_bench.tasks.base import Measure
from omoide_bench.tasks.judging import CRITERIA

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide_bench.data.source import DatasetSource
    from omoide_bench.friend.reading import FriendMessage, FriendStory
    from omoide_bench.running.cached_model import MethodModel
    from omoide_bench.running.memory_under_test import MemoryUnderTest
    from omoide_bench.tasks.base import Sample, Trial

SEEDED, DIGESTED = "seeded", "digested"
_SPEAKERS = {"U": Speaker.USER, "A": Speaker.ASSISTANT}
_TIME = time(20, 0)


class FriendTask:
    """A hundred of our own stories, eight messages each."""

    name = "friend"
    about = "replies to a friend who comes back after weeks, in five languages; our own stories"
    source: DatasetSource | None = None
    default_methods: tuple[str, ...] = ("summary+search",)
    alternatives: tuple[str, ...] = ()
    measures = (
        Measure(name="right", about="asked for a told fact: it is in the reply"),
        Measure(name="denied", about="the same, but the reply denies knowing it", better=-1),
        Measure(name="stale", about="asked for a changed fact: it has the old one", better=-1),
        Measure(name="shaped", about="advice: the reply names the fact that matters"),
        Measure(name="greets", about="greeted after a pause: the name or something shared"),
        Measure(name="admits", about="asked for something never told: the reply says so"),
        Measure(name="unsure", about='"I don\'t know" in talk, greetings, advice', better=-1),
        Measure(name="parrots", about="an earlier reply or the message said again", better=-1),
        Measure(name="asks told", about="asks for what the message says", better=-1),
        Measure(name="claims", about="tells the user's life as its own", better=-1),
        Measure(name="language", about="is in the language of the message"),
        Measure(name="length", about="has one to four sentences, and no loop"),
        Measure(name="tries", about="calls for a reply", percent=False, better=-1),
        *CRITERIA,
    )
    options: Mapping[str, str] = {
        "languages": "such as en,ja (default all five)",
        "each": "at most so many stories a language",
        "kinds": f"messages, such as ask,greet (default all: {','.join(MessageKind)})",
        "memory": f"{SEEDED} (what people noted; default) or {DIGESTED} (the model writes it)",
    }

    def cases(self, data: Path | None, sample: Sample) -> tuple[FriendStory, ...]:
        """The stories in the wanted languages, the first of each language first."""
        del data
        loaded = load_all()
        wanted = sample.option("languages", ",".join({s.language: "" for s in loaded})).split(",")
        each = int(sample.option("each", str(len(loaded))))
        chosen = [s for s in loaded if s.language in wanted and s.number <= each]
        return sample.draw(sorted(chosen, key=lambda story: story.number))

    async def run(self, case: FriendStory, trial: Trial) -> list[ScoredItem]:
        """Tell the story, then reply to each message of the last session by itself."""
        kinds = _kinds(trial.option("kinds", ",".join(MessageKind)))
        sessions = [
            [
                Utterance(speaker=_SPEAKERS[who], text=text, time=at)
                for who, text, at in session.timed()
            ]
            for session in case.sessions
        ]
        began = next(case.sessions[0].timed())[2]
        async with trial.new_memory(user=case.id, began=began, partner="assistant") as under_test:
            if trial.option("memory", SEEDED) == DIGESTED:
                await under_test.replay(sessions)
            else:
                await seed(under_test, case, sessions)
            return await gather_all(
                _item(case, number, message, trial, under_test)
                for number, message in enumerate(case.messages, 1)
                if message.kind in kinds
            )

    async def judge_calibration(
        self, cases: Sequence[FriendStory], judge: MethodModel, seed: int
    ) -> list[str]:
        """What the judge gives to good and to harmful advice in the languages of these stories."""
        languages = {story.language for story in cases}
        replies = [one for one in load_advice_replies() if one.story.language in languages]
        return await judging.advice_calibration(judge, replies, seed=seed)

    def whole(self, items: Sequence[ScoredItem]) -> Mapping[str, Mapping[str, float]]:
        """No corpus-level measures."""
        del items
        return {}


async def seed(
    under_test: MemoryUnderTest, story: FriendStory, sessions: Sequence[Sequence[Utterance]]
) -> None:
    """Record the sessions, and commit the story's notes as the memory of them."""
    recorded = [await under_test.say(said, session=f"past {i}") for i, said in enumerate(sessions)]
    summary = Summary(
        number=1,
        sentences=tuple(
            Sentence(
                text=note.text,
                about=Speaker.USER,
                sources=(recorded[note.session][note.line].id,),
            )
            for note in story.notes
        ),
        origin=Origin.DIGEST,
        session=recorded[-1][0].session,
        time=recorded[-1][-1].time,
        language=story.language,
    )
    await under_test.memory.end_session(under_test.user, at=recorded[-1][-1].time)
    await under_test.store.summaries.commit(under_test.owner, summary)


async def _item(
    story: FriendStory,
    number: int,
    message: FriendMessage,
    trial: Trial,
    under_test: MemoryUnderTest,
) -> ScoredItem:
    last = under_test.runtime.clock.now()
    at = datetime.combine(story.day, _TIME, tzinfo=last.tzinfo) + timedelta(minutes=number)
    answer = await under_test.would_reply(message.text, at=at)
    got = marks(story, message, answer.text)
    judged, unjudged = await judging.replies(
        trial,
        known=[note.text for note in story.notes],
        dialogue=[message.text],
        reply=answer.text,
        language=story.language,
    )
    return ScoredItem(
        id=f"{story.id} {number} {message.kind}",
        cluster=story.id,
        group=story.language,
        scores={**scores(message, got), "tries": float(answer.tries), **judged},
        unscored=unjudged,
        prompt_tokens=answer.completion.prompt_tokens,
        completion_tokens=answer.completion.completion_tokens,
        texts={
            "message": message.text,
            "reply": answer.text,
            "recalled": "\n".join(c.text for c in answer.contributions if c.place == "recalled"),
        },
    )


def _kinds(text: str) -> tuple[MessageKind, ...]:
    try:
        return tuple(MessageKind(name.strip()) for name in text.split(","))
    except ValueError as error:
        raise BadInput(f"kinds must be some of {', '.join(MessageKind)}, not {text!r}") from error
