"""Finds what a newer statement makes untrue, in notes and in events, by rule.

A model of 1.5 B parameters cannot do it: shown numbered old facts, it named the first in 27 of 29
cases, whatever the fact said (docs/experiments/2026-11-15-small-model-summary.md). So an older
statement about the same person is retired if a newer one

- states a change in the same part of life (`change.slots` of a pack: moved, quit, divorced);
- names another home, another state (single, married) or another name of the user;
- says that something has ended (no longer, stopped) and little else.

A plan or a single occasion ("this Thursday") makes nothing untrue by these; a planned move to
`another_home` says how long the old one is true. If no rule applies, both statements are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.claims.names import named
from omoide.claims.noted_facts import NotedFact
from omoide.claims.overlap import coverage
from omoide.language import as_last_clause, content_terms, pack, split_clauses

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Mapping, Sequence

    from omoide.domain import Event, Speaker
    from omoide.language.tables import Change, Slot

    Alike = Callable[[Event, Event], float]

SAME = 0.6
"""Share of a statement's terms that another must contain to be about the same thing."""
SAME_BIGRAMS = 0.4
"""The same for character bigrams, many of which are grammar and not shared."""
TOUCHED, TOUCHED_BIGRAMS = 0.3, 0.2
"""Share of the older statement's terms that the newer one must contain if it only says that
something ended."""
AGAIN = 0.8
"""Share from which the newer statement repeats the older one."""
ALIKE = 0.75
"""Relevance, on the paper's scale, from which two events may be about the same thing."""

BARELY = 0.15
"""Share of an event's terms that another must contain even if they are that alike."""
ANOTHER_NAME = "another name is given"


def contradiction(old: str, new: str, *, language: str, said: str = "") -> str | None:
    """How the newer text makes the older one untrue, in a few words; None if it does not. `said`
    is what the speaker said in the session: it may mention a change that the note leaves out."""
    if about(old, language) != about(new, language):
        return None
    return _of_one_person(old, new, language=language, said=said)


def _of_one_person(old: str, new: str, *, language: str, said: str) -> str | None:
    """As `contradiction`, for two texts about the same person."""
    cues = pack(language).change
    if _cannot_change(old, cues):
        return None
    for name, slot in cues.slots.items():
        if words := _changed(slot, old, new, said, cues):
            return f"{name} changed: “{words}”"
    if _moved(old, new, cues):
        return "home changed: another place is named"
    if _state(old, cues) != _state(new, cues) != "" != _state(old, cues):
        return "another state is named"
    if named(new, language) != named(old, language) != "" != named(new, language):
        return ANOTHER_NAME
    if any(_no_longer(old, part, language) for part in (new, *_clauses(new, language))):
        return "no longer so"
    return None


def _changed(slot: Slot, old: str, new: str, said: str, cues: Change) -> str:
    """The words that state a change in a part of life; empty if there are none."""
    change = slot.changed.search(new) if slot.talk.search(old) else None
    if change and not _planned(new, change, cues):
        ends = cues.left.search(change.group())
        return "" if not ends and _says_again(old, new, slot.talk) else change.group().strip()
    both_state = slot.held.search(old) and slot.held.search(new)
    match = slot.told.search(said) if both_state else None
    return match.group().strip() if match and not _planned(said, match, cues) else ""


def ends_something(text: str, language: str) -> bool:
    """Whether a text says that something is no longer true."""
    return bool(pack(language).change.ended.search(text))


def about(text: str, language: str) -> str:
    """Whom a sentence is about: the user, unless it begins with a relative of theirs."""
    kin = pack(language).change.relative.search(text)
    return kin.group("kin").lower() if kin else "user"


def _cannot_change(text: str, cues: Change) -> bool:
    """Whether a text cannot become untrue: it happened once, or has already ended."""
    return _single(text, cues) or bool(cues.ended.search(text))


def _single(text: str, cues: Change) -> bool:
    """Whether a text is about a single occasion."""
    return bool(cues.once.search(text)) and not cues.lasting.search(text)


def _planned(text: str, change: re.Match[str], cues: Change) -> bool:
    """Whether the change is only planned: a word for a plan is close to it."""
    before = text[max(change.start() - 24, 0) : change.end()]
    after = text[change.end() : change.end() + 8]
    return bool(cues.planned.search(before) or cues.planned.search(after))


def _says_again(old: str, new: str, talk: re.Pattern[str]) -> bool:
    """Whether the newer text repeats the old one's words apart from those of the slot."""
    rest = content_terms(talk.sub(" ", old.lower()))
    return bool(rest) and coverage(rest, content_terms(new)) >= AGAIN


def another_home(old: str, new: str, *, language: str) -> bool:
    """Whether the newer text names another home of the same person than the older one, be it only
    planned."""
    cues = pack(language).change
    if about(old, language) != about(new, language) or cues.planned.search(old):
        return False
    return not _cannot_change(old, cues) and _other_place(old, new, cues)


def _moved(old: str, new: str, cues: Change) -> bool:
    if _single(new, cues) or cues.planned.search(new):
        return False
    return _other_place(old, new, cues)


