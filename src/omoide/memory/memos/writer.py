"""Memo writing: paper C, task 1, after MemoChat (Lu et al. 2023, arXiv 2308.08239).

Numbered lines go in; for each topic its name, first and last line and a summary come out. The
ranges are held by a grammar where the model takes one (`ranges.py`), and mended elsewhere, so that
every line is in exactly one memo. An answer that cannot be used is asked for again with what was
wrong; when no answer will do, the lines themselves become a memo that is not whole. A dialogue too
long for the window is written in parts.

The prompt has no worked example: the small model copied it into its answers (docs/LOG.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Protocol

from omoide.domain import Rejected, Sentence
from omoide.domain.memo import Span, mend
from omoide.errors import BadReply, ContextTooLong
from omoide.language import content_terms
from omoide.memory.guards import Flaw, Problem, check, without_echoes, without_repeats
from omoide.memory.memos.ranges import grammar
from omoide.memory.memos.reading import Entry, read_entries
from omoide.memory.overlap import coverage
from omoide.memory.transcript import line, lines, parts, spoken
from omoide.ports import Message, Request, Skill
from omoide.prompts import render

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence
    from datetime import datetime

    from omoide.domain import Turn
    from omoide.memory.mechanism import Ask, Ended
    from omoide.ports import ChatModel, Completion


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A memo before its dialogue is compressed."""

    topic: str
    summary: str
    turns: tuple[Turn, ...]
    whole: bool = True

    def only(self, ids: Container[str]) -> Draft:
        """The same of these turns alone."""
        return replace(self, turns=tuple(turn for turn in self.turns if turn.id in ids))


