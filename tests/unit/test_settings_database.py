"""Which database: a file, or the address of a server."""

from __future__ import annotations

from pathlib import Path

import pytest

from omoide import bootstrap
from omoide.errors import BadInput
from omoide.settings import Address, Settings, database

URL = "postgresql://ann:s3cret@db.example:5432/memory?sslmode=require"


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_a_url_stays_as_it_is(scheme: str) -> None:
    """Nothing of an address is taken for a path."""
    url = URL.replace("postgresql", scheme)
    settings = Settings.read({"OMOIDE_DB": url})
    assert settings.db == url
    assert isinstance(settings.db, Address)


def test_a_file_is_a_path() -> None:
    """Also one with a colon in it."""
    assert database("~/a.sqlite") == Path.home() / "a.sqlite"
    assert Settings.read({"OMOIDE_DB": "C:/a.sqlite"}).db == Path("C:/a.sqlite")


def test_the_password_is_never_shown() -> None:
    """Neither where settings are printed nor where the address is."""
    shown = f"{Settings.read({'OMOIDE_DB': URL})!r} {database(URL)!r}"
    assert "s3cret" not in shown
    assert "db.example:5432/memory" in shown


async def test_a_server_is_not_encrypted_by_a_key() -> None:
    """A key that would do nothing is refused, before anything is asked of the server."""
    settings = Settings(db=database(URL), key="a long key", embedder="none")
    with pytest.raises(BadInput, match="can only encrypt a database file"):
        await bootstrap.open_runtime(settings)
    with pytest.raises(BadInput, match="only a file can be encrypted"):
        await bootstrap.encrypt_store(settings, new="another key")
