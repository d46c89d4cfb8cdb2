"""Our own export comes back to the same state."""

from __future__ import annotations

import contextlib
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import (
    CallPurpose,
    JobState,
    JobTask,
    ModelCall,
    NewTurn,
    Origin,
    Owner,
    RejectedAnswer,
    Sentence,
    Speaker,
    Summary,
    Turn,
)
from omoide.errors import BadImport, BadInput, StoreError
from omoide.transfer import ExportContents, export, from_record, read, restore, to_record

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from omoide.ports import Store
    from omoide.transfer import Record

ANNA = Owner(tenant="default", user="anna")
OTHER = Owner(tenant="default", user="anna again")
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    """A database that dies with the test."""
    opened = await SqliteStore.open(":memory:")
    yield opened
    await opened.close()


def said(id_: str, text: str, time: datetime, speaker: Speaker = Speaker.USER) -> NewTurn:
    """Words of the user, unless told otherwise."""
    return NewTurn(speaker=speaker, text=text, time=time, id=id_, language="en")


def version(number: int, *, session: int, sources: tuple[str, ...]) -> Summary:
    """A version with one sentence and every field set."""
    sentence = Sentence(text=f"The user has {number} cats.", about=Speaker.USER, sources=sources)
    return Summary(
        number=number,
        sentences=(sentence,),
        origin=Origin.DIGEST,
        session=session,
        time=START + number * HOUR,
        language="en",
        model="scripted",
        prompt="abc",
        prompt_tokens=10,
        completion_tokens=5,
        seconds=0.5,
        notes=("1 tries rejected",),
    )


async def lived(store: Store, *, digested: int = 2) -> None:
    """Three sessions, two of them at once; the last still open."""
    idle = timedelta(minutes=30)
    await store.turns.append(ANNA, [said("a1", "I have a cat.", START)], session=None, idle=idle)
    await store.turns.append(ANNA, [said("b1", "Hi!", START)], session="thread", idle=idle)
    reply = said("a2", "How nice!", START + timedelta(minutes=1), Speaker.ASSISTANT)
    await store.turns.append(ANNA, [reply], session=None, idle=idle)
    await store.turns.end(ANNA, session=1, at=START + HOUR, digest=digested < 1)
    await store.turns.end(ANNA, session=2, at=START + 2 * HOUR, digest=digested < 2)
    again = said("c1", "Two cats now.", START + 3 * HOUR)
    await store.turns.append(ANNA, [again], session=None, idle=idle)
    for number in range(1, digested + 1):
        made = version(number, session=number, sources=(f"{'ab'[number - 1]}1",))
        await store.summaries.commit(ANNA, made)
    await store.summaries.add_rejected(
        ANNA,
        RejectedAnswer(
            session=1, text="I have", problems=("an echo",), model="scripted", time=START
        ),
    )
    call = ModelCall(
        purpose=CallPurpose.DIGEST,
        model="scripted",
        session=1,
        prompt_tokens=10,
        completion_tokens=5,
        seconds=0.25,
        time=START,
    )
    await store.ledger.add(ANNA, call)
    await store.ledger.add(ANNA, call)


async def exported(store: Store, owner: Owner) -> list[Record]:
    """All records of an owner."""
    return [record async for record in export(store, owner)]


def written(path: Path, records: list[Record]) -> ExportContents:
    """The records through a file and back."""
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records))
    whole = read(path, max_chars=1000)
    assert isinstance(whole, ExportContents)
    return whole


async def test_everything_comes_back(store: Store, tmp_path: Path) -> None:
    """A restored user exports the very same records, interleaved sessions and all."""
    await lived(store)
    records = await exported(store, ANNA)
    done = await restore(store, OTHER, written(tmp_path / "anna.jsonl", records), at=START)
    again = await exported(store, OTHER)
    assert [{**r, "user": None} for r in again] == [{**r, "user": None} for r in records]
    assert (done.sessions, done.turns, done.versions, done.calls) == (3, 4, 2, 2)


