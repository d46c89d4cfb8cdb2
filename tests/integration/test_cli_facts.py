"""The commands about facts, run as a user would."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import Memo, Owner
from tests.unit.conftest import SETTINGS

from .test_cli_commands import Bench

if TYPE_CHECKING:
    from pathlib import Path

MEMO = Memo(
    id="m1",
    session=1,
    topic="A cat",
    summary="User adopted Miso. User likes cats.",
    sources=(),
    time=datetime(2026, 1, 5, 9, tzinfo=UTC),
    compressed="adopted cat Miso",
    method="none",
)
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
    """What holds, under headings; ended ones only if asked for."""
    out = bench.run("memory", "facts").output
    assert out.startswith("ana\n")
    assert BERGEN in out
    assert OSLO not in out
    assert OSLO in bench.run("memory", "facts", "--at", "10 days ago").output
    ended = bench.run("memory", "facts", "--ended").output
    assert "ended 2026" in ended
    assert bench.run("memory", "facts", "--about", "Rui").output == (
        "No facts are known about ana.\n"
    )


def test_a_fact_that_a_plan_will_end_has_not_ended(bench: Bench) -> None:
    """It says when it will."""
    out = bench.run("memory", "facts", "--at", "10 days ago").output
    assert "ends 2026" in out
    assert "ended" not in out


def test_the_timeline_reads_from_top_to_bottom(bench: Bench) -> None:
    """Days, what began, what it replaced, and the words behind it."""
    out = bench.run("memory", "timeline").output
    assert out.index(f"+ {OSLO}") < out.index(f"~ {BERGEN}\n    before: {OSLO}")
    assert "“I moved to Bergen.”" in out
    found = json.loads(bench.run("memory", "timeline", "--json", "--kind", "state").output)
    assert [entry["change"] for entry in found] == ["began", "began", "changed"]
    assert bench.run("memory", "timeline", "--since", "now").output == "Nothing is known yet.\n"


def test_what_was_told_on_a_day_counts_from_that_day_on(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the facts, for the timeline, and for recall."""
    monkeypatch.setenv("OMOIDE_TIMEZONE", "UTC")
    (moved,) = [fact for fact in listed(bench) if fact["text"] == BERGEN]
    day = moved["said"][:10]
    assert [fact["text"] for fact in listed(bench, "--since", day, "--until", day)] == [BERGEN]
    assert BERGEN in bench.run("memory", "timeline", "--since", day).output
    assert "Bergen" in bench.run("recall", "Bergen", "--since", day, "--until", day).output


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


NOTES = {
    "en": ("I live in Oslo.", "The user lives in Oslo.", "You live in Oslo."),
    "zh": ("我住在上海。", "用户住在上海。", "你住在上海。"),
    "ja": ("大阪に住んでいます。", "ユーザーは大阪に住んでいる。", "大阪に住んでいる。"),
    "ko": ("저는 부산에 살아요.", "사용자는 부산에 산다.", "부산에 산다."),
    "vi": ("Tôi sống ở Huế.", "Người dùng sống ở Huế.", "Bạn sống ở Huế."),
}


@pytest.mark.parametrize(("said", "noted", "shown"), NOTES.values(), ids=NOTES)
def test_the_reader_is_spoken_to(tmp_path: Path, said: str, noted: str, shown: str) -> None:
    """Facts, timeline, summary, what changed and what will be erased say "you"; JSON does not, nor
    what is shown to somebody else."""
    bench = Bench(tmp_path)
    bench.replier.answers.append("I see.")
    bench.iterator.answers.append(noted)
    bench.run_as_oneself("chat", "--end", "--say", said)
    for command in ("facts", "timeline", "show", "diff", "why"):
        out = bench.run_as_oneself("memory", command).output
        assert shown in out, command
        assert noted not in out, command
    assert shown in bench.run_as_oneself("erase", "--fact", said, stdin="n\n").output
    (fact,) = json.loads(bench.run_as_oneself("memory", "facts", "--json").output)
    assert fact["text"] == noted
    assert noted in bench.run_as_oneself("memory", "facts", "--user", "me").output


def test_memos_are_listed_by_topic(tmp_path: Path) -> None:
    """With when each was talked about, and its summary, said to the reader; JSON has them whole."""
    bench = Bench(tmp_path)

    async def write() -> None:
        store = await SqliteStore.open(str(bench.db))
        owner = Owner(tenant=SETTINGS.tenant, user="ana")
        await store.memos.add(owner, [MEMO])
        await store.memos.add(Owner(tenant=SETTINGS.tenant, user="me"), [MEMO])
        await store.close()

    asyncio.run(write())
    bench.clock.advance(timedelta(days=7))
    out = bench.run("memory", "memos").output
    assert out.splitlines() == [
        "A cat (session 1, 2026-01-05 09:00, 1 week ago)",
        "  User adopted Miso. User likes cats.",
    ]
    (memo,) = json.loads(bench.run("memory", "memos", "--json").output)
    assert memo["compressed"] == MEMO.compressed
    assert "  You adopted Miso. You like cats.\n" in bench.run_as_oneself("memory", "memos").output
    assert "no memos about bob" in bench.run("memory", "memos", "--user", "bob").output


def test_a_correction_may_say_i_or_you(tmp_path: Path) -> None:
    """It is stored as memory writes, in the third person, and what was typed as the user's word."""
    bench = Bench(tmp_path)
    bench.replier.answers.append("I see.")
    bench.iterator.answers.append(OSLO)
    bench.run_as_oneself("chat", "--end", "--say", "I live in Oslo.")
    (oslo,) = json.loads(bench.run_as_oneself("memory", "facts", "--json").output)
    out = bench.run_as_oneself("memory", "correct", oslo["id"], "I live in Rome.").output
    assert "You live in Rome." in out
    (rome,) = json.loads(bench.run_as_oneself("memory", "facts", "--json").output)
    assert rome["text"] == "The user lives in Rome."
    assert "I live in Rome." in bench.run_as_oneself("memory", "why").output


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
