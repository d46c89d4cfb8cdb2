"""Facts for people and programs: what holds, what held, what changed it, and putting it right."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from omoide.domain import FactChange, FactKind, FactMarks, MemoryKind, Origin, Owner, Trust
from omoide.engine.memory_folder import SUMMARY
from omoide.engine.versions import When
from omoide.errors import BadInput, NoSuchFact, StaleVersion, StoreFull
from tests.unit.fact_stories import BERGEN, CAT, FACTS, OSLO, add, answer, moved, replaced

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from omoide.domain import Fact
    from tests.unit.conftest import World

    Make = Callable[..., Awaitable[World]]

ANA = Owner(tenant="default", user="ana")
ROME = "The user lives in Rome."
LISBON = "The user will move to Lisbon on 2030-01-01."


async def texts(world: World, **filters: object) -> list[str]:
    """The texts of Ana's facts."""
    return [fact.text for fact in await world.memory.facts("ana", **filters)]  # type: ignore[arg-type]


async def named(world: World, text: str) -> Fact:
    """Ana's fact that says so, ended or not."""
    (fact,) = [f for f in await world.memory.facts("ana", ended=True) if f.text == text]
    return fact


async def test_what_held_then_and_what_holds_now(make_world: Make) -> None:
    """The belief of an earlier day is there as it was, and ended facts only if asked for."""
    world = await moved(make_world)
    assert await texts(world) == [CAT, BERGEN] or await texts(world) == [BERGEN, CAT]
    then = world.clock.now() - timedelta(days=10)
    assert sorted(await texts(world, at=then)) == sorted([OSLO, CAT])
    assert sorted(await texts(world, ended=True)) == sorted([OSLO, CAT, BERGEN])
    assert sorted(await texts(world, at=then, ended=True)) == sorted([OSLO, CAT])
    assert await texts(world, at=then - timedelta(days=30)) == []


async def test_the_timeline_says_what_changed_it(make_world: Make) -> None:
    """In time order: two facts begin, one takes the place of another, with reason and words."""
    world = await moved(make_world)
    *begun, change = await world.memory.timeline("ana")
    assert {(e.change, e.fact.text) for e in begun} == {
        (FactChange.BEGAN, OSLO),
        (FactChange.BEGAN, CAT),
    }
    assert (change.change, change.fact.text, change.reason) == (
        FactChange.CHANGED,
        BERGEN,
        "she moved",
    )
    assert [fact.text for fact in change.replaced] == [OSLO]
    turns = await world.memory.turns("ana", ids=change.sources)
    assert [turn.text for turn in turns] == ["I moved to Bergen."]
    assert await world.memory.timeline("ana", since=change.time) == (change,)
    assert change not in await world.memory.timeline(
        "ana", until=change.time - timedelta(seconds=1)
    )


async def test_facts_are_found_by_person_kind_tag_and_day(make_world: Make) -> None:
    """Each condition narrows the list; an unknown kind is named."""
    world = await make_world(settings=FACTS)
    plan = add("The user will visit Rui.", 3, kind="plan", until="2026-03-01")
    rui = add("Rui is a baker.", about="Rui", kind="trait")
    await world.session("ana", "Rui is a baker.", "I will visit him.", answers=(answer(rui, plan),))
    assert await texts(world, about="Rui") == ["Rui is a baker."]
    assert await texts(world, about="rui") == ["Rui is a baker."]
    (turn, *_) = await world.memory.turns("ana")
    on_it = [f for f in await world.memory.facts("ana", ended=True) if turn.id in f.sources]
    assert await texts(world, turns=[turn.id], ended=True) == [f.text for f in on_it]
    assert await texts(world, turns=[]) == []
    assert await texts(world, kinds=["plan"]) == ["The user will visit Rui (by 2026-03-01)."]
    fact = await named(world, "Rui is a baker.")
    await world.memory.tag("ana", fact.id, ["family", "family"])
    assert await texts(world, tags=["family", "x"]) == ["Rui is a baker."]
    assert await texts(world, since=fact.said + timedelta(seconds=1)) == [
        "The user will visit Rui (by 2026-03-01)."
    ]
    assert await texts(world, until=fact.said) == []
    timeline = await world.memory.timeline("ana", about="rui", kinds=[FactKind.TRAIT])
    assert [entry.fact.id for entry in timeline] == [fact.id]
    with pytest.raises(BadInput, match="there are trait, state"):
        await world.memory.facts("ana", kinds=["nonsense"])


