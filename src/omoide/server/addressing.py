"""Memory as the page shows it: each note also as said to the person (`addressed`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omoide.claims.names import named
from omoide.domain import MemoryKind
from omoide.domain.fact import USER
from omoide.language import detect_language
from omoide.language.addressing import all_to_user, apposed_name, to_user
from omoide.server.json_values import to_json_value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omoide.domain import Event, Fact, Memo, SentenceChange, TimelineEntry
    from omoide.engine.memory import Memory
    from omoide.engine.versions import Because
    from omoide.mechanisms.base import Contribution
    from omoide.mechanisms.events.scoring import ForgettingCurve


@dataclass(frozen=True, kw_only=True)
class Addressing:
    """How to speak to one person."""

    name: str = ""

    @classmethod
    async def of(cls, memory: Memory, user: str) -> Addressing:
        """With the name that the user's facts state."""
        return cls(name=known_name(await memory.facts(user, about=USER)))

    def said(self, text: str, language: str = "", *, about_user: bool = True) -> str:
        """A note as said to the person."""
        language = language or detect_language(text)
        return to_user(text, language, name=self.name, about_user=about_user)

    def fact(self, fact: Fact) -> dict[str, Any]:
        """A fact as JSON."""
        about_user = fact.about == USER
        said = self.said(fact.text, fact.language, about_user=about_user)
        return {**_json(fact), "addressed": said}

    def entry(self, entry: TimelineEntry) -> dict[str, Any]:
        """An entry of the timeline as JSON."""
        fact, about_user = entry.fact, entry.fact.about == USER
        return {
            **_json(entry),
            "fact": self.fact(fact),
            "replaced": [self.fact(old) for old in entry.replaced],
            "reason_addressed": self.said(entry.reason, fact.language, about_user=about_user),
        }

    def reason(self, because: Because) -> dict[str, Any]:
        """A sentence of the summary with its turns, as JSON."""
        said = self.said(because.sentence.text)
        return {
            "sentence": {**_json(because.sentence), "addressed": said},
            "turns": to_json_value(because.turns),
        }

    def change(self, change: SentenceChange) -> dict[str, Any]:
        """A change of a sentence as JSON."""
        old, new = (None if text is None else self.said(text) for text in (change.old, change.new))
        return {**_json(change), "old_addressed": old, "new_addressed": new}

    def contribution(self, contribution: Contribution) -> dict[str, Any]:
        """What memory added to a prompt, as JSON. What was said stays as it was said."""
        text = contribution.text
        said = text if contribution.kind is MemoryKind.TURN else self.said(text)
        return {**_json(contribution), "addressed": said}

    def memo(self, memo: Memo) -> dict[str, Any]:
        """A memo as JSON."""
        said = all_to_user(memo.summary, detect_language(memo.summary), name=self.name)
        return {**_json(memo), "addressed": said}

    def event(self, event: Event) -> dict[str, Any]:
        """An event as JSON."""
        return {**_json(event), "addressed": self.said(event.text)}

    def curve(self, curve: ForgettingCurve) -> dict[str, Any]:
        """A forgetting curve as JSON."""
        return {**_json(curve), "event": self.event(curve.event)}


def known_name(facts: Iterable[Fact]) -> str:
    """The name that the newest of the facts with one states; empty if none does."""
    name = ""
    for fact in facts:
        found = named(fact.text, fact.language) or apposed_name(fact.text, fact.language)
        name = found or name
    return name


def _json(value: object) -> dict[str, Any]:
    shown = to_json_value(value)
    assert isinstance(shown, dict)  # noqa: S101 - a dataclass becomes one
    return shown
