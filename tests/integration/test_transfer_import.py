"""Other programs' exports become sessions."""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import JobState, JobTask, Owner, Speaker
from omoide.errors import BadImport
from omoide.transfer import ExportContents, ForeignExport, detect, import_conversations, read
from tests.examples import examples

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from omoide.ports import Store
    from omoide.transfer import ForeignConversation, ImportResult

ANNA = Owner(tenant="default", user="anna")
NOW = datetime(2026, 6, 1, tzinfo=UTC)
MONDAY = 1_700_000_000.0


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    """A database that dies with the test."""
    opened = await SqliteStore.open(":memory:")
    yield opened
    await opened.close()


def node(id_: str, parent: str | None, role: str, *parts: object, **more: object) -> object:
    """A node of ChatGPT's tree."""
    return {
        "id": id_,
        "parent": parent,
        "children": [],
        "message": {
            "id": f"m-{id_}",
            "author": {"role": role},
            "create_time": MONDAY + len(id_),
            "content": {"content_type": "text", "parts": list(parts)},
            **more,
        },
    }


def chatgpt(id_: str, *nodes: object, current: str, time: float = MONDAY) -> dict[str, object]:
    """A conversation of ChatGPT."""
    root: dict[str, object] = {"id": "root", "message": None, "parent": None, "children": ["x"]}
    mapping = {"root": root} | {str(n["id"]): n for n in nodes if isinstance(n, dict)}
    return {
        "conversation_id": id_,
        "title": "Cats",
        "create_time": time,
        "current_node": current,
        "mapping": mapping,
    }


CATS = chatgpt(
    "c1",
    node("sys", "root", "system", ""),
    node("q", "sys", "user", "I have a cat."),
    node("old", "q", "assistant", "A first answer that was regenerated."),
    node("new", "q", "assistant", "How nice!"),
    node("img", "new", "user", {"content_type": "image_asset_pointer"}, "Look at her"),
    current="img",
)
CLAUDE = {
    "uuid": "k1",
    "name": "Dogs",
    "created_at": "2026-01-05T09:00:00.123456Z",
    "chat_messages": [
        {
            "uuid": "k1-1",
            "sender": "human",
            "text": "I have a dog.",
            "content": [],
            "created_at": "2026-01-05T09:00:00Z",
        },
        {
            "uuid": "k1-2",
            "sender": "assistant",
            "text": "(tool noise) Woof!",
            "content": [{"type": "tool_use", "name": "x"}, {"type": "text", "text": "Woof!"}],
            "created_at": "2026-01-05T09:01:00Z",
        },
        "not a message",
        {"uuid": "k1-4", "sender": "human", "text": "", "content": []},
    ],
}


def conversations(path: Path, *, max_chars: int = 1000) -> list[ForeignConversation]:
    """All conversations of another program's file."""
    found = read(path, max_chars=max_chars)
    assert isinstance(found, ForeignExport)
    return list(found.conversations)


async def imported(store: Store, path: Path, *, digest: bool = True) -> ImportResult:
    """Bring a file in."""
    return await import_conversations(store, ANNA, conversations(path), at=NOW, digest=digest)


def a_file(folder: Path, value: object, name: str = "conversations.json") -> Path:
    """The value as a JSON file."""
    path = folder / name
    path.write_text(json.dumps(value))
    return path


async def test_chatgpt_follows_the_current_branch(store: Store, tmp_path: Path) -> None:
    """Only what was last on the screen is taken, and what is left out is told."""
    done = await imported(store, a_file(tmp_path, [CATS]))
    turns = await store.turns.read(ANNA)
    assert [(t.speaker, t.text) for t in turns] == [
        (Speaker.USER, "I have a cat."),
        (Speaker.ASSISTANT, "How nice!"),
        (Speaker.USER, "Look at her"),
    ]
    assert turns[0].id == "chatgpt:m-q"
    assert turns[0].time == datetime.fromtimestamp(MONDAY + 1, UTC)
    assert {(left.where, left.reason[:12]) for left in done.left_out} == {
        ("item 1, sys", "it is from n"),
        ("item 1, img", "1 attachment"),
    }


async def test_claude_takes_the_text_blocks(store: Store, tmp_path: Path) -> None:
    """Text blocks win over the mixed text; malformed messages are counted with the reason."""
    done = await imported(store, a_file(tmp_path, [CLAUDE]))
    assert [t.text for t in await store.turns.read(ANNA)] == ["I have a dog.", "Woof!"]
    (session,) = await store.turns.sessions(ANNA)
    assert session.key == "claude:k1"
    assert session.ended == datetime(2026, 1, 5, 9, 1, tzinfo=UTC)
    reasons = [(left.where, left.reason) for left in done.left_out]
    assert reasons == [
        ("item 1, message 3", "a message must be an object, not str"),
        ("item 1, message 4", "it is empty"),
    ]


