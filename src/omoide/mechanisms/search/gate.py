"""The gate: whether anything that was recalled goes into a prompt, and how much of it.

Everything that adds memory to a prompt asks it: `context`, `reply`, the proxy and, through
`Memory.context`, tools. A question gets what memory has if memory is likely to know anything about
it; a remark only what clearly belongs to it; a greeting nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import exp, log
from typing import TYPE_CHECKING, Final

from omoide.domain import MemoryKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.domain import RecalledItem, Support


@dataclass(frozen=True, kw_only=True)
class Bars:
    """How likely it must be that memory knows anything, for something to come into a prompt."""

    personal: float = 0.2
    """For a question that only memory can answer."""
    asked: float
    """For a question that others can answer."""
    addressed: float
    """For a question about the one who is asked ("Do you like tea?"), as talk is full of."""
    said: float
    """For what is no question."""


@dataclass(frozen=True, kw_only=True)
class RecallBudget:
    """The most that recall may bring to one prompt."""

    items: int
    tokens: int
    longest: float
    """The share of these that one turn may take: of a longer one comes the part that the message is
    about."""
    facts: int
    """Most facts that a question about the user gets besides, of those that the memory in the
    prompt does not state; so does what is no question, if `said_kinds` has facts."""
    topics: int
    """Most summaries of what was talked about, by topic, that come besides."""
    memory: int
    """Most tokens of memory in all, with the summary and other mechanisms."""
    far: float
    """How far below the best item, in log odds, another may be and still answer a question. Of the
    evidence among the first six, 96 to 99 % is within 4 on all corpora but MemDaily; among the
    thirty of a large model's prompt BEAM has two points more within 7 than within 5."""
    words: Bars
    """By words alone, and with an embedder that is not in `spaces`."""
    spaces: Mapping[str, Bars] = field(default_factory=dict)
    """By the name of the embedder's space."""
    said_kinds: frozenset[MemoryKind]
    """What may come to what is no question. A list of words takes "Draft a letter to my landlord."
    for none, so a strong model, which leaves out what does not fit, gets facts and topics too."""
    said_items: int
    """Most items of a kind for what is no question."""
    said_far: float
    """`far` for what is no question."""
    by_time: bool
    """Whether the turns stand in the order of time, as a strong model wants them for questions
    about what came first; else the nearest is first."""
    marks_outdated: bool
    """Whether a turn that no longer holds at all comes with a mark that says so. If not, it comes
    only to a question about the past."""
    only_telling: bool
    """Whether a short question about the asker's life gets nothing but what tells of that part of
    it, if anything does. If not, that only comes first: "I'm only 27" tells of an age in none of
    the words for it, and a strong model leaves out what does not fit."""
    repeats_session: bool
    """Whether what the user said in the open session may stand beside a question about the user's
    life once more, though the model sees it further above: a small one overlooks it there."""


BUDGETS: Final = {
    "small": RecallBudget(
        items=6,
        tokens=400,
        longest=1.0,
        facts=3,
        topics=0,
        memory=1600,
        far=4.0,
        words=Bars(asked=0.75, addressed=0.75, said=0.75),
        spaces={"use-multilingual": Bars(asked=0.65, addressed=0.85, said=0.75)},
        said_kinds=frozenset({MemoryKind.TURN}),
        said_items=3,
        said_far=2.0,
        by_time=False,
        marks_outdated=False,
        only_telling=True,
        repeats_session=True,
    ),
    "large": RecallBudget(
        items=30,
        tokens=3000,
        longest=0.2,
        facts=10,
        topics=10,
        memory=4600,
        far=7.0,
        words=Bars(asked=0.4, addressed=0.4, said=0.55),
        spaces={
            "use-multilingual": Bars(personal=0.15, asked=0.5, addressed=0.85, said=0.65),
        },
        said_kinds=frozenset({MemoryKind.TURN, MemoryKind.FACT, MemoryKind.MEMO}),
        said_items=10,
        said_far=4.0,
        by_time=True,
        marks_outdated=True,
        only_telling=False,
        repeats_session=False,
    ),
}
"""By the model's profile: a model of 1.5 B parameters is confused by more than a few notes, while a
strong one answered 10 points more of LoCoMo's questions with 30 items instead of 6, and lost 20
points of PersonaMem's where nothing was brought. Its bars let memory into at most 30 % of MSC's
prompts; the small one's bars with the default embedder are the lowest for questions that kept its
silence (docs/experiments/2026-11-17-stale-turns.md)."""


