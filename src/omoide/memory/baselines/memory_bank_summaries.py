"""MemoryBank's summaries: of each day and of the whole, of what happened and of who the user is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import Note, Rejected, Sentence
from omoide.errors import BadReply
from omoide.language import split_sentences
from omoide.memory.guards import Flaw, Problem, check, without_echoes, without_repeats
from omoide.memory.summary.forms import unmarked
from omoide.memory.transcript import lines, parts, spoken
from omoide.ports import Message, Request
from omoide.prompts import render

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from omoide.domain import Turn
    from omoide.memory.mechanism import Ended
    from omoide.ports import Store
    from omoide.prompts import Prompt

DAY = "bank-day"
"""Kind of the notes with a day's events, under its date."""
DAY_PORTRAIT = "bank-day-portrait"
"""Kind of the notes with how the user appeared on a day."""
GLOBAL = "bank-global"
"""Kind of the two global notes, `events` and `portrait`."""
TOKENS = 300
LIMIT = 12
"""Most sentences of a summary; the prompts ask for fewer."""


class DailySummaries:
    """Four calls a session: the day's events and portrait, then the global ones from all days."""

    def __init__(
        self,
        *,
        store: Store,
        window: int,
        count: Callable[[str], Awaitable[int]],
        tries: int = 3,
        name: str = "",
    ) -> None:
        self._store = store
        self._window = window
        self._count = count
        self._tries = tries
        self._name = name

    async def __call__(self, ended: Ended) -> None:
        """Rewrite them. All four are had before the first is stored; a session that the global
        summary knows of is not taken in again."""
        owner, number = ended.owner, ended.session.number
        known = await self._store.notes.read(owner, kind=GLOBAL)
        if len(known) == 2 and all((note.session or 0) >= number for note in known):
            return
        said = [turn for turn in ended.turns if spoken(turn)]
        if not said:
            return
        date = f"{said[0].time:%Y-%m-%d}"
        earlier = await self._store.turns.sessions(owner)
        today = list(said)
        for session in earlier:
            if session.number < number and f"{session.started:%Y-%m-%d}" == date:
                turns = await self._store.turns.read(owner, session=session.number)
                today = [*(turn for turn in turns if spoken(turn)), *today]
        made = {
            (DAY, date): await self._of_day("bank_day", ended, today, date),
            (DAY_PORTRAIT, date): await self._of_day("bank_day_portrait", ended, today, date),
        }
        for key, kind, prompt in (
            ("events", DAY, "bank_events"),
            ("portrait", DAY_PORTRAIT, "bank_portrait"),
        ):
            notes = await self._store.notes.read(owner, kind=kind)
            texts = {note.key: note.text for note in notes} | {date: made[kind, date]}
            days = [f"{day}: {texts[day]}" for day in sorted(texts)]
            days = await self._latest(days)
            filled = render(prompt, ended.language, days="\n".join(days))
            made[GLOBAL, key] = await self._asked(filled, ended, turns=())
        for (kind, key), text in made.items():
            note = Note(kind=kind, key=key, text=text, time=ended.at, session=number)
            await self._store.notes.put(owner, note)

    async def _of_day(self, name: str, ended: Ended, turns: Sequence[Turn], date: str) -> str:
        """The summary of a day, in parts where it is too long for the window."""
        room = max(self._window - TOKENS * 2 - 500, 200)
        written = []
        for part in await parts(lines(turns), room=room, count=self._count):
            session = "\n".join(spoken_line.labelled(ended.language) for spoken_line in part)
            filled = render(name, ended.language, session=session, date=date)
            written.append(await self._asked(filled, ended, turns=turns))
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

    async def _asked(self, prompt: Prompt, ended: Ended, *, turns: Sequence[Turn]) -> str:
        request = Request(messages=prompt.messages, max_tokens=TOKENS)
        told: tuple[str, ...] = ()
        for _ in range(self._tries):
            completion = await ended.ask(request)
            problems: tuple[Problem, ...] = ()
            answer = tuple(
                Sentence(text=piece)
                for part in completion.text.splitlines()
                for piece in split_sentences(unmarked(part))
            )
            kept = without_echoes(without_repeats(answer), turns, language=ended.language)
            if completion.finish == "length":
                problems = (Problem(flaw=Flaw.CUT_SHORT),)
            elif not kept and not answer:
                problems = (Problem(flaw=Flaw.EMPTY),)
            else:
                found = check(
                    answer,
                    cleaned=kept,
                    old=(),
                    turns=turns,
                    instructions=prompt.messages[0].content,
                    language=ended.language,
                    limit=LIMIT,
                )
                # A portrait says what nobody said in so many words.
                problems = tuple(p for p in found if p.flaw is not Flaw.UNSUPPORTED)
            if not problems:
                return " ".join(sentence.text for sentence in kept)
            told = tuple(problem.told(ended.language) for problem in problems)
            await self._store.summaries.set_aside(
                ended.owner,
                Rejected(
                    session=ended.session.number,
                    text=completion.text,
                    problems=told,
                    model=completion.by or self._name,
                    time=ended.at,
                ),
            )
            shown = Message(role="assistant", content=completion.text[:400] or "-")
            again = Message(role="user", content="\n".join((*told, prompt.messages[-1].content)))
            request = Request(messages=(*prompt.messages, shown, again), max_tokens=TOKENS)
        raise BadReply(
            f"no usable summary of session {ended.session.number} in {self._tries} tries: "
            f"{' '.join(told)} What was known before stands."
        )
