"""A file that lost records is refused, whichever kind of record it lost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from omoide.errors import BadImport
from omoide.transfer import ForeignConversation, ForeignExport, read

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import World


async def exported(world: World) -> list[dict[str, Any]]:
    """An export with sessions, turns, versions, calls and jobs."""
    await world.session("ana", "I have a cat called Miso.", answers=("The user has a cat.",))
    await world.memory.record("ana", "Hello again")
    await world.memory.end_session("ana")
    return [dict(record) async for record in world.memory.export("ana")]


@pytest.mark.parametrize("kind", ["call", "version", "job"])
async def test_a_file_without_some_record_is_refused(
    world: World, tmp_path: Path, kind: str
) -> None:
    """Nothing else in the file points to these, so only the header can tell."""
    records = await exported(world)
    lost = next(i for i, record in enumerate(records) if record["kind"] == kind)
    path = tmp_path / "ana.jsonl"
    path.write_text("\n".join(map(json.dumps, records)), "utf-8")
    read(path, max_chars=1000)
    path.write_text("\n".join(map(json.dumps, [*records[:lost], *records[lost + 1 :]])), "utf-8")
    with pytest.raises(BadImport, match="cut short"):
        read(path, max_chars=1000)


@pytest.mark.parametrize("more", ['[\n {"role": "user", "content": "two"}\n]', "}", "[]"])
def test_what_follows_an_array_is_not_left_out(tmp_path: Path, more: str) -> None:
    """Such as the next page of a list, printed over several lines like the first."""
    path = tmp_path / "pages.json"
    one = '[\n {"role": "user", "content": "one"}\n]\n'
    path.write_text(one + "\n \n")
    assert len(conversations(path)) == 1
    path.write_text(one + more)
    with pytest.raises(BadImport, match="follows the array after item 1"):
        conversations(path)


def conversations(path: Path) -> list[ForeignConversation]:
    """What a file of another program holds."""
    found = read(path, max_chars=1000)
    assert isinstance(found, ForeignExport)
    return list(found.conversations)
