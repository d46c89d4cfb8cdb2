"""Imports from other memory products, in the shapes that they export today."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from omoide.cli.main import cli
from omoide.domain import Speaker, Trust
from omoide.domain.fact import ASSISTANT, USER
from omoide.errors import BadImport
from omoide.transfer import ForeignExport, ForeignMemories, read
from omoide.transfer.detect import PRODUCTS, Product
from omoide.transfer.foreign_memories import MemoriesBuilder

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from omoide.transfer import MemoriesImportResult
    from tests.unit.conftest import World

    Make = Callable[..., Awaitable[World]]

FIELD = st.sampled_from(
    "results memory id hash user_id relations agents blocks messages label value content role type "
    "edges episodes nodes uuid fact source namespace key text object data items tool_calls name "
    "function arguments created_at categories group_id has_more".split()
)
HERE = Path(__file__).parents[1] / "fixtures" / "imports"
EXTRA = "fields of a memory"
"""Kept beside a memory, and so no item of its own."""
COUNTS: dict[str, tuple[int, int, int, dict[str, int]]] = {
    "mem0.json": (4, 2, 0, {EXTRA: 2, "a memory without usable text": 1, "a relation": 1}),
    "letta.af": (
        13,
        3,
        4,
        {"a block": 1, "a message that nobody said": 3, "an agent's settings": 1, "a tool": 1},
    ),
    "graphiti.json": (6, 2, 2, {EXTRA: 2, "an episode that is no message": 1, "a node": 1}),
    "langgraph.jsonl": (3, 2, 0, {EXTRA: 1, "an item without a text": 1}),
    "openai_conversation.json": (
        6,
        0,
        2,
        {
            "parts of a message": 1,
            "an item (reasoning)": 1,
            "an item (function call)": 1,
            "an item (function call output)": 1,
        },
    ),
}
"""Items of each file, counted by hand: all, facts, turns, and what is kept."""


def memories(name: str, **more: Any) -> ForeignMemories:  # noqa: ANN401 - as `read` takes it
    """What a file holds."""
    found = read(HERE / name, max_chars=10_000, **more)
    assert isinstance(found, ForeignMemories)
    return found


async def brought(world: World, name: str, **more: Any) -> MemoriesImportResult:  # noqa: ANN401
    """Import a file as ana."""
    now = datetime(2026, 11, 1, tzinfo=UTC)
    world.clock.advance(now - world.clock.now())
    return await world.memory.import_memories("ana", memories(name, **more))


@pytest.mark.parametrize("name", COUNTS)
async def test_every_item_is_stored_or_kept_and_the_numbers_add_up(
    make_world: Make, name: str
) -> None:
    """What each item became, counted by hand; a second import changes nothing."""
    world = await make_world()
    items, facts, turns, kept = COUNTS[name]
    done = await brought(world, name)
    assert (done.items, done.facts, done.turns, dict(done.kept)) == (items, facts, turns, kept)
    assert done.items == done.facts + done.turns + sum(kept.values()) - kept.get(EXTRA, 0)
    assert done.left_out == ()
    notes = await world.memory.notes("ana", kind="imported")
    assert len(notes) == sum(kept.values())
    again = await brought(world, name)
    assert (again.facts, again.turns, again.known) == (0, 0, facts + turns)
    assert len(await world.memory.facts("ana", ended=True)) == facts
    assert len(await world.memory.notes("ana", kind="imported")) == len(notes)


@pytest.mark.parametrize("name", COUNTS)
def test_no_value_of_the_file_is_lost(name: str) -> None:
    """Every text of the file is found again in what is imported, but for embeddings and ids."""
    text = (HERE / name).read_text("utf-8")
    values = [json.loads(line) for line in text.splitlines()] if name.endswith("l") else [
        json.loads(text)
    ]  # fmt: skip
    found = memories(name)
    stored = " ".join(
        [
            *(f"{f.text} {' '.join(f.tags)}" for f in found.facts),
            *(m.text for c in found.conversations for m in c.messages),
            *(json.dumps(json.loads(item.text)) for item in found.kept),
        ]
    )
    for word in ("Oslo", "Miso", "nurse", "boat", "sushi", "dark", "fond", "rain", "listener"):
        if word in json.dumps(values):
            assert word in stored, word


async def test_a_fact_of_mem0_has_its_time_and_where_it_comes_from(make_world: Make) -> None:
    """It is trusted less than what the user says, and found by recall."""
    world = await make_world()
    await brought(world, "mem0.json")
    facts = {fact.text: fact for fact in await world.memory.facts("ana")}
    fact = facts["Lives in Oslo"]
    assert fact.said == datetime(2026, 1, 5, 17, 0, 0, 123456, UTC)
    assert fact.trust is Trust.IMPORTED
    assert fact.flags == ("imported from mem0",)
    await world.memory.run_jobs()
    found = await world.memory.recall("ana", "Where is Oslo?")
    assert any("Oslo" in item.text for item in found)


async def test_what_ended_there_has_ended_here(make_world: Make) -> None:
    """With the days on which it held."""
    world = await make_world()
    await brought(world, "graphiti.json")
    assert [fact.text for fact in await world.memory.facts("ana")] == ["Ana lives in Bergen"]
    (oslo,) = [f for f in await world.memory.facts("ana", ended=True) if f.ended]
    assert (oslo.since, oslo.until) == (date(2025, 6, 1), date(2026, 1, 31))
    assert oslo.tags == ("LIVES_IN",)
    assert [t.text for t in await world.memory.turns("ana")] == [
        "I live in Oslo.",
        "A lovely city.",
    ]


async def test_a_newer_export_ends_what_has_ended_since(make_world: Make, tmp_path: Path) -> None:
    """At its time; what it says otherwise under a known id is told, and a third import is the
    same."""
    world = await make_world()
    await brought(world, "graphiti.json")
    graph = json.loads((HERE / "graphiti.json").read_text("utf-8"))
    bergen = graph["edges"][1]
    bergen |= {"expired_at": "2026-06-01T00:00:00Z", "invalid_at": "2026-05-31T00:00:00Z"}
    path = tmp_path / "newer.json"
    for text in ("Ana lives in Bergen", "Ana lives in Paris"):
        bergen["fact"] = text
        path.write_text(json.dumps(graph))
        done = await brought(world, str(path))
        assert (done.facts, done.known) == (0, 4)
        told = [item.where for item in done.left_out]
        assert told == (["zep:e-2"] if "Paris" in text else [])
    (ended,) = [f for f in await world.memory.facts("ana", ended=True) if "Bergen" in f.text]
    assert (ended.ended, ended.until) == (datetime(2026, 6, 1, tzinfo=UTC), date(2026, 5, 31))


async def test_words_of_letta_are_unwrapped(make_world: Make) -> None:
    """What the user said, what the assistant sent, and whom each block is about."""
    world = await make_world()
    await brought(world, "letta.af")
    said = [(turn.speaker, turn.text) for turn in await world.memory.turns("ana")]
    assert said == [
        (Speaker.USER, "I moved to Bergen."),
        (Speaker.ASSISTANT, "How is Bergen?"),
        (Speaker.USER, "It rains."),
        (Speaker.ASSISTANT, "As always."),
    ]
    about = {fact.text: fact.about for fact in await world.memory.facts("ana")}
    assert about == {
        "Her name is Ana.": USER,
        "Works nights as a nurse.": USER,
        "I am a patient listener.": ASSISTANT,
    }


async def test_two_files_of_letta_do_not_get_in_each_others_way(
    make_world: Make, tmp_path: Path
) -> None:
    """Their ids count from 0 in each file."""
    world = await make_world()
    await brought(world, "letta.af")
    other = (HERE / "letta.af").read_text("utf-8").replace("It rains.", "It snows.")
    path = tmp_path / "other.af"
    path.write_text(other.replace("2026-02-01", "2026-03-01").replace("companion", "friend"))
    found = read(path, max_chars=10_000)
    assert isinstance(found, ForeignMemories)
    done = await world.memory.import_memories("ana", found)
    assert (done.turns, done.left_out) == (4, ())
    said = [turn.text for turn in await world.memory.turns("ana")]
    assert {"It rains.", "It snows."} <= set(said)


def test_nobody_gets_anothers_memory() -> None:
    """An export of several users is refused until one of them is chosen."""
    with pytest.raises(BadImport, match=r"2 users \('ana', 'bob'\).*--from"):
        memories("mem0_platform.json")
    found = memories("mem0_platform.json", from_user="bob")
    assert [fact.text for fact in found.facts] == ["Plays chess on Mondays"]
    assert found.facts[0].tags == ("hobbies",)
    with pytest.raises(BadImport, match="'eve'"):
        memories("mem0_platform.json", from_user="eve")


def test_namespaces_of_langgraph_are_kept_apart(tmp_path: Path) -> None:
    """By the whole path, or by a part of it."""
    lines = (HERE / "langgraph.jsonl").read_text("utf-8")
    path = tmp_path / "store.jsonl"
    path.write_text(lines + lines.replace('"ana"', '"bob"'))
    with pytest.raises(BadImport, match="memories/ana"):
        read(path, max_chars=10_000)
    found = read(path, max_chars=10_000, from_user="bob")
    assert isinstance(found, ForeignMemories)
    assert found.items == 3


def test_a_list_that_is_not_whole_is_told() -> None:
    """OpenAI's lists come in pages."""
    found = memories("openai_items.json")
    assert [m.text for c in found.conversations for m in c.messages] == ["Hello"]
    (skipped,) = found.left_out
    assert "more items" in skipped.reason


