"""The user's name: extracted by rule from their own words, and recognised in notes.

From "Hi, I'm Ana, I work in a bakery" a small model often notes everything but the name. The name
is the first thing an old friend knows, so it must not depend on the model: an introduction
(`language.names`) becomes a fact of its own, next to the model's notes.
"""

from __future__ import annotations

import re
from string import Template
from typing import TYPE_CHECKING

from omoide.claims.noted_facts import JOINED, NotedFact, phrasing
from omoide.domain import Speaker
from omoide.language import introduced_name, languages, pack
from omoide.prompts import vocabulary
from omoide.prompts.transcript import spoken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Turn
    from omoide.prompts.transcript import Line


def name_from_turns(session: Sequence[Line], language: str) -> str:
    """The name by which the user introduced themselves, the last if there are several."""
    name = ""
    for i, line in enumerate(session):
        if line.speaker is Speaker.USER:
            name = introduced_name(line.text, language, opening=i == 0) or name
    return name


def name_fact(name: str, language: str) -> NotedFact:
    """The fact that the user has that name, in the standard wording."""
    sentence = Template(vocabulary(language)["called"]).substitute(name=name)
    how = phrasing(language)
    return NotedFact(
        about=Speaker.USER, text=sentence.removeprefix(how.user).removesuffix(how.stop)
    )


def with_name(
    name: str, known: Sequence[NotedFact], new: Sequence[NotedFact], language: str
) -> tuple[list[NotedFact], list[NotedFact]]:
    """The known facts and the session's new facts (`new`), with the user's introduced name.

    The name becomes the first new fact and replaces the model's notes of it. Known facts that
    state the same name in other words are dropped."""
    if name:
        rest = [fact for fact in new if not _stated_name(fact, language, known=name)]
        new = [name_fact(name, language), *rest]
    names = {_stated_name(fact, language) for fact in new} - {""}
    older = [fact for fact in known if _stated_name(fact, language, known=name) not in names]
    return older, list(new)


def name_facts(facts: Sequence[NotedFact], language: str) -> list[NotedFact]:
    """The facts that state the user's name."""
    return [fact for fact in facts if _stated_name(fact, language)]


def _stated_name(fact: NotedFact, language: str, *, known: str = "") -> str:
    if fact.about is not Speaker.USER:
        return ""
    return named(fact.whole or fact.text, language, known=known)


def named(text: str, language: str, *, known: str = "") -> str:
    """The name, if a sentence or predicate about the user states a name and nothing else; empty
    otherwise. `known` is a known name, needed to recognise "is Ana"."""
    how = pack(language).names
    predicate = how.lead.sub("", text.strip()).rstrip(" .。．")
    if match := how.noted.fullmatch(predicate):
        name = next(part for part in match.groups() if part)
        if name == known or not how.unsure.match(predicate):
            return name
    if known and how.copula and re.fullmatch(how.copula.format(re.escape(known)), predicate):
        return known
    return ""


def name_in(sentence: str, language: str) -> str:
    """The user's name, if a memory sentence states it, alone or among other things; else empty."""
    return named(name_clause(sentence, language), language)


def name_clause(sentence: str, language: str) -> str:
    """The clause of a memory sentence that states the user's name; empty if none does. "…, called
    Miso" after a clause about a cat, a child or a friend is not the user's name."""
    language_pack = pack(language)
    for joined in JOINED.split(sentence):
        first, *later = language_pack.clauses.listed.split(joined)
        if not language_pack.names.later:
            later = [clause for clause in later if language_pack.names.lead.match(clause.strip())]
        for clause in (first, *later):
            if named(clause, language):
                return clause
    return ""


def introducing_turns(part: str, turns: Sequence[Turn]) -> list[str] | None:
    """The turns in which the user introduced themselves by the name that a sentence, or part of
    one, states. None if it does not state a name and nothing else."""
    for language in languages():
        if name := named(part, language):
            return [
                turn.id
                for i, turn in enumerate(turns)
                if turn.speaker is Speaker.USER
                and introduced_name(spoken(turn), language, opening=i == 0) == name
            ]
    return None
