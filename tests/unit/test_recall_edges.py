"""Where recall draws its lines: how many, how long, how late."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import (
    Fact,
    FactChanges,
    MemoryKind,
    Owner,
    RecalledItem,
    RecallResult,
    Speaker,
    Support,
    Turn,
)
from omoide.language import estimate_tokens
from omoide.mechanisms.base import ReplyRequest
from omoide.mechanisms.search.gate import BUDGETS, Bars, admitted_topics
from omoide.mechanisms.search.mechanism import OVERVIEW, QUESTION, SearchMechanism
from omoide.mechanisms.search.merging import Found, best_supported, merged
from omoide.mechanisms.search.outdated import with_endings
from omoide.mechanisms.search.pairs import last_question, pair_turns
from omoide.mechanisms.search.question import parse_query, questions_apart
from omoide.mechanisms.search.recalled import fitting
from omoide.mechanisms.search.topics import topic_terms
from omoide.mechanisms.search.visible import visible
from omoide.mechanisms.search.weights import KINDS, LEARNT, EvidenceWeights, weights_for

from .test_evidence import DAY, survey

if TYPE_CHECKING:
    from omoide.mechanisms.search.recall import Recall
    from omoide.ports.store import TurnTable

ANN = Owner(tenant="t", user="ann")
NOW = datetime(2026, 6, 1, 20, tzinfo=UTC)


def item(name: str, *, score: float = 1.0, text: str = "", tokens: int = 1) -> RecalledItem:
    """A turn of the user."""
    return RecalledItem(
        kind=MemoryKind.TURN,
        id=name,
        text=text or name,
        score=score,
        sources=(name,),
        time=NOW,
        tokens=tokens,
        speaker=Speaker.USER,
    )


def test_up_to_four_questions_are_searched_one_by_one() -> None:
    """A single one is the message itself, and a list of many has no one subject each."""
    asked = [f"Where is the {thing}?" for thing in ("ring", "tin", "boat", "key", "map")]
    assert questions_apart(" ".join(asked[:4])) == tuple(asked[:4])
    assert questions_apart(" ".join(asked[:2])) == tuple(asked[:2])
    assert questions_apart(" ".join(asked)) == ()
    assert questions_apart(f"I lost a ring. {asked[0]}") == ()


@pytest.mark.parametrize("count", [1, 8, 9])
def test_a_few_words_are_looked_up_and_many_are_talk(count: int) -> None:
    """With a few words in common, what the user said comes before what the assistant repeats."""
    words = "kettle harbour sister garden lantern violin pepper anchor meadow".split()[:count]
    table = survey(1, 1).table
    query = parse_query(", ".join(words), asked=DAY.date(), voices=table.speakers)
    assert query.echoes == (frozenset({1}) if count <= 8 else frozenset())
    assert query.likely == (frozenset({0}) if count <= 8 else frozenset())


def test_a_long_question_about_oneself_keeps_its_words() -> None:
    """Sixty characters are short; those without spaces between words count twice."""
    short = f"Where do I live{' now' * 10}?"
    assert len(short) < 60
    assert topic_terms(short + " " * (60 - len(short))) is not None
    assert topic_terms(short + " " * (61 - len(short))) is None
    chinese = "我住在哪里？"
    assert topic_terms(chinese) is not None
    assert topic_terms(f"{'那个' * 12}{chinese}") is not None
    assert topic_terms(f"{'那个' * 14}{chinese}") is None


def test_a_question_is_shown_up_to_200_characters() -> None:
    """A longer one is cut, and a turn without a question is shown whole."""
    longest = f"What {'a' * 194}?"
    assert len(longest) == 200
    assert last_question(f"Hello. {longest}") == longest
    cut = last_question(f"Hello. Why {'a' * 200}?")
    assert len(cut) == 200
    assert cut.endswith("a…")
    assert last_question("So it\nis.") == "So it is."
    assert last_question("Is it? So it is. Who says so? I do.") == "Who says so?"


def asking(shares: list[float], *, lengths: list[int] | None = None) -> TurnTable:
    """A talk of which these shares of the turns are in questions."""
    table = survey(*[1] * len(shares)).table
    length = np.array(lengths or [10] * len(shares), np.float32)
    stated = (1 - np.array(shares)) * length
    values = (1 - np.exp(-stated / 16)).astype(np.float32)
    assert table.features is not None
    return replace(table, length=length, features=replace(table.features, values=values))


def test_a_question_gives_way_to_its_answer_if_it_only_asks() -> None:
    """And if the answer is not long, however long what came before. What mostly asks is shown
    beside its answer."""
    table = asking([1.0, 0.0, 0.6, 0.0, 1.0])
    pairs = pair_turns(table, range(5), joined=True)
    found = {name: (pair.turn, pair.question) for name, pair in pairs.items()}
    assert found == {"t0": ("t1", "t0"), "t1": ("t1", "t0"), "t3": ("t3", "t2")}
    assert pair_turns(table, range(5)).keys() == {"t1", "t3"}
    for length, given in ((80, {"t0", "t1"}), (81, {"t1"})):
        table = asking([1.0, 0.0], lengths=[10, length])
        assert pair_turns(table, range(2), joined=True).keys() == given
    for before, after, given in ((10, 81, {"t2"}), (81, 10, {"t1", "t2"})):
        table = asking([0.0, 1.0, 0.0], lengths=[before, 10, after])
        assert pair_turns(table, range(3), joined=True).keys() == given
    for share, given in ((0.95, {"t0", "t1"}), (0.85, {"t1"}), (0.55, {"t1"}), (0.45, set())):
        table = asking([share, 0.0])
        assert pair_turns(table, range(2), joined=True).keys() == given


def test_what_is_said_at_the_very_time_of_a_query_is_known() -> None:
    """A moment later it is not."""
    data = survey(1, 1, 2)
    last = DAY + timedelta(2)
    assert visible(data, at=last, besides=set()) is data
    moment = timedelta(microseconds=1)
    assert list(visible(data, at=last - moment, besides=set()).table.ids) == ["t0", "t1"]
    assert list(visible(data, at=last, besides={"t1"}).table.ids) == ["t0", "t2"]
    assert visible(data, at=last, besides={"unknown"}) is data


def found(known: float, *items: RecalledItem, personal: bool = False) -> Found:
    """What one of several questions brought."""
    support = Support(best=5.0, known=known, mismatch=0.0, personal=personal)
    return Found(items=items, over=(), support=support, degraded="")


def test_questions_weigh_by_what_memory_knows_of_them() -> None:
    """An item that answers two of them is first. One of which memory knows nothing still counts a
    little, so that its items have an order."""
    both = merged(
        [found(0.5, item("a"), item("c")), found(0.5, item("b"), item("c"))],
    )
    assert both[0].id == "c"
    assert both[0].score - both[1].score == pytest.approx(np.log(2), abs=1e-6)
    nothing = merged([found(0.0, item("a", score=3.0), item("b", score=1.0)), found(0.0)])
    assert [i.id for i in nothing] == ["a", "b"]
    assert [i.score for i in nothing] == pytest.approx([3.0, 1.0])
    unequal = merged([found(0.9, item("a")), found(0.0, item("b"))])
    assert unequal[0].score - unequal[1].score == pytest.approx(np.log(900))
    far = merged([found(0.9, item("a", score=500.0), item("b", score=-500.0)), found(0.1)])
    assert far[0].score - far[1].score == pytest.approx(np.log(1e30))


def test_the_question_that_only_memory_can_answer_counts() -> None:
    """Of several such the one that memory knows most about."""
    parts = [found(0.9), found(0.3, personal=True), found(0.5, personal=True)]
    assert best_supported(parts).known == 0.5
    assert best_supported(parts[:1]).known == 0.9


class FakeRecall:
    """Remembers how it was asked, and brings the same for every message."""

    def __init__(self, *items: RecalledItem, known: float = 0.99) -> None:
        self.asked: dict[str, Any] = {}
        support = Support(best=9.0, mismatch=0.0, words=1.0, known=known, personal=True, turns=9)
        self._result = RecallResult(items, support=support, degraded="")

    async def __call__(self, owner: Owner, query: str, **asked: Any) -> RecallResult:  # noqa: ANN401
        """As `Recall` is called."""
        self.asked = asked
        return self._result


def request(text: str) -> ReplyRequest:
    """Somebody's first message."""
    turn = Turn(
        id="now",
        session=1,
        position=1,
        speaker=Speaker.USER,
        text=text,
        time=NOW,
        language="en",
    )
    return ReplyRequest(owner=ANN, text=text, session=(turn,), now=NOW, language="en")


