"""`omoide plot forgetting` and `omoide calibrate`, run as a user would."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import inf
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from omoide.adapters.png import svg_to_png
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.cli.main import cli
from omoide.cli.scope import Outside
from omoide.domain import Event
from omoide.engine.runtime import Runtime
from omoide.errors import BadInput
from omoide.mechanisms.events.scoring import RecallSettings, days_to_threshold
from omoide.settings import Settings
from omoide.testing import FrozenClock, HashEmbedder, ScriptedModel
from tests.unit.conftest import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result


VERBS = """painted sold cooked mended planted washed opened carried built drew sang danced
climbed cleaned counted borrowed""".split()


class Bench:
    """A database file behind the real command, with human-like recall."""

    def __init__(self, folder: Path) -> None:
        self.db = folder / "memory.sqlite"
        self.clock = FrozenClock()
        self.iterator = ScriptedModel()
        self.said = 0
        self.mechanisms: tuple[str, ...] = ("human-recall",)

    async def open(
        self,
        settings: Settings,
        *,
        create: bool = True,
        progress: Callable[[int, int, str], None] | None = None,
    ) -> Runtime:
        """An `Opener`."""
        del progress
        store = await SqliteStore.open(settings.db, create=create)
        return Runtime(
            replace(SETTINGS, tenant=settings.tenant, mechanisms=self.mechanisms),
            store=store,
            model=ScriptedModel(["I see."] * 40),
            summariser=self.iterator,
            embedder=HashEmbedder(),
            clock=self.clock,
            name="test",
            owns=[store],
        )

    def run(self, *args: str) -> Result:
        """Run the command for ana."""
        outside = Outside(open=self.open, clock=self.clock)
        return CliRunner().invoke(cli, ["--db", str(self.db), "--user", "ana", *args], obj=outside)

    def session(self, *facts: str) -> None:
        """Say these, and end the session with an event of each."""
        events = [{"text": f"User {fact}."} for fact in facts]
        self.iterator.answers.append(json.dumps({"events": events}))
        said = [part for fact in facts for part in ("--say", f"Well, I {fact}, you know.")]
        result = self.run("chat", *said, "--end")
        assert result.exit_code == 0, result.output
        self.clock.time = self.clock.time.replace(day=self.clock.time.day + 2)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Two things told."""
    made = Bench(tmp_path)
    made.session("adopted a cat called Miso", "broke an arm while skiing")
    return made


def test_the_curves_are_drawn(bench: Bench, tmp_path: Path) -> None:
    """Each event has its name, a line and a dashed one, in SVG and in PNG."""
    out = tmp_path / "f.svg"
    result = bench.run("plot", "forgetting", "--out", str(out))
    assert result.output == f"{out}: 2 of 2 events\n"
    svg = out.read_text()
    assert "User adopted a cat called Miso." in svg
    assert svg.count("stroke-dasharray") == 2
    assert "recalled above 0.86" in svg
    assert bench.run("plot", "forgetting", "--most", "1", "--out", str(out)).exit_code == 0
    assert out.read_text().count("stroke-dasharray") == 1


@given(
    st.floats(0.05, 0.95),
    st.floats(1, 5),
    st.floats(0, 2),
    st.integers(0, 2000),
)
def test_the_day_on_which_an_event_is_out_of_reach(
    threshold: float, consolidation: float, feeling: float, age: int
) -> None:
    """At that day the recall probability is the threshold, so the default chart shows the fall."""
    now = datetime(2026, 1, 5, tzinfo=UTC)
    told = now - timedelta(days=age)
    event = Event(
        id="e",
        session=1,
        text="A",
        time=told,
        sources=(),
        last_recalled=told,
        consolidation=consolidation,
        feeling=1.0,
    )
    knobs = RecallSettings(threshold=threshold, feeling=feeling)
    days = days_to_threshold(event, now=now, knobs=knobs)
    strong = replace(event, consolidation=consolidation * (1 + feeling))
    then = strong.probability(relevance=1.0, now=now + timedelta(days=days), unit=knobs.unit)
    assert then == pytest.approx(threshold, abs=1e-6)
    assert days_to_threshold(event, now=now, knobs=RecallSettings(threshold=0)) == inf


def test_facts_are_drawn_where_no_events_are_kept(tmp_path: Path) -> None:
    """The command works with the default mechanisms, and says that facts are drawn."""
    made = Bench(tmp_path)
    made.mechanisms = Settings().mechanisms
    made.iterator.answers.append("The user has a cat called Miso. The user lives in Oslo.")
    said = "I have a cat called Miso and I live in Oslo."
    assert made.run("chat", "--say", said, "--end").exit_code == 0
    out = tmp_path / "f.svg"
    assert made.run("plot", "forgetting", "--out", str(out)).output == f"{out}: 2 of 2 facts\n"
    assert "How facts of ana would fade as events" in out.read_text()
    explained = made.run("recall", "--explain", "what is my cat called?")
    assert explained.exit_code == 0, explained.output
    assert "Miso" in explained.output


def test_a_png_is_a_png() -> None:
    """The same picture; where a machine has no fonts it is refused, not drawn without words."""
    svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9"/>'
    assert svg_to_png(f"{svg}</svg>").startswith(b"\x89PNG")
    nowhere = '<text y="8" font-family="No Such Font Anywhere">x</text>'
    with pytest.raises(BadInput, match="no font"):
        svg_to_png(f"{svg}{nowhere}</svg>")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("plot", "forgetting", "--out", "f.gif"), ".svg or .png"),
        (("plot", "forgetting", "--user", "bob"), "bob has no events yet"),
        (("calibrate",), "needs 10 events"),
    ],
)
def test_what_cannot_be_done_is_told(bench: Bench, args: tuple[str, ...], told: str) -> None:
    """In one line, with what to do."""
    result = bench.run(*args)
    assert result.exit_code == 1
    assert told in result.stderr


def test_a_calibration_of_ones_own_is_kept_and_shown(bench: Bench) -> None:
    """After a refit `recall --explain` says which map it judges by."""
    for day in range(4):
        numbers = range(4 * day, 4 * day + 4)
        bench.session(*(f"{VERBS[n]} {n}a{n} {n}b{n} {n}c{n} {n}d{n} {n}e{n}" for n in numbers))
    result = bench.run("calibrate")
    assert "what the user said against their events" in result.output
    assert "← the threshold" in result.output
    explained = bench.run("recall", "--explain", "cat")
    assert "fitted to this user's own events on 2026-01-15" in explained.output