async def test_a_correction_replaces_the_fact_and_its_sentence(make_world: Make) -> None:
    """It cites the user's word, is trusted most, and the old fact names it."""
    world = await moved(make_world)
    old = await named(world, BERGEN)
    new = await world.memory.correct("ana", old.id, ROME)
    assert (new.text, new.trust, new.supersedes) == (ROME, Trust.CORRECTED, (old.id,))
    assert new.reason == "corrected by the user"
    (turn,) = await world.memory.turns("ana", ids=new.sources)
    assert (turn.text, turn.id[:5]) == (ROME, "edit-")
    assert (await named(world, BERGEN)).ended_by == new.id
    summary = await world.memory.summary("ana")
    assert summary.origin is Origin.EDIT
    assert {s.text: s.fact for s in summary.sentences}[ROME] == new.id
    assert BERGEN not in summary.text
    last = (await world.memory.timeline("ana"))[-1]
    assert (last.change, last.replaced[0].text) == (FactChange.CHANGED, BERGEN)
    with pytest.raises(BadInput, match=f"has ended; correct {new.id}"):
        await world.memory.correct("ana", old.id, "The user lives in Paris.")


async def test_a_correction_outlives_the_next_session(make_world: Make) -> None:
    """The next summary is chosen from it, and what the assistant says does not end it."""
    world = await moved(make_world)
    new = await world.memory.correct("ana", (await named(world, BERGEN)).id, ROME)
    await world.session(
        "ana", "I have a dog.", answers=(answer(add("The user has a dog called Bo.")),)
    )
    summary = await world.memory.summary("ana")
    assert new.id in {sentence.fact for sentence in summary.sentences}
    assert sorted(await texts(world)) == sorted([ROME, CAT, "The user has a dog called Bo."])


async def test_to_say_the_same_confirms_a_fact(make_world: Make) -> None:
    """No fact is added, and the user's word supports it."""
    world = await moved(make_world)
    old = await named(world, CAT)
    same = await world.memory.correct("ana", old.id, CAT)
    assert (same.id, same.confirmed) == (old.id, world.clock.now())
    assert len(same.sources) == len(old.sources) + 1
    entry = (await world.memory.timeline("ana"))[-1]
    assert (entry.change, entry.fact.id) == (FactChange.CONFIRMED, old.id)


async def test_a_corrected_plan_gets_the_new_date(make_world: Make) -> None:
    """A relative date becomes absolute from the day of the correction."""
    world = await make_world(settings=FACTS)
    plan = add("The user will fly to Oslo on 2026-03-01.", kind="plan", until="2026-03-01")
    await world.session("ana", "I fly to Oslo on 1 March.", answers=(answer(plan),))
    old = await named(world, "The user will fly to Oslo on 2026-03-01.")
    new = await world.memory.correct("ana", old.id, "The user will fly to Oslo tomorrow.")
    assert new.until == (world.clock.now() + timedelta(days=1)).date()
    assert "tomorrow" not in new.text


async def planned(make_world: Make) -> World:
    """Ana lives in Oslo until she moves to Lisbon in four years."""
    world = await make_world(settings=FACTS)
    await world.session("ana", "I live in Oslo.", answers=(answer(add(OSLO)),))
    plan = {**replaced(1, LISBON, "she moves"), "kind": "plan", "since": "2030-01-01"}
    await world.session("ana", "I move to Lisbon on 1 January 2030.", answers=(answer(plan),))
    return world


