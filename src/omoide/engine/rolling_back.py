"""What rolling back to an old version does to facts. Nothing is overwritten: what was learned since
ends, and what ended since comes back as a new fact."""

from __future__ import annotations

from dataclasses import dataclass, replace
from string import Template
from typing import TYPE_CHECKING

from omoide.domain import FactChanges, FactEnd
from omoide.mechanisms.facts.repeats import fact_id
from omoide.prompts import vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from omoide.domain import Fact, Sentence, Summary


@dataclass(frozen=True, kw_only=True)
class RolledBack:
    """The changes that bring the facts of an old version back."""

    changes: FactChanges
    renamed: Mapping[str, str]
    """For each fact that comes back, the id of the new one."""
    texts: Mapping[str, str]
    """Ids of the facts that hold afterwards, by text."""

    def sentence(self, old: Sentence) -> Sentence:
        """A sentence of the old version that refers to the fact that holds now."""
        if old.fact:
            return replace(old, fact=self.renamed.get(old.fact, old.fact))
        return replace(old, fact=self.texts.get(old.text, ""))


def roll_back(facts: Sequence[Fact], target: Summary, *, number: int, now: datetime) -> RolledBack:
    """The changes that make what held at the time of the version `target` hold again. `number` is
    that of the new version."""
    then = [fact for fact in facts if target.number and _held(fact, target.time)]
    holding = {fact.id: fact for fact in facts if not fact.has_ended(now)}
    kept = {(fact.about, fact.text): fact.id for fact in holding.values()}
    renamed: dict[str, str] = {}
    added: dict[str, Fact] = {}
    for fact in then:
        if fact.id in holding:
            continue
        if same := kept.get((fact.about, fact.text)):
            renamed[fact.id] = same
            continue
        back = _again(fact, target, number=number, now=now)
        renamed[fact.id] = back.id
        added[back.id] = back
    wanted = {fact.id for fact in then} | set(renamed.values())
    gone = [fact for fact in holding.values() if fact.id not in wanted]
    successors = {fact.ended_by: renamed[fact.id] for fact in then if fact.id in renamed}
    ended = []
    for fact in gone:
        by = successors.get(fact.id, "")
        reason = _reason(fact.language, target)
        ended.append(FactEnd(id=fact.id, at=now, by=by, reason=reason))
    left = [fact for fact in holding.values() if fact.id in wanted]
    return RolledBack(
        changes=FactChanges(added=tuple(added.values()), ended=tuple(ended)),
        renamed=renamed,
        texts={fact.text: fact.id for fact in (*left, *added.values())},
    )


def _held(fact: Fact, at: datetime) -> bool:
    """Whether it had been learned and had not ended. That it expired is the user's wish, which a
    rollback does not change."""
    return fact.learned <= at and not fact.has_ended(at)


def _again(fact: Fact, target: Summary, *, number: int, now: datetime) -> Fact:
    return replace(
        fact.holding_again(),
        id=fact_id(-number, fact.about, fact.text),
        learned=now,
        supersedes=(),
        reason=_reason(fact.language, target),
    )


def _reason(language: str, target: Summary) -> str:
    words = vocabulary(language)["fact_brought_back"]
    return Template(words).substitute(n=target.number)
