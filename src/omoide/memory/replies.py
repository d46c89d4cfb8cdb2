"""The prompt of a reply: the memory, what came to mind, and the session so far.

`paper` is Wang et al. 2023, Table 2: r_t = LLM(C_t, M_N) in one message of five steps. `chat`
keeps the session as chat messages after a system message that stays the same all session long,
so that a model's prefix cache is hit at each turn; what came to mind goes with the last message.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

from omoide.language import estimate_tokens
from omoide.memory.mechanism import Place
from omoide.memory.transcript import lines, quoted, spoken
from omoide.ports import Message, Request
from omoide.prompts import render, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Turn
    from omoide.memory.mechanism import Contribution, Moment


class ReplyForm(Protocol):
    """A way of asking for a reply."""

    def __call__(
        self,
        moment: Moment,
        contributions: Sequence[Contribution],
        *,
        window: int,
        max_tokens: int,
    ) -> Request:
        """The request for the reply to the session's last turn."""


def paper(
    moment: Moment, contributions: Sequence[Contribution], *, window: int, max_tokens: int
) -> Request:
    """The paper's prompt; what was recalled stands with the memory (its retrieval + memory)."""
    known = "\n".join(_listed(contributions, Place.MEMORY) + _listed(contributions, Place.RECALLED))
    room = window - max_tokens - estimate_tokens(known) - 600
    said = lines(latest(moment.session, room))
    dialogue = "\n".join(line.labelled(moment.language) for line in said)
    memory = known or words(moment.language)["none"]
    prompt = render("reply_paper", moment.language, memory=memory, dialogue=dialogue)
    return Request(messages=prompt.messages, max_tokens=max_tokens)


def chat(
    moment: Moment, contributions: Sequence[Contribution], *, window: int, max_tokens: int
) -> Request:
    """Chat messages behind a system message with the memory."""
    language = moment.language
    memory = "\n".join(_listed(contributions, Place.MEMORY)) or words(language)["none"]
    system = render("reply", language, memory=memory, now=f"{moment.now:%Y-%m-%d}").messages
    last = Message(role="user", content=spoken(moment.session[-1]))
    if came := _listed(contributions, Place.RECALLED):
        recalled = "\n".join(f"- {text}" for text in came)
        (last,) = render("reply_recalled", language, recalled=recalled, text=last.content).messages
    fixed = sum(estimate_tokens(message.content) for message in (*system, last))
    earlier = latest(moment.session[:-1], window - max_tokens - fixed - 100)
    said = tuple(
        Message(role=turn.speaker.value, content=spoken(turn)) for turn in earlier if spoken(turn)
    )
    return Request(
        messages=(*system, *said, last), max_tokens=max_tokens, frequency_penalty=PENALTY
    )


PENALTY = 0.4
"""Small models at temperature 0 fall into loops ("rice cakes" ninety times) without one."""
_LOOP = re.compile(r"(.{6,80}?)\1{3}$", re.DOTALL)


def looping(text: str) -> bool:
    """Whether a reply has begun to say the same thing over and over."""
    return _LOOP.search(text[-400:]) is not None


FORMS: dict[str, ReplyForm] = {"chat": chat, "paper": paper}


def _listed(contributions: Sequence[Contribution], place: Place) -> list[str]:
    """The texts for that place, unable to close the marks they stand between."""
    return [quoted(c.text) for c in contributions if c.place is place]


def latest(turns: Sequence[Turn], room: int) -> list[Turn]:
    """As many of the latest turns as fit. What is left out here is still found by recall."""
    kept: list[Turn] = []
    for turn in reversed(turns):
        room -= estimate_tokens(turn.text) + 8
        if room < 0:
            break
        kept.append(turn)
    return kept[::-1]
