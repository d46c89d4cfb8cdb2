"""Which notes about a version people see."""

from __future__ import annotations

import pytest

from omoide.cli.views import memory_lines
from omoide.testing.contracts.making import sentence, version


@pytest.mark.parametrize(
    ("note", "shown"),
    [
        ("from the model's answer: 2 added, 1 confirmed", False),
        ("from the model's answer: 2 added, 1 set aside", True),
        ("1 tries rejected", True),
    ],
)
def test_counts_are_shown_if_something_was_set_aside(note: str, shown: bool) -> None:
    """Otherwise the sentences above say it all. Any other note is shown."""
    summary = version(1, sentence("The user lives in Porto."), notes=(note,))
    said = "\n".join(memory_lines(summary, user="ana", now=summary.time))
    assert (note in said) is shown