async def test_more_is_searched_for_than_a_prompt_has_room_for() -> None:
    """Twice as many, and for a part of one's life enough to find what tells of it; what the prompt
    has already is left out, and only a question gets facts."""
    recall = FakeRecall()
    search = SearchMechanism(cast("Recall", recall), budget=BUDGETS["small"], replies=False)
    assert await search.contribute(request("What did Nora say about the kettle?")) == ()
    assert recall.asked["k"] == 12
    assert recall.asked["extra"] == {MemoryKind.FACT: 3, MemoryKind.MEMO: 0}
    assert recall.asked["besides"] == {"now"}
    assert recall.asked["only"] == QUESTION
    assert not recall.asked["joined"]
    assert not recall.asked["explained"]
    await search.contribute(request("Where do I live?"))
    assert recall.asked["k"] == 50
    await search.contribute(request("The kettle is old."))
    assert recall.asked["only"].kinds == {MemoryKind.TURN}
    await search.contribute(request("What did you tell me about the kettle?"))
    assert recall.asked["joined"]


async def test_a_large_model_gets_the_topics_that_fit_a_question() -> None:
    """Before the turns, in the order of time and with their day; none if memory knows nothing about
    it. A request that is no question to a list of words may get them too."""
    later = replace(item("Tea: They compared kettles.", score=9.0), kind=MemoryKind.MEMO, name=None)
    later = replace(later, speaker=None)
    first = replace(later, id="first", text="Soup: A pot was bought.", score=8.0)
    first = replace(first, time=NOW - timedelta(days=30))
    far = replace(later, id="far", text="Rain: It rained.", score=1.0)
    recall = FakeRecall(later, first, far, item("The kettle is old.", score=7.0))
    search = SearchMechanism(cast("Recall", recall), budget=BUDGETS["large"])
    given = await search.contribute(request("What did we say about the kettle?"))
    assert recall.asked["only"] == OVERVIEW
    assert recall.asked["extra"][MemoryKind.MEMO] == BUDGETS["large"].topics > 0
    assert [c.kind for c in given] == [MemoryKind.MEMO, MemoryKind.MEMO, MemoryKind.TURN]
    assert given[0].text.endswith("day: Soup: A pot was bought.")
    assert given[0].time < given[1].time
    await search.contribute(request("The kettle is old."))
    assert recall.asked["only"].kinds == OVERVIEW.kinds
    unknown = replace(recall._result.support, known=0.0)
    assert admitted_topics([later], unknown, budget=BUDGETS["large"]) == ()