@pytest.mark.parametrize("by", ["correct", "amend"])
async def test_a_fact_that_a_plan_will_end_is_corrected(make_world: Make, by: str) -> None:
    """It holds until that day, and so does what takes its place."""
    world = await planned(make_world)
    old = await named(world, OSLO)
    if by == "correct":
        await world.memory.correct("ana", old.id, BERGEN)
    else:
        await world.memory.amend("ana", OSLO, BERGEN)
    new, over, plan = [await named(world, text) for text in (BERGEN, OSLO, LISBON)]
    assert await texts(world) == [LISBON, BERGEN]
    assert (new.supersedes, new.ended, new.until) == ((old.id,), old.ended, old.until)
    assert (over.ended, over.ended_by) == (world.clock.now(), new.id)
    assert (new.ended_by, plan.supersedes) == (plan.id, (new.id,))
    assert await texts(world, at=old.ended) == [LISBON]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("The user will move to Lisboa on 2030-01-01.", 0),
        ("The user will move to Lisbon on 2030-02-01.", 31),
    ],
)
async def test_a_corrected_plan_still_ends_what_it_would(
    make_world: Make, text: str, days: int
) -> None:
    """On its own day: the home until then does not hold for ever."""
    world = await planned(make_world)
    before, plan = await named(world, OSLO), await named(world, LISBON)
    await world.memory.correct("ana", plan.id, text)
    home, new = await named(world, OSLO), await named(world, text)
    assert before.ended is not None
    assert (home.ended, home.ended_by) == (before.ended + timedelta(days=days), new.id)
    assert set(new.supersedes) == {plan.id, home.id}
    assert await texts(world) == [OSLO, text]


async def test_a_name_in_a_correction_is_no_date(make_world: Make) -> None:
    """The person typed it."""
    world = await moved(make_world)
    old = await named(world, CAT)
    film = "The user's favourite film is The Day After Tomorrow."
    new = await world.memory.correct("ana", old.id, film)
    assert (new.text, new.since, new.until) == (film, None, None)


async def test_amending_a_sentence_corrects_its_fact(make_world: Make) -> None:
    """The sentence and the fact stay one."""
    world = await moved(make_world)
    summary = await world.memory.amend("ana", BERGEN, ROME)
    fact = await named(world, ROME)
    assert fact.id in {sentence.fact for sentence in summary.sentences}
    assert sorted(await texts(world)) == sorted([ROME, CAT])


async def test_a_correction_that_fails_leaves_the_facts_alone(make_world: Make) -> None:
    """Where somebody else changed the summary first, no fact, turn or version is left behind."""
    world = await moved(make_world)
    commit, old = world.store.summaries.commit, await named(world, BERGEN)

    async def meanwhile(owner: object, summary: object) -> None:
        raise StaleVersion("somebody was faster")

    turns = await world.memory.turns("ana")
    world.store.summaries.commit = meanwhile  # type: ignore[method-assign]
    with pytest.raises(StaleVersion):
        await world.memory.correct("ana", old.id, ROME)
    world.store.summaries.commit = commit  # type: ignore[method-assign]
    assert await world.memory.turns("ana") == turns
    assert await named(world, BERGEN) == old


async def test_a_correction_whose_fact_cannot_be_replaced_is_digested_later(
    make_world: Make,
) -> None:
    """The version and the words that it cites stay, in a session that is open until it is idle."""
    world = await moved(make_world)
    apply = world.store.facts.apply

    async def full(owner: object, changes: object) -> None:
        raise StoreFull("no space is left")

    world.store.facts.apply = full  # type: ignore[method-assign]
    with pytest.raises(StoreFull):
        await world.memory.amend("ana", BERGEN, ROME)
    world.store.facts.apply = apply  # type: ignore[method-assign]
    assert ROME in [sentence.text for sentence in (await world.memory.summary("ana")).sentences]
    assert (await world.memory.turns("ana"))[-1].text == ROME
    assert [session.open for session in await world.memory.sessions("ana")] == [False, False, True]


async def test_rolling_back_brings_the_facts_of_then_back(make_world: Make) -> None:
    """What was learned since ends, what ended since is a new fact, and nothing is removed."""
    world = await moved(make_world)
    before = await world.memory.facts("ana", ended=True)
    back = await world.memory.rollback("ana", When(version=1))
    assert sorted(await texts(world)) == sorted([OSLO, CAT])
    everything = await world.memory.facts("ana", ended=True)
    assert {fact.id for fact in before} < {fact.id for fact in everything}
    (again,) = [f for f in everything if f.text == OSLO and f.ended is None]
    bergen = await named(world, BERGEN)
    assert (bergen.ended_by, bergen.end_reason) == (again.id, again.reason)
    assert "version 1" in again.reason
    holding = {fact.id for fact in await world.memory.facts("ana")}
    assert {sentence.fact for sentence in back.sentences} == holding
    await world.session("ana", "Hi.", answers=(answer(),))
    assert sorted((await world.memory.summary("ana")).text.splitlines()) == sorted([OSLO, CAT])


