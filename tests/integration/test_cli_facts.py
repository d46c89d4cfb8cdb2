"""The commands about facts, run as a user would."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from .test_cli_commands import Bench

if TYPE_CHECKING:
    from pathlib import Path

OSLO, BERGEN, CAT = "The user lives in Oslo.", "The user lives in Bergen.", "The user has a cat."


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Ana lived in Oslo, with a cat, and moved to Bergen a week later."""
    bench = Bench(tmp_path)
    bench.session("I live in Oslo and have a cat.", answers=(f"{OSLO}\n{CAT}",))
    bench.session("I moved to Bergen.", answers=(f"{BERGEN}\n{CAT}",))
    return bench


def listed(bench: Bench, *args: str) -> list[dict[str, Any]]:
    """What `omoide memory facts --json` prints."""
    result = bench.run("memory", "facts", "--json", *args)
    assert result.exit_code == 0, result.output
    found: list[dict[str, Any]] = json.loads(result.output)
    return found


def test_facts_are_listed_in_groups(bench: Bench) -> None:
    """What holds, under a heading that speaks to the reader; ended ones only if asked for."""
    out = bench.run("memory", "facts").output
    assert out.startswith("About you\n")
    assert BERGEN in out
    assert OSLO not in out
    assert OSLO in bench.run("memory", "facts", "--at", "10 days ago").output
    ended = bench.run("memory", "facts", "--ended").output
    assert "ended 2026" in ended
    assert bench.run("memory", "facts", "--about", "Rui").output == (
        "No facts are known about ana.\n"
    )


def test_the_timeline_reads_from_top_to_bottom(bench: Bench) -> None:
    """Days, what began, what it replaced, and the words behind it."""
    out = bench.run("memory", "timeline").output
    assert out.index(f"+ {OSLO}") < out.index(f"~ {BERGEN}\n    before: {OSLO}")
    assert "“I moved to Bergen.”" in out
    found = json.loads(bench.run("memory", "timeline", "--json", "--kind", "state").output)
    assert [entry["change"] for entry in found] == ["began", "began", "changed"]
    assert bench.run("memory", "timeline", "--since", "now").output == "Nothing is known yet.\n"


def test_a_fact_is_marked_by_the_beginning_of_its_id(bench: Bench) -> None:
    """Pin, tag, expire and back again."""
    cat = next(fact for fact in listed(bench) if fact["text"] == CAT)["id"][:8]
    assert "pinned" in bench.run("memory", "pin", cat).output
    assert "pinned" not in bench.run("memory", "unpin", cat).output
    assert "#pets; #miso" in bench.run("memory", "tag", cat, "pets", "miso").output
    assert [fact["text"] for fact in listed(bench, "--tag", "pets")] == [CAT]
    assert "expires 2026-02-18" in bench.run("memory", "expire", cat, "in 30 days").output
    assert "expires" not in bench.run("memory", "expire", cat, "--never").output
    found = json.loads(bench.run("recall", "cat", "--tag", "pets", "--json").output)
    assert [item["text"] for item in found["items"]] == [CAT]


def test_a_fact_is_corrected(bench: Bench) -> None:
    """The new one is shown, and the timeline says who changed it."""
    bergen = next(fact for fact in listed(bench) if fact["text"] == BERGEN)["id"]
    out = bench.run("memory", "correct", bergen, "The user lives in Rome.").output
    assert "The user lives in Rome." in out
    assert "corrected 2026" in out
    out = bench.run("memory", "timeline").output
    assert f"before: {BERGEN}\n    because: corrected by the user" in out


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("pin", "zz"), "no fact's id begins with 'zz'"),
        (("pin", "f"), "give more of the id"),
        (("expire", "f"), "Give a time, or --never"),
        (("facts", "--kind", "nonsense"), "is not one of"),
    ],
)
def test_what_is_wrong_is_said(bench: Bench, args: tuple[str, ...], told: str) -> None:
    """An unknown fact, an ambiguous one, a missing time, an unknown kind."""
    result = bench.run("memory", *args)
    assert result.exit_code != 0
    assert told in result.output
