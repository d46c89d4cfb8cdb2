"""MemoryBank's summaries, daily and global: of the events and of the user's personality."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.claims.answers import Flaw, Problem, check, without_echoes, without_repeats
from omoide.domain import Note, RejectedAnswer, Sentence
from omoide.domain.time import in_zone
from omoide.errors import BadReply
from omoide.language import split_sentences
from omoide.mechanisms.base import TRIES
from omoide.mechanisms.flags import flagged, keep_flags
from omoide.mechanisms.summary.forms import unmarked
from omoide.ports import Message, Request
from omoide.prompts import render
from omoide.prompts.transcript import lines, parts, spoken

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from omoide.domain import Turn
    from omoide.mechanisms.base import SessionToDigest
    from omoide.ports import Store
    from omoide.prompts import Prompt

DAY = "bank-day"
"""Kind of the notes with a day's events, keyed by date."""
DAY_PORTRAIT = "bank-day-portrait"
"""Kind of the notes with a portrait of the user on a day, keyed by date."""
GLOBAL = "bank-global"
"""Kind of the two global notes, `events` and `portrait`."""
TOKENS = 300
"""Maximum number of tokens of an answer."""
LIMIT = 12
"""Maximum number of sentences of a summary; the prompts ask for fewer."""


class DailySummaries:
    """Four calls a session: the day's events and portrait, then the global ones from all days."""

    def __init__(
        self,
        *,
        store: Store,
        window: int,
        count: Callable[[str], Awaitable[int]],
        name: str = "",
        flags: bool = False,
    ) -> None:
        """With `flags` there is one try, and an answer is taken as it is unless it is empty."""
        self._store = store
        self._window = window
        self._count = count
        self._tries = 1 if flags else TRIES
        self._flags = flags
        self._name = name

    async def __call__(self, to_digest: SessionToDigest) -> None:
        """Rewrite the four summaries. Nothing is stored before all four are written. A session
        that the global summaries already cover is skipped."""
        owner, number = to_digest.owner, to_digest.session.number
        known = await self._store.notes.read(owner, kind=GLOBAL)
        if len(known) == 2 and all((note.session or 0) >= number for note in known):
            return
        spoken_turns = [turn for turn in to_digest.turns if spoken(turn)]
        if not spoken_turns:
            return
        date = f"{spoken_turns[0].time:%Y-%m-%d}"
        earlier = await self._store.turns.sessions(owner)
        today = list(spoken_turns)
        for session in earlier:
            day = f"{in_zone(session.started, to_digest.timezone):%Y-%m-%d}"
            if session.number < number and day == date:
                turns = await self._store.turns.read(owner, session=session.number)
                today = [*(turn for turn in turns if spoken(turn)), *today]
        written = {
            (DAY, date): await self._of_day("bank_day", to_digest, today, date),
            (DAY_PORTRAIT, date): await self._of_day("bank_day_portrait", to_digest, today, date),
        }
        for key, kind, prompt in (
            ("events", DAY, "bank_events"),
            ("portrait", DAY_PORTRAIT, "bank_portrait"),
        ):
            notes = await self._store.notes.read(owner, kind=kind)
            texts = {note.key: note.text for note in notes} | {date: written[kind, date]}
            days = [f"{day}: {texts[day]}" for day in sorted(texts)]
            days = await self._latest(days)
            filled = render(prompt, to_digest.language, days="\n".join(days))
            written[GLOBAL, key] = await self._asked(filled, to_digest, turns=())
        for (kind, key), text in written.items():
            note = Note(kind=kind, key=key, text=text, time=to_digest.at, session=number)
            await self._store.notes.put(owner, note)

    async def _of_day(
        self, name: str, to_digest: SessionToDigest, turns: Sequence[Turn], date: str
    ) -> str:
        """The summary of a day, in parts if it is too long for the window."""
        room = max(self._window - TOKENS * 2 - 500, 200)
        written = []
        for part in await parts(lines(turns), room=room, count=self._count):
            session = "\n".join(spoken_line.labelled(to_digest.language) for spoken_line in part)
            filled = render(name, to_digest.language, session=session, date=date)
            written.append(await self._asked(filled, to_digest, turns=turns))
        return " ".join(written)

    async def _latest(self, days: Sequence[str]) -> list[str]:
        """As many of the latest days as fit the window."""
        room = self._window - TOKENS * 2 - 500
        kept: list[str] = []
        for day in reversed(days):
            room -= await self._count(day) + 1
            if room < 0 and kept:
                break
            kept.append(day)
        return kept[::-1]

    async def _asked(
        self, prompt: Prompt, to_digest: SessionToDigest, *, turns: Sequence[Turn]
    ) -> str:
        request = Request(messages=prompt.messages, max_tokens=TOKENS)
        reasons: tuple[str, ...] = ()
        for _ in range(self._tries):
            completion = await to_digest.ask(request)
            answer = tuple(
                Sentence(text=piece)
                for part in completion.text.splitlines()
                for piece in split_sentences(unmarked(part))
            )
            kept = without_echoes(without_repeats(answer), turns, language=to_digest.language)
            if completion.finish == "length":
                problems: tuple[Problem, ...] = (Problem(flaw=Flaw.CUT_SHORT),)
            elif not answer:
                problems = (Problem(flaw=Flaw.EMPTY),)
            else:
                problems = _problems(answer, kept, prompt, turns, language=to_digest.language)
            if not problems:
                return " ".join(sentence.text for sentence in kept)
            if self._flags and answer:
                name = f"memory-bank-{prompt.hash}"
                flags = flagged(problems, to_digest.language)
                await keep_flags(self._store, to_digest, name, flags)
                return " ".join(sentence.text for sentence in answer)
            reasons = tuple(problem.message(to_digest.language) for problem in problems)
            await self._store.summaries.add_rejected(
                to_digest.owner,
                RejectedAnswer(
                    session=to_digest.session.number,
                    text=completion.text,
                    problems=reasons,
                    model=completion.by or self._name,
                    time=to_digest.at,
                ),
            )
            shown = Message(role="assistant", content=completion.text[:400] or "-")
            again = Message(role="user", content="\n".join((*reasons, prompt.messages[-1].content)))
            request = Request(messages=(*prompt.messages, shown, again), max_tokens=TOKENS)
        raise BadReply(
            f"no usable summary of session {to_digest.session.number} in {self._tries} tries: "
            f"{' '.join(reasons)} The old summaries are kept."
        )


def _problems(
    answer: Sequence[Sentence],
    kept: Sequence[Sentence],
    prompt: Prompt,
    turns: Sequence[Turn],
    *,
    language: str,
) -> tuple[Problem, ...]:
    """What is wrong with an answer, apart from support: a portrait is inferred, nobody said it
    literally."""
    found = check(
        answer,
        cleaned=kept,
        old=(),
        turns=turns,
        instructions=prompt.messages[0].content,
        language=language,
        limit=LIMIT,
    )
    return tuple(problem for problem in found if problem.flaw is not Flaw.UNSUPPORTED)