async def test_rolling_back_twice_and_forward_again(make_world: Make) -> None:
    """The same rollback again changes no fact; to a later version, its facts come back."""
    world = await moved(make_world)
    await world.memory.rollback("ana", When(version=1))
    known = await world.memory.facts("ana", ended=True)
    world.clock.advance(timedelta(minutes=1))
    await world.memory.rollback("ana", When(version=1))
    assert await world.memory.facts("ana", ended=True) == known
    world.clock.advance(timedelta(minutes=1))
    await world.memory.rollback("ana", When(version=2))
    assert sorted(await texts(world)) == sorted([BERGEN, CAT])
    world.clock.advance(timedelta(minutes=1))
    await world.memory.rollback("ana", When(version=0))
    assert await texts(world) == []
    assert (await world.memory.summary("ana")).sentences == ()


async def test_pins_tags_and_times_are_set_and_taken_away(make_world: Make) -> None:
    """A pinned fact does not expire, and one that expires is not pinned."""
    world = await moved(make_world)
    memory, fact, now = world.memory, await named(world, CAT), world.clock.now()
    later = now + timedelta(days=1)
    assert (await memory.pin("ana", fact.id)).pinned
    expiring = await memory.expire("ana", fact.id, later)
    assert (expiring.pinned, expiring.expires) == (False, later)
    assert (await memory.expire("ana", fact.id, None)).expires is None
    await memory.expire("ana", fact.id, later)
    pinned = await memory.pin("ana", fact.id)
    assert (pinned.pinned, pinned.expires) == (True, None)
    assert not (await memory.unpin("ana", fact.id)).pinned
    assert (await memory.tag("ana", fact.id, ["pets"])).tags == ("pets",)
    assert (await memory.tag("ana", fact.id, [])).tags == ()
    with pytest.raises(NoSuchFact, match="list the facts"):
        await memory.pin("ana", "nothing")
    with pytest.raises(NoSuchFact):
        await memory.correct("ana", "nothing", CAT)
    with pytest.raises(BadInput, match="at most 100 tags"):
        await memory.tag("ana", fact.id, [str(n) for n in range(101)])
    with pytest.raises(BadInput, match="time zone"):
        await memory.expire("ana", fact.id, datetime(2026, 1, 1))  # noqa: DTZ001


async def test_a_tag_is_the_same_however_it_is_written(make_world: Make) -> None:
    """With spaces around it, or a letter in two parts, when it is set and when it is looked for."""
    world = await moved(make_world)
    cat = await named(world, CAT)
    for tag in ("Zo\u00eb", "Zoe\u0308", " Zo\u00eb "):
        assert (await world.memory.tag("ana", cat.id, [tag, "Zo\u00eb"])).tags == ("Zo\u00eb",)
        assert await texts(world, tags=tag) == [CAT]
        assert {entry.fact.text for entry in await world.memory.timeline("ana", tags=[tag])} == {
            CAT
        }
        found = await world.memory.recall("ana", "cat Miso", kinds=[MemoryKind.FACT], tags=[tag])
        assert [item.text for item in found] == [CAT]


async def test_an_expired_fact_is_out_of_facts_prompt_and_recall(make_world: Make) -> None:
    """From its time on; the timeline says that it expired."""
    world = await moved(make_world)
    fact = await named(world, CAT)
    await world.memory.expire("ana", fact.id, world.clock.now() + timedelta(hours=1))
    assert CAT in (await world.memory.context("ana", "What is my cat called?")).text
    world.clock.advance(timedelta(hours=1))
    assert await texts(world) == [BERGEN]
    assert CAT not in (await world.memory.context("ana", "What is my cat called?")).text
    found = await world.memory.recall("ana", "cat Miso", kinds=[MemoryKind.FACT])
    assert CAT not in [item.text for item in found]
    assert (await world.memory.timeline("ana"))[-1].change is FactChange.EXPIRED