def _other_place(old: str, new: str, cues: Change) -> bool:
    places = [_place(text, cues) for text in (old, new)]
    if None in places:
        return False
    there, here = (content_terms(str(place)) for place in places)
    return bool(there and here) and not there & here


def _place(text: str, cues: Change) -> str | None:
    """The place someone is said to live in, if it has a name."""
    match = cues.place.search(text)
    if match is None:
        return None
    where = match.group("where")
    is_name = where[:1].isupper() or not where.isascii()
    return where if is_name and not where[:1].islower() else None


def _state(text: str, cues: Change) -> str:
    """The state that a text mentions, unless it is planned."""
    match = cues.states.search(text)
    if match is None or _planned(text, match, cues):
        return ""
    return (match.groupdict().get("state") or match.group()).lower()


def _no_longer(old: str, new: str, language: str, *, least: float | None = None) -> bool:
    rules = pack(language)
    if not rules.change.ended.search(new) or _single(new, rules.change):
        return False
    same = SAME if rules.words.bounded else SAME_BIGRAMS
    touched = _touched(language)
    before, after = content_terms(old), content_terms(new)
    shared = coverage(before, after)
    rest = content_terms(rules.change.ended.sub(" ", new.lower()))
    return shared >= (least or same) or (shared >= touched and coverage(rest, before) >= SAME)


def _touched(language: str) -> float:
    return TOUCHED if pack(language).words.bounded else TOUCHED_BIGRAMS


# ── Events ──────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True)
class RetiredEvent:
    """An event that is no longer true, the newer event that says so, and why."""

    old: str
    by: str
    why: str


def retired_events(
    old: Sequence[Event], new: Sequence[Event], *, language: str, alike: Alike | None = None
) -> tuple[RetiredEvent, ...]:
    """Which of `old` are made untrue by which of `new`; each at most once, by the newest."""
    retired: dict[str, RetiredEvent] = {}
    for newer in sorted(new, key=lambda event: event.time):
        for older in old:
            if older.id == newer.id or older.superseded_by or older.time >= newer.time:
                continue
            why = contradiction(older.text, newer.text, language=language)
            if not why and alike and alike(older, newer) >= ALIKE:
                why = _ended(older.text, newer.text, language)
            if why:
                retired[older.id] = RetiredEvent(old=older.id, by=newer.id, why=why)
    return tuple(retired.values())


def _ended(old: str, new: str, language: str) -> str | None:
    """Why an older event is over that resembles a newer one but shares few words with it."""
    if about(old, language) != about(new, language) or _cannot_change(old, pack(language).change):
        return None
    return "no longer so" if _no_longer(old, new, language, least=BARELY) else None


# ── Notes ───────────────────────────────────────────────────────────────────────────────────


def retire(
    old: Sequence[NotedFact],
    new: Sequence[NotedFact],
    language: str,
    *,
    said: Mapping[Speaker, str],
) -> tuple[list[NotedFact], list[NotedFact]]:
    """The old facts that still hold, and the facts or clauses that do not. Of "lives in Leeds with
    her dog" only Leeds is retired: what nothing contradicts is kept."""
    holding: list[NotedFact] = []
    untrue: list[NotedFact] = []
    for fact in old:
        # What is told of a relative is not divided: the rest would be told of the user.
        whose = about(fact.whole or fact.text, language)
        whole = fact.whole or whose != "user"
        clauses = [fact.text] if whole else _clauses(fact.text, language)
        words = said.get(fact.about, "")
        gone = {
            clause
            for clause in clauses
            if any(_replaces(newer, clause, fact, language, words) for newer in new)
        }
        if not gone:
            holding.append(fact)
            continue
        untrue += [NotedFact(about=fact.about, text=clause) for clause in clauses if clause in gone]
        rest = [left for clause in clauses if (left := _left(clause, clause in gone, language))]
        if rest:
            rest[-1] = as_last_clause(rest[-1], language)
            comma = pack(language).note.comma
            holding.append(NotedFact(about=fact.about, text=comma.join(rest)))
    return holding, untrue


def _replaces(newer: NotedFact, clause: str, fact: NotedFact, language: str, said: str) -> bool:
    """Whether a newer fact makes a clause of an older one untrue. A clause is about whomever the
    whole fact is about, and a name in only part of a fact is not the user's."""
    if newer.about is not fact.about or newer.text == fact.text:
        return False
    whose = about(newer.whole or newer.text, language)
    if about(fact.whole or fact.text, language) != whose:
        # "has a cat, Miso" is about the user, "User's cat Miso died" about the cat
        return whose in fact.text.lower() and _no_longer(
            clause, newer.text, language, least=_touched(language)
        )
    why = _of_one_person(clause, newer.text, language=language, said=said)
    return why is not None and (why != ANOTHER_NAME or clause == fact.text)


def _clauses(text: str, language: str) -> list[str]:
    """The clauses of a fact, in order; Korean chains clauses without a comma."""
    return [
        clause
        for part in pack(language).clauses.listed.split(text)
        for clause in split_clauses(part, language)
        if clause
    ]


def _left(clause: str, gone: bool, language: str) -> str:
    """The part of a clause that still holds: all of it, or of a former home, who shared it."""
    if not gone:
        return clause
    match = pack(language).change.company.match(clause)
    return "".join(part for part in match.groups() if part) if match else ""
