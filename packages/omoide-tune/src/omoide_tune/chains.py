"""Chains of meetings between the same two people, and what is known after each."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from omoide.claims import NotedFact, pack, phrasing, read_facts
from omoide.domain import Sentence, Speaker
from omoide.mechanisms.summary import shortened
from omoide_tune.stem_cache import stems

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from omoide_tune.checked_talks import CheckedTalk

SINGLE = re.compile(
    r"(lives in|works as|works at|works for|drives|is \d+ years old|is from|was born in)\b.*"
    r"|has .+ as favorite (?P<kind>[a-z]+)"
)
"""Only one of each kind is true at a time: a new home replaces the old one."""


def chains(talks: Iterable[CheckedTalk], dice: random.Random) -> Iterator[tuple[CheckedTalk, ...]]:
    """The talks of each chain in order; a single talk is cut into two or three meetings."""
    linked: dict[str, list[CheckedTalk]] = defaultdict(list)
    for checked, chain in ((checked, checked.chain) for checked in talks):
        if chain:
            linked[chain].append(checked)
            continue
        count = dice.choice((2, 3)) if len(checked.lines) >= 15 else 2
        if len(checked.lines) < 8 or len(checked.facts) < 2:
            continue
        size = len(checked.lines) // count
        cuts = [0, *(size * i for i in range(1, count)), len(checked.lines)]
        yield tuple(checked.part(a, b) for a, b in pairwise(cuts))
    yield from (tuple(one) for one in linked.values())


def joined(talks: Iterable[CheckedTalk], most: int) -> Iterator[CheckedTalk]:
    """Pairs of consecutive meetings of a chain joined into one, if the second retracts nothing and
    no speaker has more than `most` facts in both."""
    linked: dict[str, list[CheckedTalk]] = defaultdict(list)
    for checked in talks:
        if checked.chain:
            linked[checked.chain].append(checked)
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


def known_after(known: Sequence[NotedFact], checked: CheckedTalk) -> list[NotedFact]:
    """What is known after a meeting: what still holds, what changed, and what is new."""
    gone = {old for old, _ in checked.changed}
    found = [fact for fact in known if fact not in gone]
    for fact in checked.of():
        if any(_says(other, fact) for other in found):
            continue
        found = [other for other in found if not _says(fact, other)]
        found.append(fact)
    return found


def carried(old: Sequence[Sentence], checked: CheckedTalk, *, limit: int) -> tuple[Sentence, ...]:
    """The memory after a meeting, as a model should write it: every sentence unchanged, except for
    what changed or is now told in more detail; then what is new, the user's first. Over the limit,
    sentences are joined as the product joins them. Only if that is not enough is the whole memory
    packed again."""
    language = checked.language
    before = [fact for sentence in old for fact in read_facts(sentence.text, language)]
    after = known_after(before, checked)
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
            text=NotedFact(
                about=group[0].about, text=phrasing(language).join.join(fact.text for fact in group)
            ).sentence(language),
            about=group[0].about,
        )
        for group in groups
    ]
    found = shortened(sentences, language, limit=limit)
    return found if len(found) <= limit else pack(after, language, limit=limit).sentences


def _says(one: NotedFact, other: NotedFact) -> bool:
    """Whether `one` contains all the words of `other`."""
    return one.about is other.about and stems(other.text) <= stems(one.text)


def kind(fact: NotedFact) -> str:
    """The kind of a fact, if only one fact of that kind can be true; else an empty string."""
    found = SINGLE.fullmatch(fact.text)
    if not found:
        return ""
    return f"favorite {found['kind']}" if found["kind"] else re.sub(r"\d+", "N", found[1])


def compatible(facts: Iterable[NotedFact]) -> bool:
    """Whether no two of the facts exclude each other."""
    kinds = [(fact.about, sort) for fact in facts if (sort := kind(fact))]
    return len(kinds) == len(set(kinds))


def alternatives(talks: Iterable[CheckedTalk]) -> dict[str, list[str]]:
    """By kind, facts that are true of somebody."""
    found: dict[str, set[str]] = defaultdict(set)
    for checked in talks:
        for fact in checked.of():
            if sort := kind(fact):
                found[sort].add(fact.text)
    return {sort: sorted(texts) for sort, texts in found.items()}


def contradicted(
    chain: Sequence[CheckedTalk], others: Mapping[str, Sequence[str]], dice: random.Random
) -> tuple[list[NotedFact], tuple[CheckedTalk, ...]]:
    """A fact that may have been true before the chain and that the chain contradicts; and
    the chain with that change in it."""
    for number, checked in enumerate(chain):
        for fact in checked.of():
            sort = kind(fact)
            heard = " ".join(line.text for one in chain for line in one.lines).lower()
            fitting = [
                text
                for text in others.get(sort, ())
                if text != fact.text and text.split()[-1].lower() not in heard
            ]
            if sort and fitting:
                old = NotedFact(about=fact.about, text=dice.choice(fitting))
                changed = replace(checked, changed=((old, fact),), hard=("changed",))
                return [old], (*chain[:number], changed, *chain[number + 1 :])
    return [], tuple(chain)