async def test_an_expired_fact_is_out_of_the_summary_that_is_shown(make_world: Make) -> None:
    """From its time on, without a new version: not in the summary, not in what explains it, not in
    the memory tool's file. The version by its number, and the summary of an earlier time, have
    it."""
    world = await moved(make_world)
    memory, before = world.memory, world.clock.now()
    fact = await named(world, CAT)
    await memory.expire("ana", fact.id, before + timedelta(hours=1))
    assert CAT in (await memory.summary("ana")).text
    world.clock.advance(timedelta(hours=1))
    newest = await memory.summary("ana")
    assert [sentence.text for sentence in newest.sentences] == [BERGEN]
    assert [because.sentence.text for because in await memory.why("ana")] == [BERGEN]
    shown = await memory.memory_tool("ana", {"command": "view", "path": SUMMARY})
    assert BERGEN in shown
    assert CAT not in shown
    assert CAT in (await memory.summary("ana", version=newest.number)).text
    assert CAT in (await memory.summary("ana", at=before)).text
    assert CAT not in (await memory.summary("ana", at=world.clock.now())).text


async def test_correcting_an_expired_fact_brings_it_back(make_world: Make) -> None:
    """The user speaks of it again; a time that lies ahead is kept."""
    world = await moved(make_world)
    cat, bergen = await named(world, CAT), await named(world, BERGEN)
    ahead = world.clock.now() + timedelta(days=1)
    await world.memory.expire("ana", cat.id, world.clock.now())
    await world.memory.expire("ana", bergen.id, ahead)
    assert (await world.memory.correct("ana", cat.id, "The user has a dog.")).expires is None
    assert (await world.memory.correct("ana", bergen.id, ROME)).expires == ahead
    assert sorted(await texts(world)) == sorted(["The user has a dog.", ROME])


async def test_retention_expires_what_is_not_pinned(make_world: Make) -> None:
    """So many days after a fact was learned; a pinned one stays, and unpinned it gets its days."""
    world = await moved(make_world, settings=replace(FACTS, retention=30))
    cat = await named(world, CAT)
    assert cat.expires == cat.learned + timedelta(days=30)
    await world.memory.pin("ana", cat.id)
    world.clock.advance(timedelta(days=60))
    assert await texts(world) == [CAT]
    unpinned = await world.memory.unpin("ana", cat.id)
    assert unpinned.expires == world.clock.now() + timedelta(days=30)


async def test_what_was_not_pinned_keeps_its_time(make_world: Make) -> None:
    """To unpin it says nothing of when it expires, nor of one pinned with a time of its own."""
    world = await moved(make_world, settings=replace(FACTS, retention=30))
    cat, soon = await named(world, CAT), world.clock.now() + timedelta(days=1)
    assert await world.memory.unpin("ana", cat.id) == cat
    both = FactMarks(pinned=True, expires=soon)
    assert (await world.memory.mark("ana", cat.id, both)).pinned
    assert (await world.memory.unpin("ana", cat.id)).expires == soon
    forever = await world.memory.expire("ana", cat.id, None)
    assert await world.memory.unpin("ana", cat.id) == forever


async def test_a_fact_is_forgotten_by_its_id(make_world: Make) -> None:
    """With the sentences that state it; with `words`, also what was said."""
    world = await moved(make_world)
    cat = await named(world, CAT)
    erased = await world.memory.forget("ana", cat.id)
    assert (erased.facts, erased.turns) == (1, 0)
    assert sorted(await texts(world, ended=True)) == sorted([OSLO, BERGEN])
    assert all(CAT not in version.text for version in await world.memory.history("ana"))
    oslo = await named(world, OSLO)
    assert (await world.memory.forget("ana", oslo.id, words=True)).turns == 1
    assert "Miso" not in "".join(turn.text for turn in await world.memory.turns("ana"))
    with pytest.raises(NoSuchFact):
        await world.memory.forget("ana", cat.id)


async def test_recall_finds_facts_with_their_words(make_world: Make) -> None:
    """The fact comes once: neither its sentence nor an ended fact stands beside it."""
    world = await moved(make_world)
    found = await world.memory.recall("ana", "Where do I live? Bergen or Oslo?")
    facts = [item for item in found if item.kind is MemoryKind.FACT]
    assert BERGEN in [item.text for item in facts]
    assert OSLO not in [item.text for item in found if item.kind is not MemoryKind.TURN]
    assert BERGEN not in [item.text for item in found if item.kind is MemoryKind.SENTENCE]
    bergen = await named(world, BERGEN)
    assert next(item for item in facts if item.text == BERGEN).sources == bergen.sources
    only = await world.memory.recall("ana", "Bergen", kinds=[MemoryKind.SENTENCE])
    assert BERGEN in [item.text for item in only]