async def test_the_first_of_what_is_recalled_is_worth_most() -> None:
    """With its rank, which people see."""
    recall = FakeRecall(*(item(f"The kettle {n} is old.", score=9.0 - n / 10) for n in range(3)))
    search = SearchMechanism(cast("Recall", recall), budget=BUDGETS["small"])
    given = await search.contribute(request("What is old?"))
    assert [c.value for c in given] == pytest.approx([0.9, 0.45, 0.3])
    assert [c.why for c in given] == ["search rank 1", "search rank 2", "search rank 3"]
    assert [c.score for c in given] == pytest.approx([9.0, 8.9, 8.8])


async def test_of_a_turn_that_never_fits_comes_the_part_that_matters() -> None:
    """A fifth of the room at most, so that others have theirs. One that just fits stays whole."""
    page = " ".join(f"Day{n} was long and there was rain again." for n in range(300))
    text = f"{page} The kettle is in the cellar. {page}"
    just = "The kettle sings."
    room = 200
    items = [
        item("long", text=text, tokens=estimate_tokens(text), score=9.0),
        item("just", text=just, tokens=room - 40, score=8.9),
        item("more", text="A kettle.", tokens=1, score=8.8),
    ]
    budget = replace(BUDGETS["small"], tokens=room)
    search = SearchMechanism(cast("Recall", FakeRecall(*items)), budget=budget)
    given = {c.id: c.text for c in await search.contribute(request("Where is the kettle?"))}
    assert "The kettle is in the cellar." in given["long"]
    assert estimate_tokens(given["long"].split(": ", 1)[1]) <= room // 5
    assert given["just"].endswith(just)
    whole = item("whole", text=just, tokens=room)
    [kept] = SearchMechanism(cast("Recall", FakeRecall(whole)), budget=budget)._fitting(
        iter([whole]), "kettle"
    )
    assert kept == whole
    none = SearchMechanism(cast("Recall", FakeRecall()), budget=replace(budget, items=0))
    assert none._fitting(iter([whole]), "kettle") == ()


async def test_of_a_long_reply_a_large_model_gets_the_part_that_matters() -> None:
    """A reply of a page does not take the room of five turns; a small model has no room to spare,
    so what fits is whole."""
    page = " ".join(f"Day{n} was long and there was rain again." for n in range(60))
    text = f"{page} The kettle is in the cellar. {page}"
    tokens = estimate_tokens(text)
    for name, longest in (("large", 0.2), ("small", 1.0)):
        budget = replace(BUDGETS[name], tokens=2 * tokens)
        assert budget.longest == longest
        long = item("long", text=text, tokens=tokens)
        given = await SearchMechanism(cast("Recall", FakeRecall(long)), budget=budget).contribute(
            request("Where is the kettle?")
        )
        shown = given[0].text.split(": ", 1)[1]
        assert "The kettle is in the cellar." in shown
        assert (shown == text) == (name == "small")
        assert name == "small" or estimate_tokens(shown) <= 2 * tokens // 5


