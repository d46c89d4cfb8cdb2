"""Human-like recall: what comes to mind, what consolidates, what is retired, and why."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import Event, MemoryKind, NewTurn, Owner, Speaker
from omoide.domain.forgetting import UNIT
from omoide.engine import complete
from omoide.errors import BadInput, BadReply, ModelStalled, ModelUnavailable
from omoide.mechanisms.base import ReplyRequest, SessionToDigest
from omoide.mechanisms.events import human_recall
from omoide.mechanisms.events.calibration import IDENTITY
from omoide.mechanisms.events.calibrations import CALIBRATION
from omoide.mechanisms.events.human_recall import HumanRecall, consolidate
from omoide.mechanisms.events.scoring import RecallSettings
from omoide.mechanisms.events.writer import (
    EventWriter,
    ModelEventWriter,
)
from omoide.ports import Completion
from omoide.testing import HashEmbedder, ScriptedModel

from .event_writers import ExtractiveEventWriter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from omoide.ports import Vectors
    from omoide.testing import Answer

    from .conftest import World

OWNER = Owner(tenant="t", user="u")
NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)
WEEK = timedelta(days=7)
PAPER = RecallSettings(unit=UNIT, most=1)
"""The paper's numbers, as far as its tables give them."""


@pytest.fixture
async def store() -> AsyncIterator[SqliteStore]:
    """An empty database."""
    opened = await SqliteStore.open(":memory:")
    yield opened
    await opened.close()


async def ended(
    store: SqliteStore,
    *said: str,
    model: ScriptedModel | None = None,
    at: datetime = NOW,
    language: str = "en",
    key: str = "s1",
) -> SessionToDigest:
    """A session in which the user and the assistant spoke by turns, and which has ended."""
    words = [
        NewTurn(
            speaker=Speaker.USER if i % 2 == 0 else Speaker.ASSISTANT,
            text=text,
            time=at + timedelta(seconds=i),
            id=f"{key}-{i}",
            language=language,
        )
        for i, text in enumerate(said)
    ]
    turns = await store.turns.append(OWNER, words, session=key, idle=timedelta(hours=1))
    number = turns[0].session
    await store.turns.end(OWNER, session=number, at=at + timedelta(minutes=5))
    session = next(s for s in await store.turns.sessions(OWNER) if s.number == number)
    return SessionToDigest(
        owner=OWNER,
        session=session,
        turns=turns,
        language=language,
        ask=partial(complete, model or ScriptedModel()),
    )


def mechanism(
    store: SqliteStore, *, writer: EventWriter | None = None, knobs: RecallSettings = PAPER
) -> HumanRecall:
    """Recall on the paper's own scale, with vectors by hashed words."""
    return HumanRecall(
        store=store,
        embedder=HashEmbedder(dimensions=512),
        writer=writer or ExtractiveEventWriter(),
        knobs=knobs,
        calibration=IDENTITY,
    )


async def embed(store: SqliteStore) -> None:
    """What the EMBED job does."""
    embedder = HashEmbedder(dimensions=512)
    texts = await store.index.without_vector(
        OWNER, embedder.space, limit=500, kind=MemoryKind.EVENT
    )
    if texts:
        vectors = await embedder.embed([text.text for text in texts])
        ids = [text.id for text in texts]
        await store.index.put(
            OWNER, embedder.space, ids=ids, vectors=vectors, kind=MemoryKind.EVENT
        )


def request(text: str, *, now: datetime = NOW + WEEK, language: str = "en") -> ReplyRequest:
    """A reply is about to be made to this."""
    return ReplyRequest(owner=OWNER, text=text, session=(), now=now, language=language)


def answer(*texts: str) -> str:
    """What a model that keeps to the schema says."""
    return json.dumps(
        {
            "events": [
                {"text": t, "topics": ["life"], "keywords": [], "participants": ["User"]}
                for t in texts
            ]
        }
    )


