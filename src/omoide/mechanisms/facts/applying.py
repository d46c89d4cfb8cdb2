"""Turns the operations of an answer into changes of facts: with sources, absolute dates, trust, and
flags for what people should look at. Nothing is dropped: what cannot become a change is set aside.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime, time, timedelta
from enum import StrEnum
from string import Template
from typing import TYPE_CHECKING

from omoide.claims.citation import cite_sources
from omoide.domain import (
    Fact,
    FactChanges,
    FactConfirmation,
    FactEnd,
    FactKind,
    Sentence,
    Speaker,
    Trust,
    weakest,
)
from omoide.domain.fact import ASSISTANT, USER
from omoide.mechanisms.facts.days import (
    DATED,
    dated_sentence,
    day_of_end,
    days_of,
    in_order,
    kind_by_days,
    last_day_ahead,
    last_day_of,
    rewritten,
    with_days,
)
from omoide.mechanisms.facts.operations import Action, SetAside
from omoide.mechanisms.facts.repeats import (
    fact_id,
    said_already,
    said_by_user,
    with_both,
    with_new_days,
    with_other_end,
)
from omoide.mechanisms.facts.trust import may_end, own_words_for, trust_of
from omoide.prompts import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date

    from omoide.domain import Turn
    from omoide.mechanisms.facts.operations import Operation

UNSUPPORTED = "no turn supports it"
OUTRANKED = "it contradicts a fact from a more trusted source, which still holds"
UNASKED = "no line of the user asks for it"
TURNED = "its last day is before its first"


class Outcome(StrEnum):
    """What became of an entry of an answer."""

    ADDED = "added"
    REPLACED = "replaced"
    """Added or said again, and known facts ended by it."""
    ENDED = "ended"
    CONFIRMED = "confirmed"
    REPEATED = "repeated"
    """It repeats another entry of the same answer."""
    ASIDE = "set aside"


@dataclass(frozen=True, kw_only=True)
class AppliedAnswer:
    """What an answer changes, and what was set aside."""

    changes: FactChanges
    aside: tuple[SetAside, ...] = ()
    outcomes: Mapping[Outcome, int] = field(default_factory=dict)
    """How many entries ended in which way; together as many as went in."""


def apply_operations(
    operations: Iterable[Operation],
    *,
    known: Sequence[Fact],
    turns: Sequence[Turn],
    session: int,
    at: datetime,
    language: str,
) -> AppliedAnswer:
    """The changes that the operations make to the known facts."""
    application = _Application(
        known={fact.id: fact for fact in known},
        turns=turns,
        session=session,
        at=at,
        language=language,
    )
    for operation in operations:
        application.apply(operation)
    return application.result


class _Application:
    """Applies the operations of one answer, in order."""

    def __init__(
        self,
        *,
        known: dict[str, Fact],
        turns: Sequence[Turn],
        session: int,
        at: datetime,
        language: str,
    ) -> None:
        self._known = known
        self._turns = turns
        self._by_id: Mapping[str, Turn] = {turn.id: turn for turn in turns}
        self._session = session
        self._at = at
        self._language = language
        self._added: dict[str, Fact] = {}
        self._of_text = {fact.text: id_ for id_, fact in known.items()}
        self._ended: dict[str, FactEnd] = {}
        self._confirmed: list[FactConfirmation] = []
        self._aside: list[SetAside] = []
        self._outcomes: Counter[Outcome] = Counter()

    @property
    def result(self) -> AppliedAnswer:
        """All changes so far."""
        return AppliedAnswer(
            changes=FactChanges(
                added=tuple(self._added.values()),
                ended=tuple(self._ended.values()),
                confirmed=tuple(self._confirmed),
            ),
            aside=tuple(self._aside),
            outcomes=dict(self._outcomes),
        )

    def apply(self, operation: Operation) -> None:
        """Apply one operation."""
        if operation.action is Action.CONFIRM:
            outcome = self._confirm(operation)
        elif operation.action is Action.END:
            outcome = self._end_alone(operation)
        elif operation.action is Action.FORGET:
            outcome = self._forget(operation)
        else:
            outcome = self._add(operation)
        if not operation.by_rule:
            self._outcomes[outcome] += 1

    def _confirm(self, operation: Operation) -> Outcome:
        if not operation.facts:
            return Outcome.REPEATED
        outcome = Outcome.CONFIRMED
        for id_ in operation.facts:
            old = self._known[id_]
            sources = operation.turns or self._cited(operation, old.text)
            changed = with_new_days(old, operation, sources)
            if changed and self._may_end(id_, self._trust(changed, old.text, sources)):
                outcome = self._add(changed)
            else:
                self._say_again(id_, sources, reason=operation.reason)
        return outcome

    def _say_again(self, id_: str, sources: tuple[str, ...], *, reason: str) -> str:
        """Confirm a known fact. One that the user had not said, but says now, becomes a new fact
        with the user's trust: what a fact rests on is never rewritten. Returns the id of the fact
        that holds."""
        old = self._known[id_]
        own = own_words_for(old.text, sources, turns=self._turns, language=self._language)
        weaker = weakest((old.trust, Trust.USER)) is not Trust.USER
        if not (weaker and own) or old.about == ASSISTANT or id_ in self._ended:
            self._confirmed.append(FactConfirmation(id=id_, at=self._at, sources=sources))
            return id_
        new = replace(
            said_by_user(old, own, said=self._said(own), at=self._at, session=self._session),
            reason=reason,
            flags=tuple(flag for flag in old.flags if flag != OUTRANKED),
        )
        self._added[new.id] = new
        self._of_text[new.text] = new.id
        self._ended[id_] = FactEnd(id=id_, at=self._at, by=new.id, reason=reason, sources=own)
        return new.id

    def _end_alone(self, operation: Operation) -> Outcome:
        outcome = Outcome.ASIDE
        for id_ in operation.facts:
            old = self._known[id_]
            sources = operation.turns or self._cited(operation, old.text)
            if not self._may_end(id_, self._trust(operation, old.text, sources)):
                self._set_aside(old.text, OUTRANKED)
                continue
            outcome = Outcome.ENDED
            until, at = operation.until, self._at
            if until and until > at.date() and old.kind not in DATED:
                at = self._midnight_after(until)  # else it ends at once: a plan is given up
            end = FactEnd(
                id=id_,
                at=at,
                until=until or last_day_of(old, self._said(sources).date()),
                reason=operation.reason,
                sources=sources,
            )
            self._ended.setdefault(id_, end)
        return outcome

    def _forget(self, operation: Operation) -> Outcome:
        """End the facts that the user wants forgotten, by one that says no more than that and ends
        at once. It rests on the lines named, so that recall leaves these out too."""
        cited = [turn for turn in self._turns if turn.id in operation.turns]
        asked = [turn.id for turn in cited if turn.speaker is Speaker.USER]
        words = vocabulary(self._language)
        text = Template(words["fact_forgotten"]).substitute(user=words["user"])
        if not asked:
            return self._set_aside(text, UNASKED)
        said = self._said(asked)
        id_ = fact_id(self._session, USER, f"{text} {' '.join(operation.turns)}")
        if id_ in self._added:
            return Outcome.REPEATED
        self._added[id_] = Fact(
            id=id_,
            about=USER,
            text=text,
            said=said,
            learned=self._at,
            kind=FactKind.EVENT,
            language=self._language,
            session=self._session,
            sources=operation.turns,
            supersedes=tuple(old for old in operation.facts if old not in self._ended),
        )
        for old, by in (*((old, id_) for old in operation.facts), (id_, "")):
            end = FactEnd(id=old, at=self._at, by=by, sources=operation.turns, forgotten=True)
            self._ended.setdefault(old, end)
        return Outcome.ENDED

    def _add(self, operation: Operation) -> Outcome:
        sources = operation.turns or self._cited(operation, operation.text)
        if operation.by_rule and operation.facts:  # what is left of a known fact
            sources = self._known[operation.facts[0]].sources
        if not sources:
            return self._set_aside(operation.text, UNSUPPORTED)
        new = self._fact(operation, sources)
        twin = said_already(new, self._holding())
        if twin:
            new = replace(new, id=self._say_again(twin, sources, reason=operation.reason))
        if twin or new.id in self._added:
            again = self._replacing(new, operation)
            if earlier := self._added.get(new.id):
                self._added[new.id] = with_both(earlier, again)
            if again.supersedes:
                return Outcome.REPLACED
            return Outcome.CONFIRMED if twin else Outcome.REPEATED
        if other := with_other_end(new, self._holding()):
            facts = tuple(dict.fromkeys((*operation.facts, other)))
            operation = replace(operation, action=Action.REPLACE, facts=facts)
        new = self._replacing(new, operation)
        self._added[new.id] = new
        self._of_text[operation.text] = new.id
        return Outcome.REPLACED if new.supersedes else Outcome.ADDED

    def _set_aside(self, text: str, reason: str) -> Outcome:
        self._aside.append(SetAside(text=text, reason=reason))
        return Outcome.ASIDE

    def _fact(self, operation: Operation, sources: tuple[str, ...]) -> Fact:
        said, language, flags = self._said(sources), self._language, operation.flags
        day, about = said.date(), operation.about or USER
        dated = dated_sentence(operation, day, language=language)
        text, (since, until) = dated.text, days_of(operation, dated, said=day)
        if since and until and until < since:
            flags = (*flags, TURNED)
            since, until = in_order(since, until, text=text, said=day)
        elif not self._replaces_state(operation):
            until = until or last_day_ahead(operation, said=day, language=language)
        kind = kind_by_days(operation.kind, since=since, until=until, day=day)
        if TURNED not in flags:
            text = with_days(text, since, until, said=day, kind=kind, language=language)
        return Fact(
            id=fact_id(self._session, about, text),
            about=about,
            text=text,
            said=said,
            learned=self._at,
            kind=kind,
            language=language,
            session=self._session,
            since=since,
            until=until,
            sources=sources,
            trust=self._trust(operation, text, sources),
            reason=operation.reason,
            flags=(*flags, *rewritten(operation, dated)),
        )

    def _replaces_state(self, operation: Operation) -> bool:
        """Whether the operation replaces how things are, or a plan that does: then it is how they
        are from its first day on."""
        if operation.action is not Action.REPLACE:
            return False
        old = [self._known[id_] for id_ in operation.facts]
        return any(fact.kind not in DATED or fact.supersedes for fact in old)

    def _replacing(self, new: Fact, operation: Operation) -> Fact:
        """The new fact, once it has ended those that it replaces. A plan ends what holds until then
        when its days are over, or not at all without a day; nothing ends a fact from a more trusted
        source."""
        if operation.action is not Action.REPLACE and not operation.until_then:
            return new
        named = list(self._replaced(new, operation))
        known = [id_ for id_ in named if id_ in self._known]
        outranked = [id_ for id_ in known if not self._may_end(id_, new.trust)]
        replaced = []
        for id_ in named:
            end = self._end(id_, new, operation)
            if end is not None and id_ not in (new.id, *outranked, *self._ended):
                self._ended[id_] = end
                replaced.append(id_)
        flags = (*new.flags, OUTRANKED) if outranked else new.flags
        return replace(new, supersedes=tuple(replaced), flags=flags)

    def _replaced(self, new: Fact, operation: Operation) -> Iterable[str]:
        """What the new fact replaces: a plan also what holds until then, and what the plan that it
        puts off would have ended."""
        if new.kind is not FactKind.PLAN:
            return operation.facts
        names = (name for id_ in operation.facts for name in self._known[id_].supersedes)
        texts = (text for text in operation.until_then if text in self._of_text)
        ending = (name for name in names if name in self._known)
        return dict.fromkeys((*operation.facts, *ending, *(self._of_text[t] for t in texts)))

    def _end(self, id_: str, new: Fact, operation: Operation) -> FactEnd | None:
        """The end of a known fact by the new one; None if the new one is planned for no day."""
        old, at = self._found(id_), self._at
        last = day_of_end(new, old)
        if new.kind is FactKind.PLAN and old.kind not in DATED:
            if new.since is None or new.since <= new.said.date():
                return None
            last = new.until or new.since - timedelta(days=1)
            at = self._midnight_after(last)
        return FactEnd(
            id=id_,
            at=at,
            until=last_day_of(old, last),
            by=new.id,
            reason=operation.reason,
            sources=new.sources,
        )

    def _midnight_after(self, day: date) -> datetime:
        return datetime.combine(day + timedelta(days=1), time(), tzinfo=self._at.tzinfo)

    def _found(self, id_: str) -> Fact:
        return self._known.get(id_) or self._added[id_]

    def _may_end(self, id_: str, trust: Trust) -> bool:
        return may_end(self._known[id_].trust, trust)

    def _holding(self) -> list[Fact]:
        """The known facts that no entry has ended so far."""
        return [fact for fact in self._known.values() if fact.id not in self._ended]

    def _said(self, sources: Iterable[str]) -> datetime:
        times = [self._by_id[id_].time for id_ in sources if id_ in self._by_id]
        return min(times, default=self._turns[-1].time if self._turns else self._at)

    def _cited(self, operation: Operation, text: str) -> tuple[str, ...]:
        about = operation.about
        speaker = Speaker(about) if about in (USER, ASSISTANT) else None
        (cited,) = cite_sources([Sentence(text=text, about=speaker)], old=(), turns=self._turns)
        return cited.sources

    def _trust(self, operation: Operation, text: str, sources: Sequence[str]) -> Trust:
        if operation.by_rule and operation.facts:  # nobody said anew what is left of a known fact
            return self._known[operation.facts[0]].trust
        return trust_of(
            text,
            sources,
            turns=self._turns,
            about=operation.about or USER,
            language=self._language,
            known=[self._known[id_].text for id_ in operation.facts if operation.text],
            ends=not operation.text,
        )
