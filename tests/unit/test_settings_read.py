"""Every kind of setting, as it is written in the environment and as it is given by name."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from omoide.errors import BadInput
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
        ("OMOIDE_IDEL", "5", "unknown setting"),
    ],
)
def test_what_cannot_be_read_says_what_was_wanted(name: str, text: str, wanted: str) -> None:
    """With the name of the variable."""
    with pytest.raises(BadInput, match=wanted) as caught:
        Settings.read({name: text})
    assert name in str(caught.value)