def model_writer(model: ScriptedModel, *, window: int = 8192) -> ModelEventWriter:
    """A writer that asks a scripted model."""
    return ModelEventWriter(window=window, count=model.count, name=model.name)


# ── Taking in ───────────────────────────────────────────────────────────────────────────────


async def test_every_sentence_of_an_answer_is_an_event_or_set_aside(store: SqliteStore) -> None:
    """What tells of the chat, copies a line, or rests on no turn, each with its reason."""
    texts = (
        "User adopted a cat called Miso.",
        "User asked about vets in Oslo.",
        "I am a nurse in Oslo and work nights.",
        "User collects Roman coins.",
    )
    said = ("I adopted a cat called Miso.", "Nice!", "I am a nurse in Oslo and work nights.")
    model = ScriptedModel([answer(*texts)])
    await mechanism(store, writer=model_writer(model)).digest(
        await ended(store, *said, model=model)
    )
    kept = [event.text for event in await store.events.read(OWNER)]
    aside = {entry.text: entry.problems for entry in await store.summaries.rejected(OWNER)}
    assert sorted([*kept, *aside]) == sorted(texts)
    assert kept == ["User adopted a cat called Miso."]
    assert "instead of what is so" in aside["User asked about vets in Oslo."][0]
    assert all(aside.values())


async def test_a_paper_s_preset_keeps_what_tells_of_the_chat(store: SqliteStore) -> None:
    """Its guards flag; they take nothing away."""
    model = ScriptedModel([answer("User adopted a cat.", "User asked about vets in Oslo.")])
    writer = ModelEventWriter(window=8192, count=model.count, flags=True)
    done = await ended(store, "I adopted a cat. Are there vets in Oslo?", model=model)
    await mechanism(store, writer=writer).digest(done)
    assert [event.text for event in await store.events.read(OWNER)] == [
        "User adopted a cat.",
        "User asked about vets in Oslo.",
    ]


@pytest.mark.parametrize(
    ("said", "told", "flagged"),
    [
        (("I adopted a cat.", "Nice!", "It rains."), "User collects Roman coins.", True),
        (("I adopted a cat.", "Nice!", "It rains."), "User adopted a cat.", False),
        (("I adopted a cat.",), "User adopted a cat.", False),
    ],
)
async def test_an_event_that_rests_on_no_turn_is_flagged(
    store: SqliteStore, said: tuple[str, ...], told: str, flagged: bool
) -> None:
    """Where guards only flag, it cites the whole session; of a session with one turn that says
    nothing."""
    model = ScriptedModel([answer(told)])
    writer = ModelEventWriter(window=8192, count=model.count, flags=True)
    written = await writer(await ended(store, *said, model=model))
    assert written.events is not None
    assert [event.text for event in written.events] == [told]
    cited = {source for event in written.events for source in event.sources}
    assert (len(cited) == len(said)) == (flagged or len(said) == 1)
    assert bool(written.flags) is flagged


async def test_events_are_stored_with_sources_and_time(store: SqliteStore) -> None:
    """Each cites the turn it rests on and is dated by it; doing it again asks nobody."""
    model = ScriptedModel([answer("User adopted a cat called Miso.", "User is a nurse in Oslo.")])
    done = await ended(
        store, "I adopted a cat called Miso.", "Nice!", "I am a nurse in Oslo.", model=model
    )
    recall = mechanism(store, writer=model_writer(model))
    await recall.digest(done)
    await recall.digest(done)
    cat, nurse = await store.events.read(OWNER)
    assert (cat.text, cat.sources, cat.time) == (
        "User adopted a cat called Miso.",
        ("s1-0",),
        NOW,
    )
    assert nurse.sources == ("s1-2",)
    assert cat.topics == ("life",)
    assert cat.keywords
    assert len(model.requests) == 1
    assert model.requests[0].schema is not None


async def test_ids_are_stable(store: SqliteStore) -> None:
    """The same words of the same session have the same id, so that a second try adds nothing."""
    done = await ended(store, "I adopted a little grey cat called Miso.")
    first = await ExtractiveEventWriter()(done)
    second = await ExtractiveEventWriter()(done)
    assert first.events == second.events != ()


