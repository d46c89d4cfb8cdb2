"""Which notes stand beside the user's message for a small model, and what it is asked to do with
them.

A greeting recalls nothing, and a small model answers it like a stranger. So a greeting after a
pause gets the user's name and the newest of the memory beside it, and a line of its own that says
what to do with them (docs/experiments/2026-11-16-friend.md).

Everything beside the message is read after the user has sent it, at about 35 tokens a second on two
cores. So only as much stands there as is read in three seconds
(docs/experiments/2026-11-18-three-seconds.md). All of the memory stands further above in any case.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.claims.names import name_in
from omoide.claims.overlap import coverage
from omoide.domain import MemoryKind
from omoide.language import content_terms, estimate_tokens, pack
from omoide.language.dates import named_periods
from omoide.mechanisms.base import PromptPlace
from omoide.mechanisms.search.topics import topic_terms
from omoide.prompts import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.mechanisms.base import Contribution, ReplyRequest

RECALLED = "reply_small_recalled"
GREETING = "reply_small_greeting"
"""The prompts of the last message."""
SHARED_WORDS = 1 / 3
"""The share of a question's content words in one note from which that note surely belongs to it."""
SURE_WORDS = 2 / 3
"""The share from which something that was said in the open session surely answers it."""
PAUSE = timedelta(days=1)
"""Time since the newest memory after which somebody comes back."""
BRIEF = 24
"""Most tokens of a message that is a greeting and nothing else."""
SHARED = 3
"""Notes beside a greeting."""
ROOM = {RECALLED: 60, GREETING: 42}
"""Tokens of the notes beside a message, by the prompt around them. With its 32 to 50 tokens (five
languages) the sum is about 100; at a terminal the message itself is read while it is typed."""

_NOTES = frozenset({MemoryKind.SENTENCE, MemoryKind.FACT})


def placed_notes(
    request: ReplyRequest, contributions: Sequence[Contribution]
) -> tuple[str, tuple[Contribution, ...]]:
    """The prompt of the last message, and the contributions with the notes that belong beside
    it."""
    if greets_after_pause(request, contributions):
        return GREETING, _with_shared(request, contributions)
    return RECALLED, _with_nearest(request, contributions)


def is_known(request: ReplyRequest, contributions: Sequence[Contribution]) -> bool:
    """Whether memory surely holds what is asked: a note or turn beside the message has a third of
    the question's words, or is what the user said of that part of life in this session. Cosines do
    not tell, least of all in a language that the embedder does not cover."""
    recalled = [c for c in contributions if c.place is PromptPlace.RECALLED]
    wanted = content_terms(request.text)
    if any(coverage(wanted, content_terms(c.text)) >= SHARED_WORDS for c in recalled):
        return True
    return any(_told_now(c, request) for c in recalled)


def told_here(request: ReplyRequest, contributions: Sequence[Contribution]) -> str:
    """What stands beside the message of what the user told earlier in this session, and surely
    answers it; empty if nothing does. If a note has its words of the question and more of them, it
    only speaks of what the note answers: "The scooter has a flat tyre" does not tell its name."""
    wanted = content_terms(request.text)
    recalled = [c for c in contributions if c.place is PromptPlace.RECALLED]
    noted = [wanted & content_terms(c.text) for c in recalled if c.kind in _NOTES]
    told = (_said_now(c, request) for c in recalled if _told_now(c, request, least=SURE_WORDS))
    for said in told:
        spoken_of = wanted & content_terms(said)
        if not (spoken_of and any(spoken_of < words for words in noted)):
            return said
    return ""


def greets_after_pause(request: ReplyRequest, contributions: Sequence[Contribution]) -> bool:
    """Whether the message only greets, begins a session, and memory is from another day."""
    if len(request.session) != 1 or estimate_tokens(request.text) > BRIEF:
        return False
    times = [c.time for c in contributions if c.place is PromptPlace.MEMORY]
    came_back = bool(times) and request.now - max(times) >= PAUSE
    return came_back and bool(pack(request.language).replies.greeting.search(request.text))


def usual_greeting(language: str) -> str:
    """What somebody says who comes back: the message of the worked example."""
    return render(GREETING, language, text="", recalled="").messages[0].content.splitlines()[0]