async def test_a_large_model_reads_turns_in_the_order_of_time() -> None:
    """Each with its rank; a small one gets the nearest first."""
    late = item("The kettle is new.", score=9.0)
    early = replace(item("The kettle is old.", score=8.9), time=NOW - timedelta(days=9))
    for name, ranks in (("large", [2, 1]), ("small", [1, 2])):
        search = SearchMechanism(cast("Recall", FakeRecall(late, early)), budget=BUDGETS[name])
        given = await search.contribute(request("What about the kettle?"))
        assert [c.why for c in given] == [f"search rank {rank}" for rank in ranks]


@pytest.mark.parametrize("budget", BUDGETS.values(), ids=BUDGETS)
def test_bars_are_chances_and_a_question_about_oneself_has_the_lowest(budget: Any) -> None:  # noqa: ANN401
    """What was said needs no less than a question that others can answer."""
    for bars in (budget.words, *budget.spaces.values()):
        assert isinstance(bars, Bars)
        assert all(0 < getattr(bars, field.name) < 1 for field in fields(bars))
        assert bars.personal < bars.asked <= bars.addressed
        assert bars.asked <= bars.said


def test_a_small_model_is_shown_less_of_everything() -> None:
    """And neither is shown more than a window holds beside a talk."""
    small, large = BUDGETS["small"], BUDGETS["large"]
    for name in ("items", "tokens", "facts", "memory", "far", "said_items", "said_far"):
        assert 0 < getattr(small, name) < getattr(large, name), name
    for budget in (small, large):
        assert budget.said_items <= budget.items
        assert budget.said_far <= budget.far
        assert budget.topics <= budget.facts < budget.items
        assert budget.items * 10 < budget.tokens < budget.memory < 8192
        assert budget.far < 10


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_learnt_with_one_embedder_is_like_what_was_learnt_with_another(kind: str) -> None:
    """The same evidence counts in the same direction, and never five times as much."""
    learnt = [getattr(weights, kind) for weights in (EvidenceWeights(), *LEARNT.values())]
    alone = getattr(weights_for(None, of_memory=True), kind)
    if kind in ("meaning", "near_meaning"):
        assert alone == 0
    else:
        learnt.append(alone)
    assert len({weight > 0 for weight in learnt}) == 1
    sizes = [abs(weight) for weight in learnt]
    assert 0 < max(sizes) < 5 * min(sizes)


async def test_what_replaced_a_fact_is_followed_through_eight_steps() -> None:
    """And no further: a circle would have no end."""
    store = await SqliteStore.open(":memory:")
    times = [NOW - timedelta(days=100 - n) for n in range(12)]

    def chain(length: int) -> list[Fact]:
        return [
            Fact(
                id=f"{length}-{n}",
                about="user",
                text=f"{length}-{n}",
                said=times[n],
                learned=times[n],
                sources=(f"t{length}",) if n == 0 else (f"other{length}-{n}",),
                ended=times[n + 1] if n < length else None,
                ended_by=f"{length}-{n + 1}" if n < length else "",
            )
            for n in range(length + 1)
        ]

    for length in (1, 8, 9):
        facts = chain(length)
        await store.facts.apply(ANN, FactChanges(added=tuple(facts)))
        [marked] = await with_endings(store, ANN, [item(f"t{length}")], over=facts, at=NOW)
        assert marked.outdated is not None
        assert marked.outdated.until == times[1].date()
        assert marked.outdated.since_then == ((f"{length}-{length}",) if length < 9 else ())
    await store.close()


async def test_a_fact_held_until_the_day_that_was_told() -> None:
    """If memory learned of its end later; never longer than until memory learned of it."""
    store = await SqliteStore.open(":memory:")
    fact = Fact(
        id="f",
        about="user",
        text="Lisbon.",
        said=NOW - timedelta(days=9),
        learned=NOW - timedelta(days=9),
        sources=("t",),
        ended=NOW - timedelta(days=2),
    )
    for name, until, last in (
        ("a", date(2026, 5, 25), date(2026, 5, 25)),
        ("b", date(2026, 7, 1), date(2026, 5, 30)),
        ("c", None, date(2026, 5, 30)),
    ):
        told = replace(fact, id=name, sources=(name,), until=until)
        await store.facts.apply(ANN, FactChanges(added=(told,)))
        [marked] = await with_endings(store, ANN, [item(name)], over=[told], at=NOW)
        assert marked.outdated is not None
        assert (marked.outdated.until, marked.outdated.wholly) == (last, True)
    await store.close()


def test_an_item_that_takes_the_rest_of_a_budget_fits() -> None:
    """A longer one is passed over, and nothing more than was asked for comes."""
    items = [item(str(n), tokens=n) for n in (6, 5, 4, 3)]
    assert [i.tokens for i in fitting(items, k=9, budget=10)] == [6, 4]
    assert [i.tokens for i in fitting(items, k=9, budget=11)] == [6, 5]
    assert [i.tokens for i in fitting(items, k=2, budget=None)] == [6, 5]
    assert fitting(items, k=0, budget=99) == ()