async def test_a_try_that_broke_off_does_only_the_rest(store: SqliteStore) -> None:
    """Events that are there are not asked for again; what they contradict is still retired."""
    recall = mechanism(store)
    await recall.digest(await ended(store, "I live in Tokyo with two big dogs."))
    done = await ended(store, "I moved to Osaka last month.", at=NOW + WEEK, key="s2")
    written = await ExtractiveEventWriter()(done)
    assert written.events
    await store.events.add(OWNER, written.events)  # and here the power went
    await recall.digest(done)
    tokyo, osaka = await store.events.read(OWNER)
    assert tokyo.superseded_by == osaka.id


class OneMeaning(HashEmbedder):
    """An embedder to which all texts about a pool mean the same, and all others as well."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One of two vectors for each."""
        return await super().embed(["pool" if "pool" in text else "other" for text in texts])


@pytest.mark.parametrize(
    ("embedder", "languages", "over"),
    [
        (OneMeaning(dimensions=512), (), True),
        (OneMeaning(dimensions=512), ("en", "ja"), True),
        (OneMeaning(dimensions=512), ("ja",), False),
        (None, (), False),
    ],
)
async def test_what_resembles_what_is_over_is_over_too(
    store: SqliteStore, embedder: OneMeaning | None, languages: tuple[str, ...], over: bool
) -> None:
    """Few words are shared, but vectors tell which older event is meant, in the languages that they
    can be trusted in."""
    old = [
        event("swim", "User swims laps at the pool every morning."),
        event("cat", "User has a cat."),
    ]
    await known(store, old)
    if embedder is not None:
        vectors = await embedder.embed([one.text for one in old])
        ids = [one.id for one in old]
        await store.index.put(
            OWNER, embedder.space, ids=ids, vectors=vectors, kind=MemoryKind.EVENT
        )
    recall = HumanRecall(
        store=store,
        embedder=embedder,
        writer=ExtractiveEventWriter(),
        knobs=PAPER,
        calibration=replace(IDENTITY, languages=languages),
    )
    said = "I gave up going to the pool."
    await recall.digest(await ended(store, said, at=NOW + WEEK, key="s2"))
    superseded = {one.id for one in await store.events.read(OWNER) if one.superseded_by}
    assert superseded == ({"swim"} if over else set())


GOOD = answer("User adopted a cat called Miso.")
PROSE = "The user told me about a lovely cat, and I was very glad to hear it."


@pytest.mark.parametrize(
    "bad",
    [
        "",
        PROSE,
        GOOD[:40],
        Completion(
            text=GOOD[:40], prompt_tokens=1, completion_tokens=1, seconds=0, finish="length"
        ),
        '{"events": "none"}',
        '{"events": [1, 2, 3]}',
        '{"memory": {"cat": true}}',
        answer("用户收养了一只叫味噌的猫，并且非常喜欢它。"),
        answer("I adopted a cat called Miso and I love him."),
        answer("Each event is one short sentence in the third person about a single thing."),
    ],
    ids="empty prose broken cut_short wrong_shape numbers no_list chinese echo prompt".split(),
)
async def test_a_bad_answer_is_asked_for_again(store: SqliteStore, bad: Answer) -> None:
    """The model is shown its answer, or a dash for an empty one, and told what was wrong. The bad
    answer lies aside, and nothing of it is stored."""
    model = ScriptedModel([bad, GOOD])
    done = await ended(store, "I adopted a cat called Miso and I love him.", model=model)
    await mechanism(store, writer=model_writer(model)).digest(done)
    assert [e.text for e in await store.events.read(OWNER)] == ["User adopted a cat called Miso."]
    assert len(await store.summaries.rejected(OWNER)) == 1
    first, again = (request.messages for request in model.requests)
    shown = again[len(first)]
    text = bad.text if isinstance(bad, Completion) else bad
    assert (shown.role, shown.content) == ("assistant", text or "-")
    assert len(again) > len(first) + 1