def test_a_thread_of_zep_is_a_conversation() -> None:
    """Its older messages have the speaker's name where others have the role."""
    found = read(HERE / "zep_thread.json", max_chars=10_000)
    assert isinstance(found, ForeignExport)
    (talk,) = found.conversations
    assert [m.speaker for m in talk.messages] == [Speaker.USER, Speaker.ASSISTANT]
    assert talk.left_out == ()


def test_threads_of_zep_4_stay_apart(tmp_path: Path) -> None:
    """By their `thread_uuid`, at the time that the developer gave; and so do users by theirs."""
    found = memories("zep4.json")
    assert [len(c.messages) for c in found.conversations] == [1, 1]
    assert found.conversations[0].messages[0].time == datetime(2026, 2, 1, 10, tzinfo=UTC)
    text = (HERE / "zep4.json").read_text("utf-8")
    one, two = json.loads(text), json.loads(text.replace('"ana"', '"bob"').replace('"u1"', '"u2"'))
    path = tmp_path / "both.json"
    path.write_text(json.dumps({"items": one["edges"] + two["edges"]}))
    with pytest.raises(BadImport, match="'ana', 'bob'"):
        read(path, max_chars=10_000)
    bobs = read(path, max_chars=10_000, from_user="bob")
    assert isinstance(bobs, ForeignMemories)
    assert len(bobs.facts) == 1