async def test_no_job_for_a_memory_that_came_along(store: Store, tmp_path: Path) -> None:
    """Only the session that was never digested is queued."""
    await lived(store, digested=1)
    whole = written(tmp_path / "anna.jsonl", await exported(store, ANNA))
    done = await restore(store, OTHER, whole, at=START)
    jobs = await store.jobs.list("default", owner=OTHER, states=[JobState.WAITING])
    assert [job.session for job in jobs if job.task is JobTask.DIGEST] == [2]
    assert done.to_digest == 1


async def test_restoring_twice_doubles_nothing(store: Store, tmp_path: Path) -> None:
    """The second run finds everything there, even after the user went on talking."""
    await lived(store)
    whole = written(tmp_path / "anna.jsonl", await exported(store, ANNA))
    await restore(store, OTHER, whole, at=START)
    more = said("d1", "And a dog.", START + 4 * HOUR)
    await store.turns.append(OTHER, [more], session=None, idle=HOUR)
    before = await exported(store, OTHER)
    done = await restore(store, OTHER, whole, at=START)
    assert await exported(store, OTHER) == before
    assert (done.turns, done.versions, done.aside, done.calls) == (0, 0, 0, 0)


class Dying:
    """A store, or a side of one, that dies at its n-th call."""

    def __init__(self, target: object, left: list[int]) -> None:
        self._target = target
        self._left = left

    def __getattr__(self, name: str) -> object:
        found = getattr(self._target, name)
        if not callable(found):
            return Dying(found, self._left)

        async def call(*args: object, **kwargs: object) -> object:
            self._left[0] -= 1
            if self._left[0] < 0:
                raise StoreError("killed")
            return await found(*args, **kwargs)

        return call


@pytest.mark.parametrize("calls", range(22))
async def test_a_broken_off_restore_goes_on(store: Store, tmp_path: Path, calls: int) -> None:
    """A restore that died after any of its calls is completed by running it again."""
    await lived(store, digested=1)
    records = await exported(store, ANNA)
    whole = written(tmp_path / "anna.jsonl", records)
    with contextlib.suppress(StoreError):
        await restore(cast("Store", Dying(store, [calls])), OTHER, whole, at=START)
    await restore(store, OTHER, whole, at=START)
    assert (await exported(store, OTHER))[1:] == records[1:]
    jobs = await store.jobs.list("default", owner=OTHER, states=[JobState.WAITING])
    assert [job.session for job in jobs if job.task is JobTask.DIGEST] == [2]


async def test_other_turns_are_a_conflict(store: Store, tmp_path: Path) -> None:
    """A user who said something else is left as they were."""
    await lived(store)
    whole = written(tmp_path / "anna.jsonl", await exported(store, ANNA))
    mine = said("x1", "I am someone else.", START)
    await store.turns.append(OTHER, [mine], session=None, idle=HOUR)
    with pytest.raises(BadInput, match="already has other turns"):
        await restore(store, OTHER, whole, at=START)
    assert [t.id for t in await store.turns.read(OTHER)] == ["x1"]


async def test_the_same_id_with_other_words_is_a_conflict(store: Store, tmp_path: Path) -> None:
    """A turn id that stands for other words here is refused before anything is written."""
    await lived(store)
    whole = written(tmp_path / "anna.jsonl", await exported(store, ANNA))
    mine = said("a1", "I have a crocodile.", START)
    await store.turns.append(OTHER, [mine], session=None, idle=HOUR)
    with pytest.raises(BadInput, match="'a1' of session 1"):
        await restore(store, OTHER, whole, at=START)
    assert len(await store.turns.read(OTHER)) == 1


async def test_an_erased_session_stays_a_hole(store: Store, tmp_path: Path) -> None:
    """Sessions after an erased one keep their numbers, and nobody gets the erased one's again."""
    await lived(store)
    await store.archive.erase(ANNA, session=1)
    records = await exported(store, ANNA)
    await restore(store, OTHER, written(tmp_path / "anna.jsonl", records), at=START)
    assert (await exported(store, OTHER))[1:] == records[1:]
    assert [s.number for s in await store.turns.sessions(OTHER)] == [2, 3]
    (new,) = await store.turns.append(OTHER, [said("n1", "Hi.", START)], session="n", idle=HOUR)
    assert (new.session, new.position) == (4, 5)