async def test_an_answer_that_never_comes_right_stores_nothing(store: SqliteStore) -> None:
    """`BadReply` after three tries: the turns are there, and another try may be made."""
    model = ScriptedModel([PROSE] * 3)
    done = await ended(store, "I adopted a cat called Miso and I love him.", model=model)
    recall = mechanism(store, writer=model_writer(model))
    with pytest.raises(BadReply, match="session 1"):
        await recall.digest(done)
    assert await store.events.read(OWNER) == ()
    assert len(await store.summaries.rejected(OWNER)) == 3
    assert await store.turns.read(OWNER)
    model.answers.append(GOOD)
    await recall.digest(done)
    assert len(await store.events.read(OWNER)) == 1


@pytest.mark.parametrize("error", [ModelUnavailable("HTTP 500"), ModelStalled("no token")])
async def test_a_model_that_fails_loses_nothing(store: SqliteStore, error: Exception) -> None:
    """The error goes to the worker, which tries again later."""
    model = ScriptedModel([error, GOOD])
    done = await ended(store, "I adopted a cat called Miso and I love him.", model=model)
    recall = mechanism(store, writer=model_writer(model))
    with pytest.raises(type(error)):
        await recall.digest(done)
    assert await store.events.read(OWNER) == ()
    await recall.digest(done)
    assert len(await store.events.read(OWNER)) == 1


@pytest.mark.parametrize(
    "lenient",
    [
        f"```json\n{GOOD}\n```",
        f"Here are the events:\n{GOOD}\nDone.",
        '[{"event": "User adopted a cat called Miso."}]',
        '["- User adopted a cat called Miso."]',
        '{"facts": [{"content": "User adopted a cat called Miso.", "topic": "pets, cats"}]}',
        '{"text": "User adopted a cat called Miso."}',
    ],
)
async def test_an_answer_is_read_leniently(store: SqliteStore, lenient: str) -> None:
    """Fences, prose around it, bare lists and other names for the fields."""
    model = ScriptedModel([lenient])
    done = await ended(store, "I adopted a cat called Miso and I love him.", model=model)
    await mechanism(store, writer=model_writer(model)).digest(done)
    assert [e.text for e in await store.events.read(OWNER)] == ["User adopted a cat called Miso."]


async def test_what_nobody_said_is_not_an_event(store: SqliteStore) -> None:
    """An event with nothing behind it in the session is left out."""
    model = ScriptedModel([answer("User adopted a cat called Miso.", "User owns a yacht.")])
    done = await ended(store, "I adopted a cat called Miso and I love him.", model=model)
    await mechanism(store, writer=model_writer(model)).digest(done)
    assert [e.text for e in await store.events.read(OWNER)] == ["User adopted a cat called Miso."]


async def test_small_talk_makes_no_events(store: SqliteStore) -> None:
    """An empty list is right for a session in which nothing was told."""
    model = ScriptedModel(['{"events": []}'])
    done = await ended(store, "Hi!", "Hello!", model=model)
    recall = mechanism(store, writer=model_writer(model))
    await recall.digest(done)
    await recall.digest(done)
    assert await store.events.read(OWNER) == ()
    assert len(model.requests) == 1


async def test_a_long_session_is_written_down_in_parts(store: SqliteStore) -> None:
    """Every part fits the window, and the events of all of them are stored together."""
    model = ScriptedModel([lambda r: answer(_first_fact(r.messages[-1].content))] * 20, window=2048)
    said = [
        f"My cousin number {i} bought a boat called Zeta{i}. " + "Well. " * 60 for i in range(9)
    ]
    done = await ended(store, *[x for s in said for x in (s, "I see.")], model=model)
    await mechanism(store, writer=model_writer(model, window=2048)).digest(done)
    assert len(model.requests) > 1
    assert len(await store.events.read(OWNER)) == len(model.requests)