def _with_shared(
    request: ReplyRequest, contributions: Sequence[Contribution]
) -> tuple[Contribution, ...]:
    """The contributions with the user's name and the newest of the memory beside the message."""
    memory = [c for c in contributions if c.place is PromptPlace.MEMORY]
    named = [c for c in memory if name_in(c.text, request.language)][-1:]
    newest = [c for c in memory if c not in named][-(SHARED - len(named)) :]
    kept = _fitting([*named, *reversed(newest)], room=ROOM[GREETING])
    beside = [
        replace(c, place=PromptPlace.RECALLED, id=f"{c.id}.near")
        for c in (*named, *newest)
        if c in kept
    ]
    return (*memory, *beside)


def _with_nearest(
    request: ReplyRequest, contributions: Sequence[Contribution]
) -> tuple[Contribution, ...]:
    """The contributions with as many of those beside the message as there is room for: the notes
    with most of its words, the nearest first, and what the user said in their own words, if no note
    says it. What they told in this session comes first: a small model takes the first of two that
    contradict each other. The user's name comes last: it is near to every question, and stands at
    the top of the memory. Without a memory everything stays: nothing else tells it."""
    memory = [c for c in contributions if c.place is PromptPlace.MEMORY]
    if not memory:
        return tuple(contributions)
    wanted = content_terms(request.text)

    def importance(note: Contribution) -> tuple[bool, float]:
        named = bool(name_in(note.text, request.language))
        return named, -coverage(wanted, content_terms(note.text))

    beside = [c for c in contributions if c.place is PromptPlace.RECALLED]
    notes = sorted((c for c in beside if c.kind in _NOTES), key=importance)
    turns = [c for c in beside if c.kind is MemoryKind.TURN]
    told_now = [turn for turn in turns if _told_now(turn, request)][:1]
    only_said = [turn for turn in turns if not notes or _adds(turn, memory, request)][:1]
    room = ROOM[RECALLED] - sum(map(_tokens, told_now or only_said))
    kept = _fitting(notes, room=room)
    others = [c for c in beside if c not in notes and c not in turns]
    return (*memory, *told_now, *kept, *(() if told_now else only_said), *others)


def _told_now(turn: Contribution, request: ReplyRequest, *, least: float = SHARED_WORDS) -> bool:
    """Whether a turn beside the message is what the user told of it earlier in this session: it has
    such a share of its words, or tells of the same part of life."""
    said = _said_now(turn, request)
    if coverage(content_terms(request.text), content_terms(said)) >= least:
        return True
    topics = topic_terms(request.text)
    return topics is not None and topics.told_in(said) and not _is_to_come(said, request)


def _is_to_come(said: str, request: ReplyRequest) -> bool:
    """Whether words are about a day that is yet to come: until then, what was known holds."""
    today = request.now.date()
    named = named_periods(said, day=today, language=request.language)
    return any(period.first > today for period in named)


def _said_now(turn: Contribution, request: ReplyRequest) -> str:
    """What the user said earlier in this session, if a contribution is that turn."""
    return next((t.text for t in request.session[:-1] if turn.sources == (t.id,)), "")


def _adds(turn: Contribution, memory: Sequence[Contribution], request: ReplyRequest) -> bool:
    """Whether a turn may tell what the memory does not: no note rests on it, or it has many more of
    the message's words than any note."""
    if not any(set(turn.sources) & set(note.sources) for note in memory):
        return True
    wanted = content_terms(request.text)
    known = max(coverage(wanted, content_terms(note.text)) for note in memory)
    return coverage(wanted, content_terms(turn.text)) >= known + SHARED_WORDS


def _tokens(note: Contribution) -> int:
    return estimate_tokens(f"- {note.text}")


def _fitting(notes: Sequence[Contribution], *, room: int) -> list[Contribution]:
    """Those of the notes, the most important first, that fit; the first in any case."""
    kept = list(notes[:1])
    room -= sum(map(_tokens, kept))
    for note in notes[1:]:
        if (tokens := _tokens(note)) <= room:
            kept.append(note)
            room -= tokens
    return kept