async def test_conversations_come_in_order_of_time(store: Store, tmp_path: Path) -> None:
    """The newest conversation stands first in an export and becomes the last session."""
    newer = chatgpt("c2", node("q2", "root", "user", "Later."), current="q2", time=MONDAY + 9e6)
    mapping = newer["mapping"]
    assert isinstance(mapping, dict)
    mapping["q2"]["message"]["create_time"] = MONDAY + 9e6
    await imported(store, a_file(tmp_path, [newer, CATS]))
    sessions = await store.turns.sessions(ANNA)
    assert [s.key for s in sessions] == ["chatgpt:c1", "chatgpt:c2"]


async def test_progress_is_told(store: Store, tmp_path: Path) -> None:
    """Each conversation is told, up to the last."""
    told: list[tuple[int, int]] = []
    path = a_file(tmp_path, [CATS, chatgpt("c2", node("z", None, "user", "Hi"), current="z")])
    found = conversations(path)
    await import_conversations(
        store, ANNA, found, at=NOW, progress=lambda n, of, _: told.append((n, of))
    )
    assert told == [(1, 2), (2, 2)]


async def test_importing_again_records_nothing(store: Store, tmp_path: Path) -> None:
    """The same file twice is the same as once, jobs included."""
    path = a_file(tmp_path, [CATS])
    await imported(store, path)
    before = await store.turns.read(ANNA), await store.jobs.list("default")
    again = await imported(store, path)
    assert (again.turns, again.known, again.to_digest) == (0, 3, 0)
    assert (await store.turns.read(ANNA), await store.jobs.list("default")) == before


async def test_a_conversation_that_went_on(store: Store, tmp_path: Path) -> None:
    """What was said since the last import becomes a session of its own."""
    await imported(store, a_file(tmp_path, [CATS]))
    longer = json.loads(json.dumps(CATS))
    longer["mapping"]["more"] = node("more", "img", "assistant", "Lovely.")
    longer["current_node"] = "more"
    done = await imported(store, a_file(tmp_path, [longer]))
    assert (done.turns, done.sessions, done.known) == (1, 1, 3)
    assert [s.key for s in await store.turns.sessions(ANNA)] == ["chatgpt:c1", "chatgpt:c1"]


async def test_digestion_can_be_left_for_later(store: Store, tmp_path: Path) -> None:
    """Each session gets its digest job, or none if that was asked for."""
    done = await imported(store, a_file(tmp_path, [CLAUDE]), digest=False)
    assert done.to_digest == 0
    jobs = await store.jobs.list("default", states=[JobState.WAITING])
    assert [job.task for job in jobs] == [JobTask.EMBED]
    done = await imported(store, a_file(tmp_path, [CATS], "chatgpt.json"))
    jobs = await store.jobs.list("default", states=[JobState.WAITING])
    assert [(j.task, j.session) for j in jobs if j.task is JobTask.DIGEST] == [(JobTask.DIGEST, 2)]
    assert done.to_digest == 1


async def test_other_words_under_a_known_id_are_told(store: Store, tmp_path: Path) -> None:
    """A message whose words changed since the last import is left out with the reason."""
    await imported(store, a_file(tmp_path, [CATS]))
    changed = json.loads(json.dumps(CATS))
    changed["mapping"]["q"]["message"]["content"]["parts"] = ["I have a crocodile."]
    done = await imported(store, a_file(tmp_path, [changed]))
    assert any("another text" in left.reason for left in done.left_out)
    assert "crocodile" not in " ".join(t.text for t in await store.turns.read(ANNA))


def test_a_circle_ends(tmp_path: Path) -> None:
    """A tree whose parents form a cycle is cut, and that is reported."""
    ring = chatgpt("c", node("a", "b", "user", "A"), node("b", "a", "user", "B"), current="a")
    (found,) = conversations(a_file(tmp_path, [ring]))
    assert sorted(m.text for m in found.messages) == ["A", "B"]
    assert any("cycle" in left.reason for left in found.left_out)


MESSAGES = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "I like tea.", "created_at": "2026-02-01T10:00:00Z"},
    {"role": "assistant", "content": [{"type": "text", "text": "So do I."}]},
    {"role": "user", "content": 7},
]