def _first_fact(prompt: str) -> str:
    return f"User has a cousin with a boat called Zeta{prompt.partition('Zeta')[2][:1]}."


# ── Coming to mind ──────────────────────────────────────────────────────────────────────────


def event(id_: str, text: str, **changes: object) -> Event:
    """An event told at `NOW`."""
    held = {"id": id_, "session": 1, "text": text, "time": NOW, "sources": (), "last_recalled": NOW}
    return Event(**(held | changes))  # type: ignore[arg-type]


async def known(store: SqliteStore, events: Sequence[Event]) -> None:
    """Store events under a session that exists, with their vectors."""
    await ended(store, "Hello.")
    await store.events.add(OWNER, events)
    await embed(store)


async def test_only_what_passes_the_threshold_comes_to_mind(store: SqliteStore) -> None:
    """The same words bring the event back; other words leave the prompt empty."""
    await known(store, [event("e1", "User adopted a grey cat called Miso.")])
    recall = mechanism(store)
    (came,) = await recall.contribute(request("User adopted a grey cat called Miso."))
    assert came.id == "e1"
    assert came.text == "a week ago, on Monday: User adopted a grey cat called Miso."
    assert came.value > 0.86
    assert await recall.contribute(request("What is the capital of Peru?")) == ()


async def test_topics_and_keywords_bring_an_event_back_only_if_they_count(
    store: SqliteStore,
) -> None:
    """With `labels` they are compared by vector, and shown; without, only the event's text is."""
    held = [
        event("e1", "User adopted Miso.", topics=("pets",), keywords=("cat", "kitten")),
        event("e2", "User moved to Lyon.", topics=("home",), keywords=("flat",)),
    ]
    await known(store, held)
    asking = request("pets cat kitten User adopted")
    plain = await mechanism(store).explain(OWNER, asking.text, now=asking.now, language="en")
    with_labels = mechanism(store, knobs=replace(PAPER, labels=True))
    labelled = await with_labels.explain(OWNER, asking.text, now=asking.now, language="en")
    before = {c.event.id: c.cosine for c in plain.candidates}
    after = {c.event.id: c.cosine for c in labelled.candidates}
    assert after["e1"] is not None
    assert before["e1"] is not None
    assert after["e1"] > before["e1"] + 0.2
    assert after["e2"] == before["e2"]  # the labels do not help it, and it loses nothing by them
    assert await mechanism(store).contribute(asking) == ()
    (came,) = await with_labels.contribute(asking)
    assert came.text == "a week ago, on Monday: User adopted Miso. (pets, cat, kitten)"
    again = await with_labels.explain(OWNER, asking.text, now=asking.now, language="en")
    assert again.candidates == labelled.candidates  # from the vectors that were kept


async def test_recall_consolidates_only_when_used(store: SqliteStore) -> None:
    """A prompt that was cancelled changes nothing; one that was used changes g and the time."""
    await known(store, [event("e1", "User adopted a grey cat called Miso.")])
    recall = mechanism(store)
    at = request("User adopted a grey cat called Miso.")
    came = await recall.contribute(at)
    assert (await store.events.read(OWNER))[0].recalls == 0
    await recall.mark_used(at, came)
    (after,) = await store.events.read(OWNER)
    assert after.recalls == 1
    assert after.last_recalled == at.now
    assert after.consolidation == pytest.approx(1.0274, abs=1e-3)


async def test_two_recalls_at_once_both_count(store: SqliteStore) -> None:
    """Whoever comes second builds on what the first wrote."""
    from asyncio import gather

    await known(store, [event("e1", "User adopted a grey cat called Miso.")])
    recall = mechanism(store)
    at = request("User adopted a grey cat called Miso.")
    came = await recall.contribute(at)
    await gather(recall.mark_used(at, came), recall.mark_used(at, came))
    assert (await store.events.read(OWNER))[0].recalls == 2


