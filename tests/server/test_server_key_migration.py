"""API keys that move with a database: one tenant's, revoked ones, and those that were damaged."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from omoide.errors import StoreCorrupt
from omoide.ports.keys import StoredKey
from omoide.server.key_migration import MigratedKeys, migrate_keys
from omoide.server.keys import ApiKeys, KeyFile, Scope
from omoide.testing.contracts.making import START

if TYPE_CHECKING:
    from pathlib import Path


def test_api_keys_of_one_tenant(tmp_path: Path) -> None:
    """With a tenant named, nobody else's keys come along; where there are none, no file is made."""
    here, there = KeyFile(tmp_path / "here"), KeyFile(tmp_path / "there")
    keys = ApiKeys(here)
    keys.create(tenant="acme", name="a", scopes=[Scope.READ], at=START)
    keys.create(tenant="other", name="b", scopes=[Scope.READ], at=START)
    assert migrate_keys(here, there, tenant="nobody").keys == 0
    assert not (tmp_path / "there").exists()
    assert migrate_keys(here, there, tenant="other").keys == 1
    assert [row.tenant for row in there.read()] == ["other"]


def test_a_key_is_never_brought_back(tmp_path: Path) -> None:
    """Revoked at either place it is revoked at the target; another key of the same id is left."""
    here, there = KeyFile(tmp_path / "here"), KeyFile(tmp_path / "there")
    row = StoredKey(
        id="0011223344", tenant="t", name="n", scopes="read", salt=b"s", hash=b"h", created=1
    )
    here.add(row)
    assert migrate_keys(here, there) == MigratedKeys(keys=1, known=0, refused=())
    here.revoke(row.id, 5)
    assert migrate_keys(here, there) == MigratedKeys(keys=1, known=1, refused=())
    assert [r.revoked for r in there.read()] == [5]
    here.add(replace(row, id="5544332211"))
    there.add(replace(row, id="5544332211", revoked=7))
    assert migrate_keys(here, there).keys == 2
    assert {r.revoked for r in there.read()} == {5, 7}
    other = KeyFile(tmp_path / "other")
    other.add(replace(row, hash=b"another"))
    done = migrate_keys(here, other)
    assert (done.keys, len(done.refused)) == (1, 1)
    assert "omo_0011223344" in done.refused[0]
    assert [r.hash for r in other.read() if r.id == row.id] == [b"another"]


class Forgetful(KeyFile):
    """A place that loses a letter."""

    def add(self, row: StoredKey) -> None:
        """Add it, wrongly."""
        super().add(replace(row, name=row.name[:-1]))


def test_a_key_that_changed_on_the_way_is_noticed(tmp_path: Path) -> None:
    """Each is read back and compared."""
    here = ApiKeys(KeyFile(tmp_path / "here"))
    here.create(tenant="acme", name="phone", scopes=[Scope.READ], at=START)
    with pytest.raises(StoreCorrupt, match="reads back from the target differently"):
        migrate_keys(tmp_path / "here", Forgetful(tmp_path / "there"))
