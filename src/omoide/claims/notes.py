"""Whether a small model's note is a note at all: not talk, and not copied from the prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.language import pack
from omoide.prompts import vocabulary

if TYPE_CHECKING:
    from omoide.claims.noted_facts import NotedFact


def not_a_note(fact: NotedFact, language: str) -> str:
    """Why a fact is chat rather than a note; empty if it is a note."""
    rules = pack(language)
    if rules.note.talk.search(fact.text):
        return "it is talk"
    if rules.person.first.search(rules.person.reflexive.sub(" ", fact.text)):
        return "it is in the first person"
    return ""


def from_example(fact: NotedFact, said: str, language: str) -> str:
    """Why a fact comes from the worked example and not from its speaker; empty if it does not."""
    if any(name in fact.text and name not in said for name in _examples(language)):
        return "it comes from the prompt's example"
    return ""


def _examples(language: str) -> tuple[str, ...]:
    """The names in the prompt's worked example: a sentence in which only the name is wrong would
    pass as supported."""
    return tuple(vocabulary(language)["example_names"].split(", "))