async def test_a_recall_of_two_counts_once_for_each_though_one_changed_meanwhile(
    store: SqliteStore,
) -> None:
    """What was written is not written again with what has to be tried anew."""
    texts = {"e1": "User adopted a grey cat.", "e2": "User adopted a grey cat called Miso."}
    await known(store, [event(id_, text) for id_, text in texts.items()])
    read, first = store.events.read, True

    def recalled(one: Event, *, after: timedelta = WEEK) -> Event:
        return replace(one, recalls=one.recalls + 1, last_recalled=one.last_recalled + after)

    async def interrupted(owner: Owner, **only: Any) -> tuple[Event, ...]:  # noqa: ANN401 - passed on
        nonlocal first
        found = await read(owner, **only)
        if first:
            first = False
            (other,) = await read(owner, ids=["e1"])
            await store.events.consolidate(owner, [recalled(other, after=WEEK / 2)])
        return found

    store.events.read = interrupted  # type: ignore[method-assign]
    await consolidate(store, OWNER, list(texts), recalled)
    assert {one.id: one.recalls for one in await read(OWNER)} == {"e1": 2, "e2": 1}


async def test_events_of_the_future_and_of_this_session_stay_out(store: SqliteStore) -> None:
    """History can be replayed: what was told later is not known yet."""
    text = "User adopted a grey cat called Miso."
    await known(store, [event("e1", text)])
    recall = mechanism(store)
    assert await recall.contribute(request(text, now=NOW - WEEK)) == ()
    (turn,) = await store.turns.read(OWNER)
    inside = ReplyRequest(owner=OWNER, text=text, session=(turn,), now=NOW + WEEK, language="en")
    assert await recall.contribute(inside) == ()


async def test_explain_tells_every_candidate_and_why(store: SqliteStore) -> None:
    """r, t, g, p and the reason, for what came to mind and for what did not."""
    text = "User adopted a grey cat called Miso."
    old = event("e2", "User bought a grey cat a ball.", last_recalled=NOW - 20 * WEEK)
    await known(store, [event("e1", text), old])
    shown = await mechanism(store).explain(OWNER, text, now=NOW, language="en")
    first, second = shown.candidates
    assert first.recalled
    assert first.why == "p 1.000 is above 0.86"
    assert first.cosine == pytest.approx(1)
    assert first.relevance == pytest.approx(1)
    assert first.elapsed == timedelta()
    assert not second.recalled
    assert "not close enough" in second.why
    assert "cosines as they are" in shown.calibration


async def test_an_event_that_faded_says_so(store: SqliteStore) -> None:
    """With the paper's unit and threshold, even the best cue fails after 31 days."""
    text = "User adopted a grey cat called Miso."
    await known(store, [event("e1", text)])
    recall = mechanism(store)
    later = await recall.explain(OWNER, text, now=NOW + timedelta(days=40), language="en")
    assert later.candidates[0].why.endswith("it has faded")
    slower = mechanism(store, knobs=RecallSettings(unit=timedelta(days=3650)))
    kept = await slower.explain(OWNER, text, now=NOW + timedelta(days=40), language="en")
    assert kept.candidates[0].recalled


async def test_explain_shows_what_was_taken_back(store: SqliteStore) -> None:
    """The old home is not recalled, and the reason names the newer event."""
    recall = mechanism(store)
    await recall.digest(await ended(store, "I live in Tokyo with two big dogs."))
    later = await ended(store, "I moved to Osaka last month.", at=NOW + WEEK, key="s2")
    await recall.digest(later)
    await embed(store)
    shown = await recall.explain(OWNER, "Tokyo dogs", now=NOW + 2 * WEEK, language="en")
    (tokyo,) = [c for c in shown.candidates if "Tokyo" in c.event.text]
    assert not tokyo.recalled
    assert "home changed" in tokyo.why
    assert "Osaka" in tokyo.why