def test_a_page_of_zep_4_is_a_conversation_and_tells_of_the_next() -> None:
    """Its messages are `items`, and a cursor says that there are more."""
    found = memories("zep4_thread.json")
    (talk,) = found.conversations
    assert [m.speaker for m in talk.messages] == [Speaker.USER, Speaker.ASSISTANT]
    (skipped,) = found.left_out
    assert "more" in skipped.reason


def test_nodes_of_somebody_else_are_left_there(tmp_path: Path) -> None:
    """Like their edges."""
    graph = json.loads((HERE / "graphiti.json").read_text("utf-8"))
    graph["nodes"].append({**graph["nodes"][0], "uuid": "n-9", "group_id": "bob", "name": "Bob"})
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(graph))
    found = read(path, max_chars=10_000, from_user="ana")
    assert isinstance(found, ForeignMemories)
    assert "Bob" not in str(found.kept)


@pytest.mark.parametrize("name", ["mem0_platform.json", "graphiti.json"])
def test_what_names_nobody_is_told_where_one_user_is_chosen(tmp_path: Path, name: str) -> None:
    """A fact that belongs to no user is not the chosen one's, and does not vanish either."""
    value = json.loads((HERE / name).read_text("utf-8"))
    (items,) = [value[key] for key in ("results", "edges") if key in value]
    nobodys = {k: v for k, v in items[0].items() if k not in ("user_id", "group_id")}
    items.append({**nobodys, "id": "n-9", "uuid": "n-9"})
    path = tmp_path / "export.json"
    path.write_text(json.dumps(value))
    found = read(path, max_chars=10_000, from_user="ana")
    assert isinstance(found, ForeignMemories)
    before = memories(name, from_user="ana")
    assert found.items == before.items + 1
    (added,) = set(found.left_out) - set(before.left_out)
    assert "names no user" in added.reason
    assert str(len(items)) in added.where