async def test_recall_by_person_and_tag_finds_only_such_facts(make_world: Make) -> None:
    """Turns and sentences have neither, so they are left out."""
    world = await moved(make_world)
    cat = await named(world, CAT)
    await world.memory.tag("ana", cat.id, ["pets"])
    found = await world.memory.recall("ana", "cat Bergen Oslo", tags=["pets"])
    assert [(item.kind, item.id) for item in found] == [(MemoryKind.FACT, cat.id)]
    assert await world.memory.recall("ana", "cat Bergen", about="Rui") == ()
    mine = await world.memory.recall("ana", "cat Bergen", about="User")
    assert {item.text for item in mine} == {CAT, BERGEN}
    before = await world.memory.recall("ana", "cat", about="user", until=cat.said - timedelta(1))
    assert before == ()


async def test_summaries_of_an_older_version_are_read_as_facts(world: World) -> None:
    """Nothing is written for that; a mark writes them, and later versions still count."""
    first = (f"{OSLO}\nThe user has a cat.",)
    await world.session("ana", "I live in Oslo and have a cat.", answers=first)
    second = (f"{BERGEN}\nThe user has a cat.",)
    await world.session("ana", "I moved to Bergen.", answers=second)
    assert await texts(world) == ["The user has a cat.", BERGEN]
    assert await world.store.facts.read(ANA) == ()
    change = (await world.memory.timeline("ana"))[-1]
    assert (change.fact.text, [old.text for old in change.replaced]) == (BERGEN, [OSLO])
    cat = (await world.memory.facts("ana"))[0]
    assert (await world.memory.pin("ana", cat.id)).pinned
    assert len(await world.store.facts.read(ANA)) == 3
    third = (f"{BERGEN}\nThe user has a cat.\nThe user has a dog.",)
    await world.session("ana", "I have a dog.", answers=third)
    found = await world.memory.facts("ana")
    assert [(f.text, f.pinned) for f in found] == [
        ("The user has a cat.", True),
        (BERGEN, False),
        ("The user has a dog.", False),
    ]


async def test_a_fact_of_an_older_version_is_corrected_and_rolled_back(world: World) -> None:
    """As if it had always been a fact."""
    await world.session("ana", "I live in Oslo.", answers=(OSLO,))
    fact = (await world.memory.facts("ana"))[0]
    new = await world.memory.correct("ana", fact.id, BERGEN)
    assert [f.id for f in await world.memory.facts("ana")] == [new.id]
    assert (await world.memory.summary("ana")).text == BERGEN
    world.clock.advance(timedelta(minutes=1))
    await world.memory.rollback("ana", When(version=1))
    assert await texts(world) == [OSLO]
    assert (await world.memory.summary("ana")).text == OSLO


async def test_a_corrected_fact_supersedes_its_event(make_world: Make) -> None:
    """The event of what was wrong is not recalled any more; the corrected one is."""
    settings = replace(FACTS, mechanisms=("summary", "human-recall"))
    world = await moved(make_world, settings=settings)
    new = await world.memory.correct("ana", (await named(world, BERGEN)).id, ROME)
    events = {event.text: event for event in await world.memory.events("ana")}
    assert events[ROME].fact == new.id
    assert events[BERGEN].superseded_by == events[ROME].id


async def test_the_preview_names_every_fact_that_goes_too(make_world: Make) -> None:
    """Also one that is in no summary any more: its words go, so it goes."""
    world = await make_world(settings=FACTS)
    told = (add("The user has a cat.", 1), add("The user has a dog.", 1))
    await world.session("ana", "I have a cat and a dog.", answers=(answer(*told),))
    ended = {**add("", 1), "do": "end", "facts": [2]}
    await world.session("ana", "The dog died.", answers=(answer(ended),))
    found = await world.memory.find_fact("ana", "cat")
    assert [fact.text for fact in found.stored] == ["The user has a cat."]
    assert found.also_removed == ("The user has a dog.",)
    await world.memory.forget("ana", found)
    assert await texts(world, ended=True) == []