async def test_without_an_embedder_words_decide(store: SqliteStore) -> None:
    """Also for events whose vectors are not there yet."""
    await ended(store, "Hello.")
    await store.events.add(OWNER, [event(f"e{i}", t) for i, t in enumerate(FACTS)])
    recall = HumanRecall(store=store, embedder=None, writer=ExtractiveEventWriter())
    came = await recall.contribute(request("How is your grey cat Miso?", now=NOW))
    assert [c.id for c in came] == ["e0"]
    shown = await recall.explain(OWNER, "How is your grey cat Miso?", now=NOW, language="en")
    assert shown.calibration == "no embedder: by words only"
    assert shown.candidates[0].by == "words"


async def test_without_candidates_the_events_are_not_read(store: SqliteStore) -> None:
    """One look into the index is all: it is made after every reply."""
    await ended(store, "Hello.")
    recall = HumanRecall(store=store, embedder=None, writer=ExtractiveEventWriter())
    before = store.file.round_trips
    assert await recall.contribute(request("How is your grey cat Miso?", now=NOW)) == ()
    assert store.file.round_trips == before + 1


FACTS = [
    "User adopted a grey cat called Miso.",
    "User works as a nurse in Oslo.",
    "User plays chess on Sundays.",
    "User is allergic to peanuts.",
    "User is learning Portuguese.",
    "User drives an old blue van.",
    "User grew up on a farm in Kansas.",
    "User runs marathons in spring.",
    "User collects vinyl records.",
    "User bakes sourdough bread.",
    "User is afraid of heights.",
    "User paints watercolours.",
]


async def test_an_unknown_embedder_gets_a_cautious_map(store: SqliteStore) -> None:
    """With little data words decide; with enough, a map guessed from it; both are said."""
    await ended(store, *[x for f in FACTS for x in (f.replace("User", "I"), "I see.")])
    recall = HumanRecall(store=store, embedder=HashEmbedder(), writer=ExtractiveEventWriter())
    none = await recall.explain(OWNER, "cat", now=NOW + WEEK, language="en")
    assert "not enough events" in none.calibration
    with pytest.raises(BadInput, match="10 events"):
        await recall.refit(OWNER, now=NOW + WEEK)
    done = await ended(store, "Hello.", at=NOW + WEEK, key="s2")
    told = NOW + WEEK
    await store.events.add(
        OWNER,
        [
            event(f"e{i}", t, session=done.session.number, time=told, last_recalled=told)
            for i, t in enumerate(FACTS)
        ],
    )
    some = await recall.explain(OWNER, "cat", now=NOW + 2 * WEEK, language="en")
    assert "no measured calibration; estimated" in some.calibration
    made = await recall.refit(OWNER, now=NOW + 2 * WEEK)
    assert not made.measured
    assert len(await store.notes.read(OWNER, kind=CALIBRATION)) == 1
    again = await recall.explain(OWNER, "cat", now=NOW + 2 * WEEK, language="en")
    assert "this user's own" in again.calibration


async def test_many_turns_do_not_make_up_for_few_events(store: SqliteStore) -> None:
    """A map is guessed from ten events or more, however much was said."""
    lines = [f"{f.replace('User', 'I')} {number}" for number in range(12) for f in FACTS]
    await ended(store, *[x for line in lines for x in (line, "I see.")])
    done = await ended(store, "Hello.", at=NOW + WEEK, key="s2")
    told = {"session": done.session.number, "time": NOW + WEEK, "last_recalled": NOW + WEEK}
    await store.events.add(OWNER, [event(f"e{i}", f"{FACTS[0]} {i}", **told) for i in range(9)])
    recall = HumanRecall(store=store, embedder=HashEmbedder(), writer=ExtractiveEventWriter())
    few = await recall.explain(OWNER, "cat", now=NOW + 2 * WEEK, language="en")
    assert "not enough events" in few.calibration
    await store.events.add(OWNER, [event("e9", f"{FACTS[0]} 9", **told)])
    enough = await recall.explain(OWNER, "cat", now=NOW + 2 * WEEK, language="en")
    assert "estimated" in enough.calibration


class CountingEmbedder(HashEmbedder):
    """Counts the texts that it is given."""

    texts = 0

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """As its parent."""
        self.texts += len(texts)
        return await super().embed(texts)