def test_messages_of_threads_that_name_nobody_are_told() -> None:
    """Graphiti's episodes may have a thread and no user."""
    found = memories("graphiti.json", from_user="ana")
    assert len(found.facts) == 2
    assert [item.where for item in found.left_out] == ["item 1, episode 1", "item 1, episode 2"]
    assert found.items == 6


@pytest.mark.parametrize("chosen", ["ana", None])
def test_what_is_kept_of_somebody_else_is_left_there(tmp_path: Path, chosen: str | None) -> None:
    """An episode that is no message, and an edge without a fact; unless one was chosen, the export
    of two is refused."""
    graph = json.loads((HERE / "graphiti.json").read_text("utf-8"))
    graph["episodes"].append({**graph["episodes"][-1], "content": "A letter.", "group_id": "bob"})
    graph["edges"].append({"uuid": "e-9", "name": "OWES", "group_id": "bob"})
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(graph))
    if chosen is None:
        with pytest.raises(BadImport, match="'ana', 'bob'"):
            read(path, max_chars=10_000)
        return
    found = read(path, max_chars=10_000, from_user=chosen)
    assert isinstance(found, ForeignMemories)
    assert len(found.facts) == 2
    assert "bob" not in str(found.kept)


@pytest.mark.parametrize(
    "name", ["letta.af", "openai_items.json", "graphiti.json", "zep_thread.json"]
)
def test_a_user_is_chosen_only_where_users_are_named(name: str) -> None:
    """Nothing is taken for somebody whom the file does not name."""
    with pytest.raises(BadImport, match=r"eve|--from"):
        read(HERE / name, max_chars=10_000, from_user="eve")


def test_messages_stand_in_the_order_of_their_times(tmp_path: Path) -> None:
    """Zep gives the newest episodes first."""
    graph = json.loads((HERE / "graphiti.json").read_text("utf-8"))
    graph["episodes"].reverse()
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(graph))
    found = read(path, max_chars=10_000)
    assert isinstance(found, ForeignMemories)
    (talk,) = found.conversations
    assert [m.text for m in talk.messages] == ["I live in Oslo.", "A lovely city."]


def test_a_line_that_is_no_json_is_told(tmp_path: Path) -> None:
    """The others are imported."""
    path = tmp_path / "store.jsonl"
    path.write_text((HERE / "langgraph.jsonl").read_text("utf-8") + "{broken\n")
    found = read(path, max_chars=10_000)
    assert isinstance(found, ForeignMemories)
    assert (found.items, len(found.facts), len(found.left_out)) == (4, 2, 1)


def test_the_command_tells_what_became_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For people, in numbers."""
    monkeypatch.setenv("OMOIDE_MODEL", "none")
    db = ["--db", str(tmp_path / "m.sqlite"), "--user", "ana"]
    result = CliRunner().invoke(cli, [*db, "import", str(HERE / "letta.af")])
    assert result.exit_code == 0, result.output
    assert "From letta: 1 session, 4 turns." in result.output
    assert "Also 3 facts, of 13 items in all." in result.output
    assert "Kept as they are" in result.output
    again = CliRunner().invoke(cli, [*db, "import", str(HERE / "letta.af")])
    assert "7 items had been imported before." in again.output


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELD, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.NAME)
@given(value=st.dictionaries(FIELD, JSON, max_size=6))
def test_whatever_a_file_holds_is_counted(product: Product, value: dict[str, Any]) -> None:
    """No shape breaks the import, and every item is a fact, a message, kept or left out."""
    builder = MemoriesBuilder(source=product.NAME, max_chars=1_000)
    if product.matches(value):
        product.read(value, where="item 1", builder=builder)
    try:
        found = builder.built()
    except BadImport:
        return  # it belongs to several users
    messages = sum(len(talk.messages) + len(talk.left_out) for talk in found.conversations)
    whole = [item for item in found.kept if item.what != EXTRA]
    assert found.items == len(found.facts) + messages + len(whole) + len(found.left_out)