@pytest.mark.parametrize("form", ["list", "object", "objects", "lines", "lists", "pretty"])
def test_plain_messages_in_every_form(tmp_path: Path, form: str) -> None:
    """A list, an object, lines of messages and lines of conversations are all understood."""
    lines = "\n".join(json.dumps(message) for message in MESSAGES)
    text = {
        "list": json.dumps(MESSAGES),
        "object": json.dumps({"messages": MESSAGES}),
        "objects": json.dumps([{"messages": MESSAGES}]),
        "lines": f"{lines}\n",
        "lists": f"{json.dumps(MESSAGES)}\n\n{json.dumps(MESSAGES[1:2])}\n",
        "pretty": json.dumps(MESSAGES, indent=2),
    }[form]
    path = tmp_path / "chat.jsonl"
    path.write_text(text)
    first, *others = conversations(path)
    assert [m.text for m in first.messages] == ["I like tea.", "So do I."]
    assert len(first.left_out) == 2
    assert len(others) == (form == "lists")
    assert first.with_times(NOW).messages[1].time == datetime(2026, 2, 1, 10, tzinfo=UTC)


def test_a_time_in_milliseconds_is_read(tmp_path: Path) -> None:
    """As JavaScript writes it; the message would get the time of the import."""
    said = {"role": "user", "content": "Hi!"}
    path = a_file(tmp_path, [{**said, "timestamp": t} for t in (1_700_000_000_000, 1_700_000_000)])
    (talk,) = conversations(path)
    assert {m.time for m in talk.messages} == {datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)}


def test_ids_without_ids_are_stable_and_apart(tmp_path: Path) -> None:
    """Conversations without ids are told apart by their words, the same at each import."""
    path = a_file(tmp_path, [{"messages": MESSAGES}, {"messages": MESSAGES[:2]}])
    one, two = conversations(path)
    assert one == conversations(path)[0]
    assert {m.id for m in one.messages}.isdisjoint({m.id for m in two.messages})


def test_a_bad_line_does_not_end_the_others(tmp_path: Path) -> None:
    """A line that is no JSON is one entry left out, with its number."""
    path = tmp_path / "chat.jsonl"
    path.write_text('{"role": "user", "content": "A"}\n{oops\n{"role": "user", "content": "B"}\n')
    (found,) = conversations(path)
    assert [m.text for m in found.messages] == ["A", "B"]
    assert [left.where for left in found.left_out] == ["line 2"]


def test_what_may_not_be_recorded_is_told(tmp_path: Path) -> None:
    """What is nothing but control characters and giants are left out with the engine's own words;
    a text with a bad character in it is kept without it."""
    texts = ("\x00", "half \ud800", "x" * 50, "page\x0c fine")
    bad = [{"role": "user", "content": text} for text in texts]
    (found,) = conversations(a_file(tmp_path, bad), max_chars=20)
    assert [m.text for m in found.messages] == ["half \ufffd", "page fine"]
    assert [left.reason[:20] for left in found.left_out] == [
        "the text is empty: w",
        "the text has 50 char",
    ]