@dataclass(frozen=True, kw_only=True)
class Written:
    """The memos of a dialogue, every turn in one of them, and the answers that would not do."""

    drafts: tuple[Draft, ...]
    rejected: tuple[Rejected, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _Line:
    """A numbered line of the prompt; a very long turn has several."""

    turn: Turn
    text: str


class Scribe(Protocol):
    """Makes memos of a dialogue."""

    async def write(self, turns: Sequence[Turn], *, ended: Ended) -> Written:
        """The memos of these turns of a session, in order, every turn in one of them. Raises
        `ModelError` only if a model cannot be had: nothing is written then."""


class MemoWriter:
    """Asks a model for the memos of a dialogue.

    `longest` is how many lines it is shown at a time: a model of 1.5 B parameters loses count
    long before its window is full.
    """

    def __init__(self, *, model: ChatModel, tries: int = 3, longest: int = 20) -> None:
        self.model = model
        self._tries = tries
        self._longest = longest

    async def write(self, turns: Sequence[Turn], *, ended: Ended) -> Written:
        """As `Scribe.write`."""
        language, at, ask = ended.language, ended.at, ended.ask
        drafts: list[Draft] = []
        rejected: list[Rejected] = []
        for part in await self._parts(turns, language):
            written = await self._part(part, language=language, at=at, ask=ask)
            drafts += written.drafts
            rejected += written.rejected
        return Written(drafts=_distinct(drafts), rejected=tuple(rejected))

    async def _parts(self, turns: Sequence[Turn], language: str) -> list[list[_Line]]:
        """The dialogue in as few parts of about the same length as fit."""
        frame = await self.model.count(_text(_request([], language)))
        room = self.model.window - frame - 2 * _ANSWER - 300
        room = max(room, self.model.window // 8)
        shown = [
            (_Line(turn=turn, text=text), await self.model.count(text) + 4)
            for turn in turns
            if spoken(turn)
            for part in await parts(lines([turn]), room=room - 8, count=self.model.count)
            for text in (piece.labelled(language) for piece in part)
        ]
        tokens = sum(cost for _, cost in shown)
        wanted = max(-(-tokens // room), -(-len(shown) // self._longest), 1)
        most, goal = -(-len(shown) // wanted), room
        cut: list[list[_Line]] = []
        used = goal + 1
        for shown_line, cost in shown:
            if used + cost > goal or len(cut[-1]) >= most:
                cut.append([])
                used = 0
            cut[-1].append(shown_line)
            used += cost
        return cut

    async def _part(
        self, part: Sequence[_Line], *, language: str, at: datetime, ask: Ask
    ) -> Written:
        """The memos of one part, by as many tries as are allowed."""
        first = _request([shown.text for shown in part], language)
        request, rejected, salvaged = first, list[Rejected](), tuple[Entry, ...]()
        for _ in range(self._tries):
            try:
                completion = await ask(request)
            except ContextTooLong:
                if len(part) < 2:
                    raise
                return await self._halves(part, language=language, at=at, ask=ask)
            entries, problems = _read(completion, part, language)
            if not problems:
                return Written(drafts=_drafts(entries, part), rejected=tuple(rejected))
            if all(problem.flaw is Flaw.CUT_SHORT for problem in problems):
                salvaged = max(salvaged, entries, key=len)
            told = tuple(problem.told(language) for problem in problems)
            rejected.append(
                Rejected(
                    session=part[0].turn.session,
                    text=completion.text,
                    problems=told,
                    model=completion.by or self.model.name,
                    time=at,
                )
            )
            request = _again(first, completion.text, told, language, len(part))
        return Written(drafts=_drafts(salvaged, part, cut=True), rejected=tuple(rejected))

    async def _halves(
        self, part: Sequence[_Line], *, language: str, at: datetime, ask: Ask
    ) -> Written:
        middle = len(part) // 2
        halves = [
            await self._part(half, language=language, at=at, ask=ask)
            for half in (part[:middle], part[middle:])
        ]
        return Written(
            drafts=tuple(draft for half in halves for draft in half.drafts),
            rejected=tuple(one for half in halves for one in half.rejected),
        )


_ANSWER = 900
"""Tokens that are kept free for the memos of one part, and again for what was wrong with them."""
_LONGEST = 1300
"""The most tokens that they may take."""


def _request(said: Sequence[str], language: str) -> Request:
    count, limit = max(len(said), 1), max(1, min(8, len(said) // 4))
    numbered = "\n".join(f"{number} {text}" for number, text in enumerate(said, start=1))
    prompt = render("memo_write", language, limit=str(limit), count=str(len(said)), lines=numbered)
    return Request(
        messages=prompt.messages,
        max_tokens=min(_LONGEST, 150 + 50 * len(said)),
        schema=schema(count, limit),
        grammar=grammar(count, limit, language=language),
        skill=Skill.MEMOS,
    )


def schema(lines: int, limit: int) -> Mapping[str, object]:
    """What the answer must look like."""
    number = {"type": "integer", "minimum": 1, "maximum": lines}
    fields = {
        "topic": {"type": "string"},
        "start": number,
        "end": number,
        "summary": {"type": "string"},
    }
    memo = {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"memos": {"type": "array", "items": memo, "minItems": 1, "maxItems": limit}},
        "required": ["memos"],
        "additionalProperties": False,
    }


def _again(first: Request, answer: str, told: Sequence[str], language: str, count: int) -> Request:
    """The question once more, with a glimpse of the answer that would not do and why."""
    retry = render("memo_retry", language, problems="\n".join(told), count=str(count)).messages
    shown = Message(role="assistant", content=answer[:400] or "-")
    return replace(first, messages=(*first.messages, shown, *retry))


def _read(
    completion: Completion, part: Sequence[_Line], language: str
) -> tuple[tuple[Entry, ...], tuple[Problem, ...]]:
    """The memos of an answer and what is wrong with them."""
    if not completion.text.strip():
        return (), (Problem(flaw=Flaw.EMPTY),)
    cut = completion.finish == "length"
    entries, problems = checked(completion.text, _turns(part), language)
    if cut and all(problem.flaw is Flaw.UNREADABLE for problem in problems):
        return entries, (Problem(flaw=Flaw.CUT_SHORT),)
    return entries, problems


def checked(
    text: str, turns: Sequence[Turn], language: str
) -> tuple[tuple[Entry, ...], tuple[Problem, ...]]:
    """The memos in an answer about these turns, without copied lines; or what is wrong."""
    try:
        entries = read_entries(text)
    except BadReply:
        return (), (Problem(flaw=Flaw.UNREADABLE),)
    summaries = tuple(_sentence(entry.summary, turns) for entry in entries)
    cleaned = without_echoes(without_repeats(summaries), turns, language=language)
    problems = check(
        summaries,
        cleaned=cleaned,
        old=(),
        turns=turns,
        instructions=_text(_request([], language)),
        language=language,
        limit=max(len(turns), 8),
    )
    if _alike([entry.summary for entry in entries]):
        problems = (*problems, Problem(flaw=Flaw.REPEATS))
    if problems:
        return (), problems
    kept = {sentence.text for sentence in cleaned}
    return tuple(entry for entry in entries if entry.summary in kept), ()


def _sentence(summary: str, turns: Sequence[Turn], least: float = 0.25) -> Sentence:
    """A summary for the guards. It rests on the turns if they hold that share of its terms: it is
    about many turns, so none of them alone need hold much of it."""
    heard = set[str]().union(*(content_terms(spoken(turn)) for turn in turns))
    supported = coverage(content_terms(summary), heard) >= least
    sources = tuple(turn.id for turn in turns) if supported else ()
    return Sentence(text=summary, about=None, sources=sources)


def _alike(summaries: Sequence[str]) -> bool:
    """Whether one summary says for the most part what another does: then the model has told the
    whole dialogue under every topic."""
    terms = [content_terms(text) for text in summaries]
    return any(
        len(one) >= 6 and coverage(one, other) > 0.7 and coverage(other, one) > 0.7
        for one, other in combinations(terms, 2)
    )


def cover(entries: Sequence[Entry], turns: Sequence[Turn], language: str) -> tuple[Draft, ...]:
    """Memos of the entries, their ranges mended so that each turn is in exactly one; a line of
    the prompt being a turn."""
    part = [_Line(turn=turn, text=line(turn, language)) for turn in turns]
    return _drafts(entries, part)


def _drafts(
    entries: Sequence[Entry], part: Sequence[_Line], *, cut: bool = False
) -> tuple[Draft, ...]:
    """The entries with the turns they cover. Of an answer that was `cut`, the lines after its
    last memo, or all if it has none, become a memo that is not whole."""
    spans = [entry.span for entry in entries]
    if cut:
        reached = max((max(span.first, span.last) for span in spans), default=0)
        if reached < len(part):
            spans.append(Span(first=max(reached, 0) + 1, last=len(part)))
    found: list[tuple[Span, Draft]] = []
    for i, span in enumerate(mend(spans, lines=len(part))):
        if span is None:
            continue
        turns = _turns(part[span.first - 1 : span.last])
        if i < len(entries):
            draft = Draft(topic=entries[i].topic, summary=entries[i].summary, turns=turns)
        else:
            draft = _unread(part[span.first - 1 : span.last])
        found.append((span, draft))
    if not found:
        return (_unread(part),)
    return tuple(draft for _, draft in sorted(found, key=lambda one: one[0]))


def _unread(part: Sequence[_Line]) -> Draft:
    said = "\n".join(shown.text for shown in part)
    return Draft(topic="", summary=said, turns=_turns(part), whole=False)


def _turns(part: Sequence[_Line]) -> tuple[Turn, ...]:
    return tuple({shown.turn.id: shown.turn for shown in part}.values())


def _distinct(drafts: Sequence[Draft]) -> tuple[Draft, ...]:
    """The drafts, with a turn that was cut over two of them in the first only, unless that would
    leave the second without any."""
    seen: set[str] = set()
    kept: list[Draft] = []
    for draft in drafts:
        own = tuple(turn for turn in draft.turns if turn.id not in seen) or draft.turns
        seen |= {turn.id for turn in own}
        kept.append(replace(draft, turns=own))
    return tuple(kept)


def _text(request: Request) -> str:
    return "\n".join(message.content for message in request.messages)
