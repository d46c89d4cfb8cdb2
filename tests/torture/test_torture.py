"""A little of the torture, on every run of the tests."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from omoide.bootstrap import migrate
from omoide.domain import FactChanges, Owner, Speaker
from omoide.engine.messages import Utterance
from omoide.testing.contracts.making import fact, live
from tests.postgres import databases
from tests.torture.kills import look
from tests.torture.moves import OWNERS, compare
from tests.torture.parts import USER, remember
from tests.torture.places import SqlitePlaces

ROOT = Path(__file__).parents[2]
KEY = "the-key-of-a-file"
able = pytest.mark.skipif(not hasattr(apsw, "mc_version"), reason="this apsw cannot encrypt")


@pytest.mark.skipif(sys.platform != "linux", reason="limits the server's processes as Linux does")
@pytest.mark.parametrize(
    ("store", "key", "expected"),
    [("sqlite", "", 15), pytest.param("sqlite", KEY, 13, marks=able), ("postgres", "", 17)],
)
def test_a_little_torture_loses_nothing(store: str, key: str, expected: int) -> None:
    """Some kills and a little of every fault, on each store: nothing acknowledged is lost or
    doubled, no memory is emptied, and no tenant sees another's words."""
    if store == "postgres":
        databases()  # skips, with the reason, if no server can be started here
    options = f"--kills 9 --minutes 0.1 --small --store {store} --key={key}".split()
    command = [sys.executable, "-m", "tests.torture", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1500)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split("|") for line in done.stdout.splitlines() if line.startswith("| ")]
    rows = [row for row in rows if row[2].strip() != "trials"]
    assert len(rows) == expected
    faults = [row for row in rows if "during" not in row[1]]  # a kill may come before a promise
    assert all(int(row[3].replace(",", "")) > 0 for row in faults)


@pytest.mark.parametrize("key", ["", pytest.param(KEY, marks=able)])
async def test_the_torturer_sees_what_is_wrong(tmp_path: Path, key: str) -> None:
    """What was promised and is not there, or is there and should not be, is counted, also in an
    encrypted file."""
    place = SqlitePlaces(tmp_path, key=key).create("m")
    store = await place.open()
    memory = remember(store, "acme")
    said = Utterance(speaker=Speaker.USER, text="A word of code-zeta-0001-0001.", id="here")
    await memory.record(USER, [said])
    await store.close()
    nothing: dict[str, list[str]] = {}
    gone = {"said": ["here", "gone"]}
    found = await look(place, {"acme": gone, "zeta": nothing}, settle=False)
    assert (found["lost"], found["crossed"]) == (1, 2)  # seen in the export and in recall
    erased = {"erasing": ["here"], "erased": ["here"]}
    found = await look(place, {"acme": erased, "zeta": nothing}, settle=False)
    assert found["lost"] == 2  # as a turn, and as bytes in the file


async def test_the_torturer_sees_facts_that_are_wrong(tmp_path: Path) -> None:
    """A fact that is missing, one that was erased, and changes that were made by half count."""
    place = SqlitePlaces(tmp_path).create("m")
    store = await place.open()
    owner = Owner(tenant="acme", user=USER)
    await store.facts.apply(owner, FactChanges(added=(fact("one"), fact("half"))))
    await store.close()
    with closing(apsw.Connection(str(place.where))) as file:  # no store would do this
        file.execute("UPDATE facts SET supersedes = '[\"one\"]' WHERE id = 'half'")
    nothing: dict[str, list[str]] = {}
    found = await look(place, {"acme": {"stated": ["one", "gone"]}, "zeta": nothing}, settle=False)
    assert found["lost"] == 2  # what is gone, and that `one` has not ended
    erased = {"erasing": ["one"], "erased": ["one"]}
    found = await look(place, {"acme": erased, "zeta": nothing}, settle=False)
    assert found["lost"] == 3  # as a fact, as bytes in the file, and the half again


async def test_the_torturer_sees_what_a_move_did_wrong(tmp_path: Path) -> None:
    """A row that is missing at the target, one too many, and a user who did not come are counted;
    a whole move is not."""
    places = SqlitePlaces(tmp_path)
    source, target = places.create("a"), places.create("b")
    store = await source.open()
    for owner in OWNERS[:2]:
        await live(store, owner)
    await store.close()
    await migrate(source.where, target.where)
    names = [f"{owner.tenant} {owner.user}" for owner in OWNERS]
    right = {"lost": 0, "doubled": 0, "emptied": 0, "crossed": 0}
    assert await compare(source, target, names[:2]) == right
    assert (await compare(source, target, names[:3]))["lost"] == 1
    with target.raw() as connection:
        connection.execute("DELETE FROM calls WHERE owner = 1 AND serial = 1")
        connection.execute(
            "INSERT INTO embedded SELECT 77, space, kind, upto FROM embedded LIMIT 1"
        )
    wrong = await compare(source, target, names[:2])
    assert (wrong["lost"], wrong["doubled"]) == (1, 1)
