"""Makes facts of summaries that were not chosen from facts: each sentence becomes a fact with its
sources, and one that a later version no longer holds is an ended fact."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.domain import (
    ChangeKind,
    Fact,
    FactChanges,
    FactEnd,
    FactFilter,
    Origin,
    Speaker,
    Trust,
    diff,
    weakest,
)
from omoide.domain.fact import USER
from omoide.mechanisms.facts.repeats import fact_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Owner, Sentence, Summary, Turn
    from omoide.ports import Store


async def adopt(store: Store, owner: Owner) -> None:
    """Store the facts that the owner's summaries state, if they are not stored yet."""
    if (changes := await unadopted(store, owner)) is not None:
        await store.facts.apply(owner, changes)


async def unadopted(store: Store, owner: Owner) -> FactChanges | None:
    """The changes that make facts of the owner's summaries; None if the newest version was chosen
    from facts. Applying them again changes nothing."""
    newest = await store.summaries.find(owner)
    if newest is None:
        return None
    chosen = all(sentence.fact for sentence in newest.sentences)
    if chosen and await store.facts.read(owner, only=FactFilter(newest=1)):
        return None
    history = await store.summaries.history(owner)
    cited = {source for version in history for source in version.sources}
    turns = await store.turns.read(owner, ids=sorted(cited))
    return facts_of_history(history, turns)


def facts_of_history(history: Sequence[Summary], turns: Sequence[Turn]) -> FactChanges:
    """The facts that the versions of a summary state, oldest version first. Sentences that were
    chosen from facts add none, and what such a version leaves out still holds."""
    by_id = {turn.id: turn for turn in turns}
    added: dict[str, Fact] = {}
    ended: dict[str, FactEnd] = {}
    current: dict[str, str] = {}
    before: tuple[Sentence, ...] = ()
    for version in history:
        sentences = {sentence.text: sentence for sentence in version.sentences}
        chosen = any(sentence.fact for sentence in version.sentences)
        for change in diff(before, version.sentences):
            new = ""
            if change.new is not None and change.new not in current:
                new = sentences[change.new].fact
                if not new:
                    fact = _fact(sentences[change.new], version, by_id)
                    new = fact.id
                    added.setdefault(new, fact)
                    ended.pop(new, None)
                current[change.new] = new
            if change.old is not None and change.change is not ChangeKind.KEPT:
                old = current.pop(change.old, "")
                if old and old != new and not chosen:
                    ended[old] = FactEnd(
                        id=old,
                        at=version.time,
                        by=new,
                        reason=f"no longer in version {version.number} of the memory",
                    )
        before = version.sentences
    for end in ended.values():
        if newer := added.get(end.by):
            added[end.by] = replace(newer, reason=newer.reason or end.reason)
    return FactChanges(added=tuple(added.values()), ended=tuple(ended.values()))


def _fact(sentence: Sentence, version: Summary, turns: dict[str, Turn]) -> Fact:
    cited = [turns[id_] for id_ in sentence.sources if id_ in turns]
    by = {Speaker.USER: Trust.USER, Speaker.ASSISTANT: Trust.ASSISTANT}
    about = sentence.about.value if sentence.about else USER
    trust = weakest(by[turn.speaker] for turn in cited)
    made_from = version.session or 0
    if version.origin is Origin.ROLLBACK:  # what it brings back is a fact of its own
        made_from = -version.number
    return Fact(
        id=fact_id(made_from, about, sentence.text),
        about=about,
        text=sentence.text,
        said=min((turn.time for turn in cited), default=version.time),
        learned=version.time,
        language=version.language,
        session=max((turn.session for turn in cited), default=version.session),
        sources=tuple(turn.id for turn in cited),
        trust=Trust.CORRECTED if version.origin is Origin.EDIT else trust,
    )
