"""Memo writing: paper C, task 1, after MemoChat (Lu et al. 2023, arXiv 2308.08239).

The model gets numbered lines and returns for each topic its name, first and last line and a
summary. A grammar enforces valid ranges if the model supports one (`ranges.py`); otherwise they are
repaired, so that every line is in exactly one memo. An unusable answer is asked for again with its
problems. If no answer is usable, the lines themselves become a memo that is not whole. A dialogue
too long for the window is processed in parts.

The prompt has no worked example: the small model copied it into its answers
(docs/experiments/*-memo-compression.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Protocol

from omoide.claims.answers import Flaw, Problem, check, without_echoes, without_repeats
from omoide.claims.overlap import coverage
from omoide.domain import RejectedAnswer, Sentence
from omoide.domain.memo import Span, repaired_spans
from omoide.errors import BadReply, ContextTooLong
from omoide.language import content_terms
from omoide.mechanisms.base import TRIES
from omoide.mechanisms.flags import flagged
from omoide.mechanisms.memos.ranges import grammar
from omoide.mechanisms.memos.reading import MemoEntry, read_entries
from omoide.ports import Message, Request, Skill
from omoide.prompts import render
from omoide.prompts.transcript import line, lines, parts, spoken

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence
    from datetime import datetime

    from omoide.domain import Turn
    from omoide.mechanisms.base import Ask, SessionToDigest
    from omoide.ports import ChatModel, Completion


@dataclass(frozen=True, kw_only=True)
class MemoDraft:
    """A memo before its dialogue is compressed."""

    topic: str
    summary: str
    turns: tuple[Turn, ...]
    whole: bool = True

    def restricted_to(self, ids: Container[str]) -> MemoDraft:
        """The draft with only these turns."""
        return replace(self, turns=tuple(turn for turn in self.turns if turn.id in ids))


@dataclass(frozen=True, kw_only=True)
class MemosWritten:
    """The memos of a dialogue, every turn in one of them, and the rejected answers."""

    drafts: tuple[MemoDraft, ...]
    rejected: tuple[RejectedAnswer, ...] = ()
    flags: tuple[str, ...] = ()
    """What the guards found in answers that were taken all the same."""


@dataclass(frozen=True, kw_only=True)
class _Line:
    """A numbered line of the prompt; a very long turn has several."""

    turn: Turn
    text: str


class MemoMaker(Protocol):
    """Makes memos from a dialogue."""

    async def write(self, turns: Sequence[Turn], *, to_digest: SessionToDigest) -> MemosWritten:
        """Make memos of these turns of a session, in order, every turn in one of them. Raises
        `ModelError` only if the model is unavailable; then nothing is written."""


class MemoWriter:
    """Asks a model for the memos of a dialogue.

    `max_lines` is the number of lines per request: a model of 1.5 B parameters loses count long
    before its window is full. With `flags` there is one try, and every memo that can be read is
    taken.
    """

    def __init__(self, *, model: ChatModel, max_lines: int = 20, flags: bool = False) -> None:
        self.model = model
        self._tries = 1 if flags else TRIES
        self._flags = flags
        self._max_lines = max_lines

    async def write(self, turns: Sequence[Turn], *, to_digest: SessionToDigest) -> MemosWritten:
        """As `MemoMaker.write`."""
        language, at, ask = to_digest.language, to_digest.at, to_digest.ask
        drafts: list[MemoDraft] = []
        rejected: list[RejectedAnswer] = []
        flags: list[str] = []
        for part in await self._parts(turns, language):
            written = await self._part(part, language=language, at=at, ask=ask)
            drafts += written.drafts
            rejected += written.rejected
            flags += written.flags
        return MemosWritten(drafts=_distinct(drafts), rejected=tuple(rejected), flags=tuple(flags))

    async def _parts(self, turns: Sequence[Turn], language: str) -> list[list[_Line]]:
        """The dialogue in as few parts as fit, of about equal length."""
        frame = await self.model.count(_text(write_request([], language)))
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
        wanted = max(-(-tokens // room), -(-len(shown) // self._max_lines), 1)
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
    ) -> MemosWritten:
        """The memos of one part, with retries."""
        first = write_request([shown.text for shown in part], language)
        request, rejected, salvaged = first, list[RejectedAnswer](), tuple[MemoEntry, ...]()
        for _ in range(self._tries):
            try:
                completion = await ask(request)
            except ContextTooLong:
                if len(part) < 2:
                    raise
                return await self._halves(part, language=language, at=at, ask=ask)
            entries, problems = _read(completion, part, language)
            if self._flags and problems and (readable := _entries(completion.text)):
                cut = completion.finish == "length"
                drafts = _drafts(readable, part, cut=cut)
                return MemosWritten(drafts=drafts, flags=flagged(problems, language))
            if not problems:
                return MemosWritten(drafts=_drafts(entries, part), rejected=tuple(rejected))
            if all(problem.flaw is Flaw.CUT_SHORT for problem in problems):
                salvaged = max(salvaged, entries, key=len)
            reasons = tuple(problem.message(language) for problem in problems)
            rejected.append(
                RejectedAnswer(
                    session=part[0].turn.session,
                    text=completion.text,
                    problems=reasons,
                    model=completion.by or self.model.name,
                    time=at,
                )
            )
            request = _again(first, completion.text, reasons, language, len(part))
        return MemosWritten(drafts=_drafts(salvaged, part, cut=True), rejected=tuple(rejected))

    async def _halves(
        self, part: Sequence[_Line], *, language: str, at: datetime, ask: Ask
    ) -> MemosWritten:
        middle = len(part) // 2
        halves = [
            await self._part(half, language=language, at=at, ask=ask)
            for half in (part[:middle], part[middle:])
        ]
        return MemosWritten(
            drafts=tuple(draft for half in halves for draft in half.drafts),
            rejected=tuple(answer for half in halves for answer in half.rejected),
            flags=tuple(flag for half in halves for flag in half.flags),
        )


MOST_MEMOS = 8
"""Maximum number of memos of one part."""
LINES_A_MEMO = 4
"""Lines for which a part may have one more memo."""
_ANSWER = 900
"""Tokens reserved for the memos of one part, and again for the problems with them."""
_LONGEST = 1300
"""Maximum number of tokens of an answer."""


def write_request(said: Sequence[str], language: str) -> Request:
    """The request for memos of these lines."""
    count, limit = max(len(said), 1), max(1, min(MOST_MEMOS, len(said) // LINES_A_MEMO))
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
    """The JSON schema of an answer."""
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


def _again(
    first: Request, answer: str, reasons: Sequence[str], language: str, count: int
) -> Request:
    """The request again, with the start of the rejected answer and the reasons."""
    retry = render("memo_retry", language, problems="\n".join(reasons), count=str(count)).messages
    shown = Message(role="assistant", content=answer[:400] or "-")
    return replace(first, messages=(*first.messages, shown, *retry))


def _read(
    completion: Completion, part: Sequence[_Line], language: str
) -> tuple[tuple[MemoEntry, ...], tuple[Problem, ...]]:
    """The memos of an answer, and the problems with them."""
    if not completion.text.strip():
        return (), (Problem(flaw=Flaw.EMPTY),)
    cut = completion.finish == "length"
    entries, problems = checked_memos(completion.text, _turns(part), language)
    if cut and all(problem.flaw is Flaw.UNREADABLE for problem in problems):
        return entries, (Problem(flaw=Flaw.CUT_SHORT),)
    return entries, problems


def _entries(text: str) -> tuple[MemoEntry, ...]:
    """The memos that can be read in an answer, whatever is wrong with them."""
    try:
        return read_entries(text)
    except BadReply:
        return ()


def checked_memos(
    text: str, turns: Sequence[Turn], language: str
) -> tuple[tuple[MemoEntry, ...], tuple[Problem, ...]]:
    """The memos in an answer about these turns, without copied lines; or the problems."""
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
        instructions=_text(write_request([], language)),
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
    """A summary as a sentence for the guards. It is supported if the turns together contain that
    share of its terms: it is about many turns, so no single one need contain much of it."""
    turn_terms = set[str]().union(*(content_terms(spoken(turn)) for turn in turns))
    supported = coverage(content_terms(summary), turn_terms) >= least
    sources = tuple(turn.id for turn in turns) if supported else ()
    return Sentence(text=summary, about=None, sources=sources)


def _alike(summaries: Sequence[str]) -> bool:
    """Whether two summaries say mostly the same: then the model has summarised the whole dialogue
    under every topic."""
    terms = [content_terms(text) for text in summaries]
    return any(
        len(one) >= 6 and coverage(one, other) > 0.7 and coverage(other, one) > 0.7
        for one, other in combinations(terms, 2)
    )


def covering_memos(
    entries: Sequence[MemoEntry], turns: Sequence[Turn], language: str
) -> tuple[MemoDraft, ...]:
    """Memos from the entries, with ranges repaired so that each turn is in exactly one. Each line
    of the prompt must be one turn."""
    part = [_Line(turn=turn, text=line(turn, language)) for turn in turns]
    return _drafts(entries, part)


def _drafts(
    entries: Sequence[MemoEntry], part: Sequence[_Line], *, cut: bool = False
) -> tuple[MemoDraft, ...]:
    """The entries with the turns they cover. If the answer was `cut`, the lines after its last
    memo, or all if it has none, become a memo that is not whole."""
    spans = [entry.span for entry in entries]
    if cut:
        last = max((max(span.first, span.last) for span in spans), default=0)
        if last < len(part):
            spans.append(Span(first=max(last, 0) + 1, last=len(part)))
    drafts: list[tuple[Span, MemoDraft]] = []
    for i, span in enumerate(repaired_spans(spans, lines=len(part))):
        if span is None:
            continue
        turns = _turns(part[span.first - 1 : span.last])
        if i < len(entries):
            draft = MemoDraft(topic=entries[i].topic, summary=entries[i].summary, turns=turns)
        else:
            draft = _verbatim(part[span.first - 1 : span.last])
        drafts.append((span, draft))
    if not drafts:
        return (_verbatim(part),)
    return tuple(draft for _, draft in sorted(drafts, key=lambda pair: pair[0]))


def _verbatim(part: Sequence[_Line]) -> MemoDraft:
    text = "\n".join(shown.text for shown in part)
    return MemoDraft(topic="", summary=text, turns=_turns(part), whole=False)


def _turns(part: Sequence[_Line]) -> tuple[Turn, ...]:
    return tuple({shown.turn.id: shown.turn for shown in part}.values())


def _distinct(drafts: Sequence[MemoDraft]) -> tuple[MemoDraft, ...]:
    """The drafts, with a turn that was split over two of them only in the first, unless the second
    would then have no turns."""
    seen: set[str] = set()
    kept: list[MemoDraft] = []
    for draft in drafts:
        unseen = tuple(turn for turn in draft.turns if turn.id not in seen) or draft.turns
        seen |= {turn.id for turn in unseen}
        kept.append(replace(draft, turns=unseen))
    return tuple(kept)


def _text(request: Request) -> str:
    return "\n".join(message.content for message in request.messages)
