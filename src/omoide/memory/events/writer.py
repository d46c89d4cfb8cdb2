"""Who writes events down at a session's end: a model, or none.

Hou et al. 2024 have their model make events of the chat history, with topics and keywords, and say
no more about it. `ModelWriter` asks for one-sentence events by a JSON schema, with the same guards
as the summary has. `ExtractiveWriter` takes the user's own informative sentences and asks nobody.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from omoide.domain import Rejected, Speaker
from omoide.errors import BadReply
from omoide.language import content_terms, split_sentences
from omoide.memory.events import form as forms
from omoide.memory.guards import Flaw, Problem, check, without_echoes, without_repeats
from omoide.memory.sources import attribute
from omoide.memory.transcript import lines, parts, spoken
from omoide.ports import Message, Request, Skill
from omoide.prompts import render, words

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from omoide.domain import Event, Turn
    from omoide.memory.events.form import Draft
    from omoide.memory.mechanism import Ended
    from omoide.ports import Completion

TOKENS = 80
"""Room for one event in an answer."""


@dataclass(frozen=True, kw_only=True)
class Written:
    """The events of a session, or None and the answers that would not do."""

    events: tuple[Event, ...] | None
    rejected: tuple[Rejected, ...] = ()


class Writer(Protocol):
    """Makes events of a session."""

    async def __call__(self, ended: Ended) -> Written:
        """What happened, by what was said. Never raises for a bad answer; raises `ModelError` if
        a model cannot be had."""


class ModelWriter:
    """Asks the session's model, in as many parts as fit its window."""

    def __init__(
        self,
        *,
        window: int,
        count: Callable[[str], Awaitable[int]],
        limit: int = forms.LIMIT,
        tries: int = 3,
        name: str = "",
    ) -> None:
        self._window = window
        self._count = count
        self._limit = limit
        self._tries = tries
        self._name = name

    async def __call__(self, ended: Ended) -> Written:
        """One question a part; all of them answered, or nothing."""
        said = [turn for turn in ended.turns if spoken(turn)]
        if not any(turn.speaker is Speaker.USER for turn in said):
            return Written(events=())
        asked = render("event_write", ended.language, session="", limit=str(self._limit))
        fixed = sum([await self._count(message.content) for message in asked.messages])
        room = self._window - fixed - self._answer_tokens * 2 - 200
        drafts: list[Draft] = []
        rejected: list[Rejected] = []
        for part in await parts(lines(said), room=max(room, 200), count=self._count):
            session = "\n".join(line.labelled(ended.language) for line in part)
            found, bad = await self._part(session, ended, said)
            rejected += bad
            if found is None:
                return Written(events=None, rejected=tuple(rejected))
            drafts += found
        events = forms.settled(
            drafts,
            turns=said,
            session=ended.session.number,
            at=ended.at,
            language=ended.language,
        )
        return Written(events=events, rejected=tuple(rejected))

    @property
    def _answer_tokens(self) -> int:
        return min(TOKENS * self._limit, self._window // 4)

    async def _part(
        self, session: str, ended: Ended, turns: Sequence[Turn]
    ) -> tuple[list[Draft] | None, list[Rejected]]:
        language = ended.language
        prompt = render("event_write", language, session=session, limit=str(self._limit))
        first = Request(
            messages=prompt.messages,
            max_tokens=self._answer_tokens,
            schema=forms.schema(language, self._limit),
            skill=Skill.EVENTS,
        )
        instructions = "\n".join(m.content.replace(session, "") for m in prompt.messages)
        request = first
        rejected: list[Rejected] = []
        for _ in range(self._tries):
            completion = await ended.ask(request)
            drafts, problems = self._read(completion, ended, turns, instructions)
            if not problems:
                return drafts, rejected
            told = tuple(problem.told(language) for problem in problems)
            rejected.append(
                Rejected(
                    session=ended.session.number,
                    text=completion.text,
                    problems=told,
                    model=completion.by or self._name,
                    time=ended.at,
                )
            )
            retry = render("event_retry", language, problems="\n".join(told)).messages
            shown = Message(role="assistant", content=completion.text[:400] or "-")
            request = replace(first, messages=(*first.messages, shown, *retry))
        return None, rejected

    def _read(
        self, completion: Completion, ended: Ended, turns: Sequence[Turn], instructions: str
    ) -> tuple[list[Draft], tuple[Problem, ...]]:
        if not completion.text.strip():
            return [], (Problem(flaw=Flaw.EMPTY),)
        if completion.finish == "length":
            return [], (Problem(flaw=Flaw.CUT_SHORT),)
        return read_drafts(
            completion.text,
            turns=turns,
            instructions=instructions,
            language=ended.language,
            limit=self._limit,
        )


def read_drafts(
    text: str, *, turns: Sequence[Turn], instructions: str, language: str, limit: int
) -> tuple[list[Draft], tuple[Problem, ...]]:
    """The events in an answer, and what is wrong with them."""
    try:
        drafts = forms.read(text)
    except BadReply:
        return [], (Problem(flaw=Flaw.UNREADABLE),)
    answer = forms.sentences(drafts, language)
    kept = without_echoes(without_repeats(answer), turns, language=language)
    problems = check(
        answer,
        cleaned=attribute(kept, old=(), turns=turns),
        old=(),
        turns=turns,
        instructions=instructions,
        language=language,
        limit=limit,
    )
    texts = {sentence.text for sentence in kept}
    return [draft for draft in drafts if draft.text in texts], problems


class ExtractiveWriter:
    """Takes each of the user's sentences that says something, as it was said."""

    def __init__(self, *, least: int = 3, limit: int = 40) -> None:
        self._least = least
        self._limit = limit

    async def __call__(self, ended: Ended) -> Written:
        """The user's informative sentences, the richest if there are too many."""
        label = words(ended.language)["user"]
        found: list[tuple[int, Draft]] = []
        for turn in ended.turns:
            if turn.speaker is not Speaker.USER:
                continue
            for sentence in split_sentences(spoken(turn)):
                told = {t for t in content_terms(sentence) if not t.startswith("~")}
                asks = sentence.rstrip().endswith(("?", "？"))
                if len(told) >= self._least and not asks:
                    text = f"{label}: {' '.join(sentence.split())}"
                    found.append((len(told), forms.Draft(text=text[:400], participants=(label,))))
        if len(found) > self._limit:
            enough = sorted((size for size, _ in found), reverse=True)[self._limit - 1]
            found = [item for item in found if item[0] >= enough][: self._limit]
        events = forms.settled(
            [draft for _, draft in found],
            turns=[turn for turn in ended.turns if spoken(turn)],
            session=ended.session.number,
            at=ended.at,
            language=ended.language,
        )
        return Written(events=events)


class Unwritten:
    """Writes nothing and says so: where a model's one answer was no use, and it would make no
    better one if asked for JSON."""

    async def __call__(self, ended: Ended) -> Written:
        """No events; the turns are there."""
        return Written(events=None)


class OrElse:
    """Tries one writer, and another where the first got nothing usable from its model."""

    def __init__(self, first: Writer, second: Writer) -> None:
        self._first = first
        self._second = second

    async def __call__(self, ended: Ended) -> Written:
        """What the first wrote, or what the second did; the bad answers come along."""
        written = await self._first(ended)
        if written.events is not None:
            return written
        instead = await self._second(ended)
        return Written(events=instead.events, rejected=written.rejected + instead.rejected)