@dataclass(frozen=True, kw_only=True)
class KnownOdds:
    """Log odds that memory has something about a query, as a linear function of `Support`."""

    bias: float
    words: float
    cosine: float
    size: float
    """Per e-fold of the number of turns: the more there are, the better some turn fits by
    chance."""

    def known(self, support: Support) -> float:
        """The probability that memory has something about the query."""
        odds = (
            self.bias
            + self.words * support.words
            + self.cosine * (support.cosine or 0.0)
            + self.size * log(1 + support.turns)
        )
        return 1 / (1 + exp(min(max(-odds, -700), 700)))


WORDS_ONLY: Final = KnownOdds(bias=0.69, words=6.8, cosine=0.0, size=-0.62)
CALIBRATED: Final = {
    "use-multilingual": KnownOdds(bias=-4.1, words=4.5, cosine=15.0, size=-0.42),
    "gte-small-memory": KnownOdds(bias=-12.9, words=3.27, cosine=23.4, size=-0.75),
}
"""By the name of the embedder's space. An embedder that is not listed is judged by words only."""
UNMOVED: Final = {
    "use-multilingual": KnownOdds(bias=-2.84, words=3.8, cosine=8.46, size=-0.46),
}
"""The same for what asks nothing of memory, where it differs: only the vectors of questions that do
are moved to their answers (`question_map`)."""
UNSURE: Final = 0.3
"""The least probability with such an embedder, whose vectors may know more than the words: enough
for a question that only memory can answer."""


def judged(support: Support, space: str | None) -> Support:
    """The support with its calibrated probability, for recall in that embedder's space."""
    odds = CALIBRATED.get(space or "")
    if support.addressed or not support.asks:
        odds = UNMOVED.get(space or "", odds)
    if support.cosine is not None and odds:
        return replace(support, known=odds.known(support), space=space or "")
    known = WORDS_ONLY.known(support) if support.words else 0.0
    least = 0.0 if support.cosine is None else UNSURE
    return replace(support, known=max(known, least))


def without_words(support: Support) -> Support:
    """The support for a question if nothing that has its words answers it: by meaning alone, and
    with the bar of a question that others can answer."""
    return judged(replace(support, words=0.0, personal=False), support.space)


def is_open(support: Support, budget: RecallBudget) -> bool:
    """Whether anything that was recalled may go into a prompt."""
    bars = budget.spaces.get(support.space, budget.words)
    if not support.asks:
        return support.known >= bars.said
    if support.personal:
        return support.known >= bars.personal
    return support.known >= (bars.addressed if support.addressed else bars.asked)


def admitted(
    items: Sequence[RecalledItem], support: Support, *, budget: RecallBudget
) -> tuple[RecalledItem, ...]:
    """The recalled items that may go into a prompt, of those that fit it: none if memory hardly
    knows anything about what was said, the few nearest for a remark, and for a question all that
    are at most `budget.far` behind the best."""
    if not items or not is_open(support, budget):
        return ()
    return _near(items, support, budget)


def admitted_facts(
    items: Sequence[RecalledItem], support: Support, *, budget: RecallBudget
) -> tuple[RecalledItem, ...]:
    """The facts among all recalled items that may go into a prompt, the few that are near the best
    one: to a question only if it is about what memory alone may know, to what is no question as
    turns come to it."""
    fit = support.personal if support.asks else MemoryKind.FACT in budget.said_kinds
    if not fit or not is_open(support, budget):
        return ()
    facts = [item for item in items if item.kind is MemoryKind.FACT]
    return _near(facts[: budget.facts], support, budget)


def admitted_topics(
    items: Sequence[RecalledItem], support: Support, *, budget: RecallBudget
) -> tuple[RecalledItem, ...]:
    """The summaries of topics among all recalled items that may go into a prompt, in the order of
    time. Any question may get them: one for an overview finds more in ten of them than in thirty
    turns."""
    fit = support.asks or MemoryKind.MEMO in budget.said_kinds
    if not fit or not is_open(support, budget):
        return ()
    topics = [item for item in items if item.kind is MemoryKind.MEMO][: budget.topics]
    return tuple(sorted(_near(topics, support, budget), key=lambda item: item.time))


def _near(
    items: Sequence[RecalledItem], support: Support, budget: RecallBudget
) -> tuple[RecalledItem, ...]:
    """The items that are near enough to the first of them, which is the best."""
    far = budget.far if support.asks else min(budget.far, budget.said_far)
    near = tuple(item for item in items if item.score >= items[0].score - far)
    return near if support.asks else near[: budget.said_items]
