"""Replies of a small model, checked before they are shown."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from omoide.language import split_sentences
from omoide.mechanisms.reply_checks import tried_again
from omoide.mechanisms.reply_forms import is_looping
from omoide.ports import Completion

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from omoide.mechanisms.reply_checks import ReplyChecks
    from omoide.ports import Request

    Stream = AsyncGenerator[str | Completion]


SHORTEST_SHOWN = 8
"""Letters that are shown at once. A mere "Ben!" waits for its next sentence: if that has a fault,
nobody wants a reply that ends there."""
LONGEST_HELD = 240
"""Characters after which a sentence that does not end is shown as far as it came."""


async def checked_stream(
    ask: Callable[[Request], Stream], request: Request, checks: ReplyChecks
) -> Stream:
    """The answer to a request, without what the checks forbid.

    It comes sentence by sentence, or whole if `checks.whole`. If its beginning has a fault, the
    model is asked once more, with the reason in the prompt. Of that answer a beginning with a fault
    is left out, unless nothing else comes: then the user's own words stand in for it, if they
    answer. A later sentence with a fault ends the reply before it.
    """
    for last_try in (False, True):
        fault, shown, left_out = None, False, ""
        async with aclosing(_parts(ask(request), whole=checks.whole)) as parts:
            async for part in parts:
                if isinstance(part, Completion):
                    if left_out and not shown:
                        yield checks.instead or left_out
                        shown = True
                    yield part
                    continue
                fault = checks.fault(part)
                if fault is not None and (shown or not last_try):
                    break
                if fault is not None:
                    left, part = _faultless(part, checks)
                    left_out += left
                if not part:
                    continue
                yield part if shown else part.lstrip()
                shown = shown or bool(part.strip())
        if left_out and not shown:  # it looped, and was not read to its end
            yield checks.instead or left_out
        if fault is None or shown or last_try:
            return
        request = tried_again(request, fault, language=checks.language)


def _faultless(part: str, checks: ReplyChecks) -> tuple[str, str]:
    """The sentences at the beginning without which the rest has no fault, and that rest."""
    start = 0
    for sentence in split_sentences(part):
        start = part.index(sentence, start)
        if checks.fault(part[start:]) is None:
            return part[:start], part[start:]
        start += len(sentence)
    return part, ""


def _letters(sentences: Sequence[str]) -> int:
    return sum(letter.isalnum() for sentence in sentences for letter in sentence)


async def _parts(stream: Stream, *, whole: bool) -> Stream:
    """The sentences of an answer as they become complete, then its `Completion`. One that loops
    ends there."""
    held = ""
    async with aclosing(stream) as pieces:
        async for piece in pieces:
            if isinstance(piece, Completion):
                if held:
                    yield held
                yield piece
                return
            held += piece
            if is_looping(held):
                break
            if whole:
                continue
            *complete, last = split_sentences(held) or [held]
            if complete and last.strip() and _letters(complete) >= SHORTEST_SHOWN:
                end = len(held[: held.rindex(last)].rstrip())
                yield held[:end]
                held = held[end:]
            elif len(held) > LONGEST_HELD:
                yield held
                held = ""
    if held:
        yield held
