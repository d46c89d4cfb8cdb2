"""Every kind of setting, as it is written in the environment and as it is given by name."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from omoide.errors import BadInput
from omoide.server.keys import ApiKeys, Scope
from omoide.settings import Settings

WRITTEN = {
    "OMOIDE_IDLE": ("90", timedelta(hours=1, minutes=30)),
    "OMOIDE_MECHANISMS": (" summary , search ,, ", ("summary", "search")),
    "OMOIDE_MEMORY_TOKENS": ("800", 800),
    "OMOIDE_PERSONA": ("a kind friend", "a kind friend"),
    "OMOIDE_WEIGHTS_DIR": ("~/weights", Path.home() / "weights"),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_variable_is_read_as_its_kind(name: str) -> None:
    """A duration in minutes, a list without blanks, a number, a text, a path."""
    text, wanted = WRITTEN[name]
    field = name.removeprefix("OMOIDE_").lower()
    assert getattr(Settings.read({name: text}), field) == wanted
    assert getattr(Settings().changed(**{field: text}), field) == wanted


@pytest.mark.parametrize(
    ("name", "value"),
    [("recall_items", -3), ("window", 0), ("memory_tokens", -2), ("timeout", -1), ("idle", -30)],
)
def test_a_number_that_no_setting_can_have_is_refused(name: str, value: int) -> None:
    """From the environment, by keyword and in a copy."""
    given: dict[str, Any] = {name: value}
    for make in (
        lambda: Settings.read({f"OMOIDE_{name.upper()}": str(value)}),
        lambda: Settings().changed(**given),
        lambda: Settings(**{name: timedelta(minutes=value)} if name == "idle" else given),
    ):
        with pytest.raises(BadInput, match=f"{name} must be at least"):
            make()  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("name", ["idle", "retention"])
def test_a_span_of_time_beyond_all_dates_is_refused(name: str) -> None:
    """Every look for idle sessions, or every new fact, would fail on it."""
    with pytest.raises(BadInput, match=f"{name} must be at most"):
        Settings.read({f"OMOIDE_{name.upper()}": "99999999999"})


def test_a_servers_key_is_not_taken_for_the_key_of_the_database(tmp_path: Path) -> None:
    """It would encrypt a new file, or be refused as wrong: the error says where it belongs."""
    now = datetime(2026, 5, 1, tzinfo=UTC)
    made = ApiKeys(tmp_path / "keys").create(
        tenant="default", name="k", scopes=[Scope.READ], at=now
    )
    with pytest.raises(BadInput, match="OMOIDE_SERVER_KEY"):
        Settings.read({"OMOIDE_KEY": made.secret})
    assert Settings.read({"OMOIDE_KEY": "omo is my passphrase"}).key == "omo is my passphrase"
    clients = {"OMOIDE_SERVER_KEY": made.secret, "OMOIDE_URL": "http://127.0.0.1:8377"}
    assert Settings.read(clients) == Settings()


def test_a_number_for_a_duration_is_minutes() -> None:
    """Given by name, as in the environment."""
    assert Settings().changed(idle=5).idle == timedelta(minutes=5)
    assert Settings().changed(idle=0.5).idle == timedelta(seconds=30)
    assert Settings().changed(mechanisms=["search"]).mechanisms == ("search",)


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("OMOIDE_IDLE", "soon", "a number of minutes"),
        ("OMOIDE_MEMORY_TOKENS", "many", "a whole number"),
        ("OMOIDE_IDEL", "5", r"unknown setting OMOIDE_IDEL; did you mean OMOIDE_IDLE\?"),
    ],
)
def test_what_cannot_be_read_says_what_was_wanted(name: str, text: str, wanted: str) -> None:
    """With the name of the variable."""
    with pytest.raises(BadInput, match=wanted) as caught:
        Settings.read({name: text})
    assert name in str(caught.value)