def zipped(path: Path, **members: str) -> Path:
    """A zip with these members; __ stands for / and _json for .json."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name.replace("__", "/").replace("_json", ".json"), text)
    return path


def test_a_zip_as_it_was_handed_out(tmp_path: Path) -> None:
    """The conversations are found inside a zip, also in several parts."""
    path = zipped(
        tmp_path / "export.zip",
        user_json="{}",
        **{"conversations-000_json": json.dumps([CATS]), "conversations-001_json": "[]"},
    )
    (found,) = conversations(path)
    assert found.key == "chatgpt:c1"


def test_a_zip_without_conversations(tmp_path: Path) -> None:
    """A zip without conversations says what it contains."""
    with pytest.raises(BadImport, match=r"contains no conversations.json; it contains user.json"):
        read(zipped(tmp_path / "x.zip", user_json="{}"), max_chars=10)


def test_a_long_array_is_read_piece_by_piece(tmp_path: Path) -> None:
    """An array far longer than one chunk, with conversations of all lengths, comes whole."""
    many = [
        {"uuid": f"u{i}", "chat_messages": [{"uuid": f"m{i}", "sender": "human", "text": "é" * n}]}
        for i, n in enumerate([1, 700_000, 3, 2_500_000, 5] + [9] * 2000)
    ]
    found = conversations(a_file(tmp_path, many), max_chars=10_000_000)
    assert [c.key for c in found] == [f"claude:u{i}" for i in range(2005)]
    assert len(found[3].messages[0].text) == 2_500_000


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "it is empty"),
        (b"hello", "begins with 'hello'"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"[1, 2", "cut short"),
        (b'[{"mapping": {}}, {"mapp', "cut short"),
        (b'{"a": 1}', "an object with 'a'"),
        (b"[]", "it has nothing"),
        (b"[[[1]]]", "a list"),
        (b"[" * 100_000, "nested too deeply"),
        (b"PK\x05\x06" + b"\x00" * 18, "contains no conversations.json"),
        (b'{"kind": "header", "schema": "x"}', "whole number"),
    ],
)
def test_an_unknown_file_says_what_was_wanted_and_seen(
    tmp_path: Path, content: bytes, says: str
) -> None:
    """Each kind of nonsense has a clear error."""
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(BadImport, match=says):
        conversations(path)


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    """A path that is no file is told apart."""
    with pytest.raises(BadImport, match="there is no file"):
        read(tmp_path / "none.json", max_chars=10)
    with pytest.raises(BadImport, match="is a folder"):
        read(tmp_path, max_chars=10)


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
words = st.sampled_from(
    "mapping current_node message author role content parts id parent children create_time "
    "chat_messages sender text uuid type created_at messages kind schema format records user "
    "assistant human header root n1 n2 multimodal_text content_type recipient".split()
)
values = st.recursive(
    leaves | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words | st.text(), inner),
    max_leaves=25,
)
seeds = st.sampled_from([[CATS], [CLAUDE], MESSAGES, {"messages": MESSAGES}])


@settings(max_examples=examples(300), deadline=None)
@given(values, seeds, st.randoms(use_true_random=False))
def test_arbitrary_json_is_read_or_refused(value: object, seed: object, dice: object) -> None:
    """Arbitrary JSON, and our examples with a piece replaced, never raise but `BadImport`."""
    choose = getattr(dice, "choice")  # noqa: B009 - hypothesis hides the type
    for document in (value, [value], mutated(seed, value, choose)):
        attempt(json.dumps(document).encode())


@settings(max_examples=examples(300), deadline=None)
@given(st.binary(max_size=200) | st.text().map(lambda t: t.encode("utf-8", "surrogatepass")))
@example(b"PK\x03\x04")
def test_arbitrary_bytes_are_read_or_refused(content: bytes) -> None:
    """Arbitrary bytes never raise but `BadImport`."""
    attempt(content)


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(min_value=0, max_value=400), st.integers(min_value=0, max_value=255))
def test_damaged_zips_are_read_or_refused(place: int, byte: int) -> None:
    """A zip with one byte changed never raises but `BadImport`."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps([CATS]))
    damaged = bytearray(buffer.getvalue())
    damaged[place % len(damaged)] = byte
    attempt(bytes(damaged))


@settings(max_examples=examples(60), deadline=None)
@given(values, seeds, st.randoms(use_true_random=False))
async def test_damaged_exports_are_recorded_without_a_crash(
    value: object, seed: object, dice: object
) -> None:
    """Whatever is still readable of a damaged export is recorded, and twice is once."""
    choose = getattr(dice, "choice")  # noqa: B009 - hypothesis hides the type
    with TemporaryDirectory() as folder:
        path = a_file(Path(folder), mutated(seed, value, choose))
        opened = await SqliteStore.open(":memory:")
        try:
            first = await imported(opened, path)
            again = await imported(opened, path)
        except BadImport:
            return
        finally:
            await opened.close()
    assert (again.turns, again.sessions) == (0, 0)
    assert again.known >= first.turns


def attempt(content: bytes) -> None:
    """Read the bytes as a file: what comes is sound, or a `BadImport`."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.json"
        path.write_bytes(content)
        with contextlib.suppress(BadImport):
            found = read(path, max_chars=1000)
            if isinstance(found, ExportContents):
                assert found.user is not None
                return
            for conversation in found.conversations:
                placed = conversation.with_times(NOW)
                assert all(m.time for m in placed.messages)
                assert all(0 < len(m.id) <= 256 for m in placed.messages)


def mutated(seed: object, value: object, choose: object) -> object:
    """The seed with one randomly chosen place replaced by `value`."""
    copy = json.loads(json.dumps(seed))
    place = copy
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return copy
        key = choose(keys)  # type: ignore[operator]
        if isinstance(place[key], dict | list) and place[key] and choose([True, True, False]):  # type: ignore[operator]
            place = place[key]
        else:
            place[key] = value
            return copy


@pytest.mark.parametrize("first", ["", '{"mapping": {}}, ', '{"role": "user", "content": "Hi."}, '])
def test_a_file_of_endless_nothing_is_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """A zip of some kilobytes can hold millions of empty items."""
    monkeypatch.setattr(detect, "MOST_UNKNOWN", 100)
    file = tmp_path / "export.json"
    file.write_text(f"[{first}{'{}, ' * 100_000}{{}}]", encoding="utf-8")
    with pytest.raises(BadImport, match=r"100 item\(s\)|item 102: more than 100 items"):
        list(read(file, max_chars=9).conversations)  # type: ignore[union-attr]
