"""What a small model's reply must not say, checked before it is shown.

A model of 1.5 B parameters denies what stands in its notes, says an earlier reply again, asks for
what it was just told, and takes a worked example of its prompt for the user's life, or the user's
people for its own. One more try, with the reason in the prompt, often mends it. Strong models are
not checked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum
from string import Template
from typing import TYPE_CHECKING

from omoide.language import content_terms, pack, split_sentences
from omoide.mechanisms.reply_notes import is_known, told_here
from omoide.mechanisms.search.excerpt import excerpt
from omoide.ports import Skill
from omoide.prompts import vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.mechanisms.base import Contribution, ReplyRequest
    from omoide.ports import Request

SAME = 0.85
"""The likeness of two sentences, by their characters, from which one is the other said again."""
OWN = 10
"""Letters that a sentence must have to be anybody's own: "That's great!" may be said again."""

TOLD = 0.65
"""The share of a question's words that the message says, from which it asks for what was told. Of
637 good replies with a question (the training stories) six have one with so many."""

QUOTED = 60
"""Most tokens of the user's own words that stand in for a reply."""


class ReplyFault(StrEnum):
    """Why a reply, or a sentence of it, is not shown. The value names the reason in the prompt of
    the next try."""

    DENIES = "reply_denies"
    """It denies knowing what memory knows."""
    ECHOES = "reply_echoes"
    """It says an earlier reply, a worked example or the message again."""
    ASKS_TOLD = "reply_asks_told"
    """It asks for what the message says."""
    INVENTS = "reply_invents"
    """It speaks of what only a worked example tells."""
    CLAIMS = "reply_claims"
    """It counts itself among the user's people."""
    OVERLOOKS = "reply_overlooks"
    """It has nothing of what the user told in this session and now asks for."""


@dataclass(frozen=True, kw_only=True)
class ReplyChecks:
    """The checks of the reply to one request."""

    language: str
    message: str
    known: bool
    """Whether it answers a question whose answer memory is likely to hold."""
    said: tuple[str, ...] = ()
    """What was said before in the prompt: earlier replies, the worked examples, the message."""
    told: str = ""
    """All that the user and the assistant said in the session, and what memory holds."""
    told_here: str = ""
    """What the user said in this session that answers their question."""

    @property
    def whole(self) -> bool:
        """Whether the reply is held back until it is complete. A denial may stand in any sentence
        of it, so an answer from memory is; anything else is shown sentence by sentence."""
        return self.known

    def fault(self, text: str) -> ReplyFault | None:
        """What is wrong with a reply or a part of it; None if nothing is."""
        rules = pack(self.language).replies
        if self.known and rules.denies.search(text):
            return ReplyFault.DENIES
        if self._overlooks(text):
            return ReplyFault.OVERLOOKS
        if self._is_from_example(text):
            return ReplyFault.INVENTS
        if (us := rules.together.search(text)) and us["name"] in self.told:
            return ReplyFault.CLAIMS
        sentences = [s for s in map(str.strip, split_sentences(text)) if s]
        if any(_is_question(s) and self._was_told(s) for s in sentences):
            return ReplyFault.ASKS_TOLD
        if any(self._is_echo(sentence) for sentence in sentences):
            return ReplyFault.ECHOES
        return None

    @property
    def instead(self) -> str:
        """What is shown if no try is without a fault: the user's own words, if they answer; else
        nothing, and the reply is shown as it is."""
        if not self.told_here:
            return ""
        words = excerpt(self.told_here, self.message, tokens=QUOTED)
        return Template(vocabulary(self.language)["reply_told"]).substitute(text=words)

    def _overlooks(self, text: str) -> bool:
        """Whether a whole reply has no word of what the user told, beyond those of the question."""
        news = content_terms(self.told_here) - content_terms(self.message)
        return self.whole and bool(news) and news.isdisjoint(content_terms(text))

    def _was_told(self, question: str) -> bool:
        """Whether the message says what the question asks: a name, or most of its words."""
        rules = pack(self.language).replies
        if rules.gives_name.search(self.message) and rules.asks_name.search(question):
            return True
        asked = content_terms(question)
        told = content_terms(
            " ".join(s for s in split_sentences(self.message) if not _is_question(s))
        )
        return len(asked) > 1 and len(asked & told) >= TOLD * len(asked)

    def _is_from_example(self, text: str) -> bool:
        """Whether it names something of the worked examples of which nobody said a word."""
        things = vocabulary(self.language)["reply_example_things"].split(", ")
        named = [thing for thing in things if thing.casefold() in text.casefold()]
        told = content_terms(self.told) if named else set()
        return any(told.isdisjoint(content_terms(thing)) for thing in named)

    def _is_echo(self, sentence: str) -> bool:
        letters = _letters(sentence)
        return len(letters) >= OWN and any(
            SequenceMatcher(None, letters, _letters(other), autojunk=False).ratio() >= SAME
            for said in self.said
            for other in split_sentences(said)
        )


def checks_for(
    asked: ReplyRequest, contributions: Sequence[Contribution], request: Request
) -> ReplyChecks:
    """The checks of the reply to a request in the small form."""
    replies = [m.content for m in request.messages if m.role == "assistant"]
    told = (asked.text, *(t.text for t in asked.session), *(c.text for c in contributions))
    return ReplyChecks(
        language=asked.language,
        message=asked.text,
        known=request.skill is Skill.ANSWER and is_known(asked, contributions),
        said=(*replies, asked.text),
        told="\n".join(told),
        told_here=told_here(asked, contributions) if request.skill is Skill.ANSWER else "",
    )


def tried_again(request: Request, fault: ReplyFault, *, language: str) -> Request:
    """The request once more, with the reason after the last message."""
    *before, last = request.messages
    reason = vocabulary(language)[fault.value]
    return replace(request, messages=(*before, replace(last, content=f"{last.content}\n{reason}")))


def _is_question(sentence: str) -> bool:
    return sentence.strip().endswith(("?", "？"))


def _letters(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())