async def test_a_file_of_the_first_schema_is_read(store: Store, tmp_path: Path) -> None:
    """Without job records, the sessions to digest are seen from the rest."""
    await lived(store, digested=1)
    header, *rest = await exported(store, ANNA)
    counts = {k: n for k, n in cast("dict[str, int]", header["records"]).items() if k != "job"}
    first = {**header, "schema": 1, "records": counts}
    old = [record for record in rest if record["kind"] != "job"]
    done = await restore(store, OTHER, written(tmp_path / "old.jsonl", [first, *old]), at=START)
    assert done.to_digest == 1


async def test_a_cut_file_is_refused(store: Store, tmp_path: Path) -> None:
    """The header's counts tell that the end of the file is missing."""
    await lived(store)
    records = await exported(store, ANNA)
    with pytest.raises(BadImport, match="cut short"):
        written(tmp_path / "anna.jsonl", records[:-1])


async def test_a_newer_schema_is_refused(store: Store, tmp_path: Path) -> None:
    """A file of a newer omoide says so instead of being read wrongly."""
    records = await exported(store, ANNA)
    with pytest.raises(BadImport, match="newer omoide"):
        written(tmp_path / "anna.jsonl", [{**records[0], "schema": 99}])


async def test_an_empty_user_is_one_header(store: Store, tmp_path: Path) -> None:
    """Nothing stored exports as nothing and restores as nothing."""
    (header,) = await exported(store, ANNA)
    assert set(cast("dict[str, int]", header["records"]).values()) == {0}
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps(header))
    whole = read(path, max_chars=10)
    assert isinstance(whole, ExportContents)
    done = await restore(store, OTHER, whole, at=START)
    assert done.turns == done.sessions == 0


times = st.datetimes(min_value=datetime(1971, 1, 1), max_value=datetime(2200, 1, 1)).map(  # noqa: DTZ001
    lambda t: t.replace(tzinfo=UTC)
)
texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1).filter(
    str.strip
)
names = st.from_regex(r"[a-z0-9:~-]{1,30}", fullmatch=True)
counts = st.integers(min_value=0, max_value=10**9)


@given(
    st.builds(
        Turn,
        id=names,
        session=counts,
        position=st.integers(1, 2**31 - 1),
        speaker=st.sampled_from(Speaker),
        text=texts,
        time=times,
        language=st.just("ja"),
        name=st.none() | names,
    )
)
def test_any_turn_survives_json(turn: Turn) -> None:
    """A turn is the same after JSON."""
    assert from_record(json.loads(json.dumps(to_record(turn))), "line 1") == turn


@given(
    st.builds(
        Summary,
        number=counts,
        sentences=st.lists(
            st.builds(
                Sentence,
                text=texts,
                about=st.none() | st.sampled_from(Speaker),
                sources=st.lists(names).map(tuple),
            )
        ).map(tuple),
        origin=st.sampled_from(Origin),
        session=st.none() | counts,
        time=times,
        language=st.just("en"),
        restored=st.none() | counts,
        model=names,
        prompt=names,
        prompt_tokens=counts,
        completion_tokens=counts,
        seconds=st.floats(min_value=0, max_value=1e6),
        notes=st.lists(texts).map(tuple),
    )
)
def test_any_version_survives_json(summary: Summary) -> None:
    """A version of the memory is the same after JSON, sources and all."""
    assert from_record(json.loads(json.dumps(to_record(summary))), "line 1") == summary


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
fields = "id session position speaker text time language name number started ended key".split()


@given(
    st.sampled_from("turn session version aside call event memo note job".split()),
    st.dictionaries(st.sampled_from(fields) | st.text(), json_values),
)
def test_any_record_is_read_or_refused(kind: str, record: dict[str, object]) -> None:
    """Whatever stands in a record, it is a value or a `BadImport`."""
    try:
        value = from_record({**record, "kind": kind}, "line 1")
    except BadImport:
        return
    assert to_record(value)["kind"] == kind
