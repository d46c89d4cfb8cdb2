"""Meetings of the same two people, one after another, and what is known after each."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from omoide.domain import Sentence, Speaker
from omoide.memory.summary.facts import VOICES, Fact, pack, read_facts
from omoide.memory.summary.fitting import fitted
from omoide.tuning.stems import stems

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from omoide.tuning.told import Told

SINGLE = re.compile(
    r"(lives in|works as|works at|works for|drives|is \d+ years old|is from|was born in)\b.*"
    r"|has .+ as favorite (?P<kind>[a-z]+)"
)
"""Of these one is true at a time: who lives elsewhere no longer lives where they did."""


def chains(talks: Iterable[Told], dice: random.Random) -> Iterator[tuple[Told, ...]]:
    """The talks of each chain in order; a talk of none is cut into two or three meetings."""
    linked: dict[str, list[Told]] = defaultdict(list)
    for told, chain in ((told, told.chain) for told in talks):
        if chain:
            linked[chain].append(told)
            continue
        count = dice.choice((2, 3)) if len(told.lines) >= 15 else 2
        if len(told.lines) < 8 or len(told.facts) < 2:
            continue
        size = len(told.lines) // count
        cuts = [0, *(size * i for i in range(1, count)), len(told.lines)]
        yield tuple(told.part(a, b) for a, b in pairwise(cuts))
    yield from (tuple(one) for one in linked.values())


def joined(talks: Iterable[Told], most: int) -> Iterator[Told]:
    """Two meetings of a chain that follow one another as one long one, where the second takes
    nothing back and no speaker tells more than `most` in both."""
    linked: dict[str, list[Told]] = defaultdict(list)
    for told in talks:
        if told.chain:
            linked[told.chain].append(told)
    for chain in linked.values():
        for one, other in pairwise(chain):
            whole = one.then(other)
            counts = Counter(fact.about for _, fact in whole.facts)
            if (
                one.facts
                and other.facts
                and not other.changed
                and max(counts.values()) <= most
                and compatible(whole.of())
            ):
                yield whole


def known_after(known: Sequence[Fact], told: Told) -> list[Fact]:
    """What is known after a meeting: what still holds, what has changed, what is new."""
    gone = {old for old, _ in told.changed}
    found = [fact for fact in known if fact not in gone]
    for fact in told.of():
        if any(_says(other, fact) for other in found):
            continue
        found = [other for other in found if not _says(fact, other)]
        found.append(fact)
    return found


def carried(old: Sequence[Sentence], told: Told, *, limit: int) -> tuple[Sentence, ...]:
    """The memory after a meeting, as a model should write it: every sentence as it was, but for
    what has changed or is told more fully now; then what is new, the user's before the other's;
    and over the limit sentences joined as the product joins them. Only if that is not enough is
    all of it packed anew."""
    language = told.language
    before = [fact for sentence in old for fact in read_facts(sentence.text, language)]
    after = known_after(before, told)
    standing = [
        [fact for fact in read_facts(sentence.text, language) if fact in after] for sentence in old
    ]
    new = [[fact] for fact in after if fact not in before]
    groups = sorted(
        (group for group in (*standing, *new) if group),
        key=lambda g: g[0].about is not Speaker.USER,
    )
    sentences = [
        Sentence(
            text=Fact(
                about=group[0].about, text=VOICES[language].join.join(fact.text for fact in group)
            ).sentence(language),
            about=group[0].about,
        )
        for group in groups
    ]
    found = fitted(sentences, language, limit=limit)
    return found if len(found) <= limit else pack(after, language, limit=limit).sentences


def _says(one: Fact, other: Fact) -> bool:
    """Whether one fact has all the words of the other."""
    return one.about is other.about and stems(other.text) <= stems(one.text)


def kind(fact: Fact) -> str:
    """Of which sort a fact is, if of that sort only one can be true; else nothing."""
    found = SINGLE.fullmatch(fact.text)
    if not found:
        return ""
    return f"favorite {found['kind']}" if found["kind"] else re.sub(r"\d+", "N", found[1])


def compatible(facts: Iterable[Fact]) -> bool:
    """Whether no two of the facts are of a sort of which only one can be true."""
    kinds = [(fact.about, sort) for fact in facts if (sort := kind(fact))]
    return len(kinds) == len(set(kinds))


def alternatives(talks: Iterable[Told]) -> dict[str, list[str]]:
    """By sort, what is true of somebody."""
    found: dict[str, set[str]] = defaultdict(set)
    for told in talks:
        for fact in told.of():
            if sort := kind(fact):
                found[sort].add(fact.text)
    return {sort: sorted(texts) for sort, texts in found.items()}


def contradicted(
    chain: Sequence[Told], others: Mapping[str, Sequence[str]], dice: random.Random
) -> tuple[list[Fact], tuple[Told, ...]]:
    """What may have been true before the chain, and is so no more when it has told otherwise; and
    the chain with that change in it."""
    for number, told in enumerate(chain):
        for fact in told.of():
            sort = kind(fact)
            heard = " ".join(line.text for one in chain for line in one.lines).lower()
            fitting = [
                text
                for text in others.get(sort, ())
                if text != fact.text and text.split()[-1].lower() not in heard
            ]
            if sort and fitting:
                old = Fact(about=fact.about, text=dice.choice(fitting))
                changed = replace(told, changed=((old, fact),), hard=("changed",))
                return [old], (*chain[:number], changed, *chain[number + 1 :])
    return [], tuple(chain)
