"""Sizes have limits, in the library and in files, with errors that say what to do."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING

import pytest

from omoide.domain import Speaker
from omoide.engine.messages import Utterance
from omoide.engine.recalling import MAX_RECALLED
from omoide.engine.recorder import MAX_TURNS
from omoide.errors import BadImport, BadInput, TextTooLong
from omoide.transfer import ForeignExport, files, read

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import World


def said(text: str = "Hi.", *, key: str | None = None, name: str | None = None) -> Utterance:
    """Words of the user's."""
    return Utterance(speaker=Speaker.USER, text=text, id=key, name=name)


async def test_a_batch_has_a_limit(world: World) -> None:
    """One call is one transaction: too many turns are refused before any is kept."""
    with pytest.raises(BadInput, match="several calls"):
        await world.memory.record("ana", [said()] * (MAX_TURNS + 1))
    assert await world.memory.turns("ana") == ()


@pytest.mark.parametrize("wrong", ["", "x" * 257, "two\nlines"])
async def test_names_have_limits(world: World, wrong: str) -> None:
    """Users, session keys, turn ids and speakers' names are one printable line of 256 at most."""
    for attempt in (
        world.memory.record(wrong, [said()]),
        world.memory.record("ana", [said()], session=wrong),
        world.memory.record("ana", [said(key=wrong)]),
        world.memory.record("ana", [said(name=wrong)]),
    ):
        with pytest.raises(BadInput, match="one printable line"):
            await attempt
    assert await world.memory.users() == ()


async def test_what_is_asked_has_limits(world: World) -> None:
    """A question is no longer than a turn, and its answer has an end."""
    for k in (0, MAX_RECALLED + 1):
        with pytest.raises(BadInput, match="k must be"):
            await world.memory.recall("ana", "cats", k=k)
    with pytest.raises(BadInput, match="budget"):
        await world.memory.recall("ana", "cats", budget=0)
    with pytest.raises(TextTooLong):
        await world.memory.recall("ana", "cats " * 100_000)


@pytest.mark.parametrize("shape", ["array", "lines", "object"])
def test_a_small_zip_does_not_unfold_without_end(
    tmp_path: Path, shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An archive that holds one endless value is refused before it is all in world.memory."""
    monkeypatch.setattr(files, "LARGEST", 1 << 20)
    monkeypatch.setattr(files, "CHUNK", 1 << 16)
    message = json.dumps({"role": "user", "content": "x" * (1 << 22)})
    texts = {
        "array": '[{"role": "user", "content": "Hi"},\n' + message + "]",
        "lines": '{"role": "user", "content": "Hi"}\n' + message,
        "object": '{\n"messages": [' + message + "]}",
    }
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", texts[shape])
    assert path.stat().st_size < 1 << 16
    with pytest.raises(BadImport, match="more than"):
        _all_of(path)


def _all_of(path: Path) -> None:
    held = read(path, max_chars=1000)
    assert isinstance(held, ForeignExport)
    list(held.conversations)