async def test_a_guessed_map_is_made_once_until_there_is_twice_as_much(store: SqliteStore) -> None:
    """A second question costs the embedding of its own words alone."""
    await ended(store, *[x for f in FACTS for x in (f.replace("User", "I"), "I see.")])
    done = await ended(store, "Hello.", at=NOW + WEEK, key="s2")
    told = {"session": done.session.number, "time": NOW + WEEK, "last_recalled": NOW + WEEK}
    await store.events.add(OWNER, [event(f"e{i}", t, **told) for i, t in enumerate(FACTS)])
    embedder = CountingEmbedder()
    recall = HumanRecall(store=store, embedder=embedder, writer=ExtractiveEventWriter())
    maps = []
    for costs_more_than_a_question in (True, False):
        before = embedder.texts
        shown = await recall.explain(OWNER, "cat", now=NOW + 2 * WEEK, language="en")
        maps.append(shown.calibration)
        assert (embedder.texts - before > 1) is costs_more_than_a_question
    assert maps[0] == maps[1]
    more = [event(f"m{i}", f"{t} {i}", **told) for i, t in enumerate(FACTS)]
    await store.events.add(OWNER, more)
    before = embedder.texts
    await recall.explain(OWNER, "cat", now=NOW + 2 * WEEK, language="en")
    assert embedder.texts - before > 1


@pytest.mark.parametrize(("kept", "again"), [(2000, 1), (1, 3)])
async def test_events_that_were_compared_by_their_labels_are_not_embedded_again(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, kept: int, again: int
) -> None:
    """Only a new one is, and the question; all are if more are kept than there is room for."""
    monkeypatch.setattr(human_recall, "CACHED", kept)
    embedder = CountingEmbedder(dimensions=512)
    recall = HumanRecall(
        store=store,
        embedder=embedder,
        writer=ExtractiveEventWriter(),
        knobs=replace(PAPER, labels=True),
        calibration=IDENTITY,
    )
    texts = ("User adopted Miso.", "User moved to Lyon.", "User is a nurse.")
    *first, last = (event(f"e{i}", text, topics=("life",)) for i, text in enumerate(texts))
    await known(store, first)
    await recall.explain(OWNER, "How is Miso?", now=NOW + WEEK, language="en")
    await store.events.add(OWNER, [last])
    await embed(store)
    before = embedder.texts
    found = await recall.explain(OWNER, "How is Miso?", now=NOW + WEEK, language="en")
    assert len(found.candidates) == 3
    assert embedder.texts - before == 1 + again


async def test_curves_fade_and_a_recall_lifts_them(store: SqliteStore) -> None:
    """Data for the plot: each event now, and if it came to mind now."""
    old = event("e1", "User adopted a cat.", last_recalled=NOW - 2 * WEEK, time=NOW - 2 * WEEK)
    await known(store, [old])
    (drawn,) = await mechanism(store).curves(OWNER, now=NOW, days=60)
    fading, lifted = [p for _, p in drawn.fading], [p for _, p in drawn.recalled]
    assert fading == sorted(fading, reverse=True)
    assert all(a < b for a, b in zip(fading, lifted, strict=True))
    assert drawn.out_of_reach is not None
    assert 15 < drawn.out_of_reach < 18


async def test_curves_reach_a_quarter_of_a_year_ahead(world: World) -> None:
    """Unless somebody wants more or less of them."""
    await world.memory.record("ana", "I adopted a cat called Miso.")
    now = world.clock.now()
    kept = event("e", "User adopted a cat.", time=now, last_recalled=now)
    await world.store.events.add(Owner(tenant="default", user="ana"), [kept])
    (usual,) = await world.memory.curves("ana")
    (short,) = await world.memory.curves("ana", days=7.0)
    assert (usual.fading[-1][0], short.fading[-1][0]) == (90.0, 7.0)


def test_the_name() -> None:
    """What it is called in a configuration."""
    assert HumanRecall.name == "human-recall"
