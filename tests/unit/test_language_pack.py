"""A language is one folder: a made-up sixth one from outside, and the five of ours."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import omoide
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.claims.contradiction import contradiction
from omoide.engine.runtime import Runtime
from omoide.errors import BadInput, BadLanguage
from omoide.language import (
    BUILT_IN,
    detect_language,
    languages,
    pack,
    packs,
    register,
    split_clauses,
)
from omoide.language.pack import TABLES, unregister
from omoide.mechanisms.events.human_time import human_time
from omoide.prompts import render, vocabulary
from omoide.settings import Settings
from omoide.testing import FrozenClock, ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(omoide.__file__).parent
MINIMUM = r"""
name = "Zorvan"

[detection]
script = "deseret"
letters = '[\U00010400-\U0001044F]'

[person]
first = '𐐀𐐁'

[note]
user = "𐐎𐐏 "
assistant = "𐐐𐐑 "
"""
"""The least a pack must hold, for a language written in the letters of Deseret."""
CAT = "𐐀𐐁 𐐂𐐃𐐄𐐅 𐐆𐐇𐐈𐐉."
"""Something told of oneself in it."""
WORDS = "user = 𐐎𐐏\nassistant = 𐐐𐐑\nnone = 𐐌\n"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """The folder of the pack, registered as `zv` for one test."""
    made = tmp_path / "zorvan"
    (made / "prompts").mkdir(parents=True)
    (made / "language.toml").write_text(MINIMUM, "utf-8")
    (made / "prompts" / "words.txt").write_text(WORDS, "utf-8")
    register("zv", made)
    yield made
    unregister("zv")


def test_a_sixth_language_is_found_and_detected(folder: Path) -> None:
    """It stands beside the five, and its letters tell it."""
    assert languages() == (*BUILT_IN, "zv")
    assert pack("zv").folder == folder
    assert detect_language(CAT) == "zv"
    assert detect_language("I have a cat.") == "en"
    unregister("zv")
    assert languages() == BUILT_IN
    assert pack("zv").code == "en"


@pytest.mark.usefixtures("folder")
def test_what_a_pack_leaves_out_is_inactive_or_english() -> None:
    """No rule fails for want of a table, and prompts that are missing come in English."""
    assert split_clauses(CAT, "zv") == (CAT,)
    assert contradiction(CAT, CAT, language="zv") is None
    now = FrozenClock().now()
    assert human_time(now, now, "zv") == "just now"
    assert vocabulary("zv")["user"] == "𐐎𐐏"
    assert vocabulary("zv")["friend"] == vocabulary("en")["friend"]
    variables = {"memory": "m", "session": "s", "limit": "20"}
    paper = render("memory_paper", "zv", **variables)
    assert paper.hash == render("memory_paper", "en", **variables).hash


@pytest.mark.usefixtures("folder")
async def test_one_talks_records_recalls_and_remembers_in_it() -> None:
    """A note in the language becomes memory, is cited, and stands in the next prompt."""
    note = "𐐎𐐏 𐐂𐐃𐐄𐐅 𐐆𐐇𐐈𐐉."
    writer, talker = ScriptedModel([note]), ScriptedModel(["𐐊𐐋.", "𐐊𐐋𐐊."])
    store = await SqliteStore.open(":memory:")
    runtime = Runtime(
        Settings(mechanisms=("summary", "search")),
        store=store,
        model=talker,
        summariser=writer,
        clock=FrozenClock(),
        owns=[store],
    )
    memory = runtime.memory()
    assert await (await memory.reply("zed", CAT)).text() == "𐐊𐐋."
    (found,) = await memory.recall("zed", "𐐆𐐇𐐈𐐉", k=1)
    assert found.text == CAT
    await memory.end_session("zed")
    await memory.run_jobs()
    summary = await memory.summary("zed")
    assert (summary.language, [s.text for s in summary.sentences]) == ("zv", [note])
    assert summary.sentences[0].supported
    assert await (await memory.reply("zed", "𐐂𐐃𐐄𐐅?")).text() == "𐐊𐐋𐐊."
    assert any(note in message.content for message in talker.requests[-1].messages)
    await runtime.close()


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ("[person]\nfirst = '('", r"language\.toml: person\.first: missing \)"),
        ("[person]\nsecond = 'x'", r"language\.toml: person\.first is missing"),
        ("[person]\nfirst = 'x'\nthird = 'y'", r"language\.toml: person\.third: there is no such"),
        ("[person]\nfirst = 3", r"language\.toml: person\.first: wanted a text, not '3'"),
        ("[person]\nfirst = '{{who}}'", r"person\.first: there is no part \{\{who\}\}"),
        ("[person]\nfirst = 'x'\n[persons]", r"language\.toml: persons: there is no such key"),
        ("[person", r"language\.toml cannot be read"),
    ],
)
def test_a_wrong_pack_is_refused_with_file_and_key(
    tmp_path: Path, changed: str, error: str
) -> None:
    """Nothing is registered, and the message says what to mend."""
    text = MINIMUM.replace("[person]\nfirst = '𐐀𐐁'", changed)
    (tmp_path / "language.toml").write_text(text, "utf-8")
    with pytest.raises(BadLanguage, match=error):
        register("zv", tmp_path)
    assert "zv" not in languages()


def test_a_language_that_comes_with_omoide_cannot_be_replaced(tmp_path: Path) -> None:
    """Whatever a pack of that code says."""
    with pytest.raises(BadInput, match="cannot be replaced"):
        register("en", tmp_path)


@pytest.mark.parametrize("code", BUILT_IN)
def test_every_table_of_ours_can_be_read(code: str) -> None:
    """Each pattern compiles, no key is unknown, none that is required is missing."""
    pack(code).check()
    assert pack(code).ago is not None


def test_our_packs_have_the_same_tables_and_prompts() -> None:
    """A table that one of the five has, all have; and the same prompts."""
    held = {one.code: {table for table in TABLES if one.reader.has(table)} for one in packs()}
    assert set(map(frozenset, held.values())) == {frozenset(TABLES)}
    assert len({one.prompts() for one in packs()}) == 1
    filled = {one.code: set(one.change.slots) for one in packs()}
    assert set(map(frozenset, filled.values())) == {frozenset(filled["en"])}


def test_there_is_one_pattern_for_the_first_person_in_each_pack() -> None:
    """Others are built from it."""
    for one in packs():
        text = (one.folder / "language.toml").read_text("utf-8")
        assert text.count("\nfirst = ") == 1


def test_no_module_holds_a_table_by_language() -> None:
    """What is particular to a language is in its pack: no dictionary has the five codes as keys."""
    found = []
    for path in ROOT.rglob("*.py"):
        text = path.read_text("utf-8")
        if sum(f'"{code}"' in text or f"{code}=" in text for code in BUILT_IN) < 3:
            continue  # most files: parsing them all takes a second
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Dict):
                keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
            elif isinstance(node, ast.Call):
                keys = {keyword.arg for keyword in node.keywords}
            else:
                continue
            if len(keys & set(BUILT_IN)) >= 3:
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert found == []
