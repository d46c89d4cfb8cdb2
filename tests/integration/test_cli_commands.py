"""The commands, run as a user would, over a database file and scripted models."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.cli.main import cli
from omoide.cli.scope import Outside
from omoide.cli.status import memory_status
from omoide.domain import Speaker, Summary
from omoide.engine.messages import Utterance
from omoide.engine.runtime import Runtime
from omoide.errors import ModelRefused, ModelUnavailable
from omoide.testing import FrozenClock, HashEmbedder, ScriptedModel
from tests.unit.conftest import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    from omoide.ports import Request
    from omoide.settings import Settings
    from omoide.testing import Answer

M1 = "The user has a cat called Miso. The user lives in Oslo."
M2 = "The user has a cat called Miso. The user lives in Bergen."
WEEK = timedelta(days=7)


class Bench:
    """A database file, scripted models and a clock, behind the real command."""

    def __init__(self, folder: Path) -> None:
        self.db = folder / "memory.sqlite"
        self.clock = FrozenClock()
        self.replier = ScriptedModel(name="replier")
        self.iterator = ScriptedModel(name="iterator")

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
            replace(SETTINGS, tenant=settings.tenant),
            store=store,
            model=self.replier,
            summariser=self.iterator,
            embedder=HashEmbedder(),
            clock=self.clock,
            name=f"test-{os.getpid()}",
            owns=[store],
        )

    def run(self, *args: str, stdin: str | bytes | None = None, **env: str) -> Result:
        """Run `omoide --db … --user ana` with these arguments."""
        return self.run_as_oneself("--user", "ana", *args, stdin=stdin, **env)

    def run_as_oneself(self, *args: str, stdin: str | bytes | None = None, **env: str) -> Result:
        """Run `omoide --db …` with these arguments: the reader is the user."""
        return CliRunner().invoke(
            cli,
            ["--db", str(self.db), *args],
            obj=Outside(open=self.open, clock=self.clock),
            input=stdin,
            env=env,
        )

    def session(self, *said: str, answers: tuple[Answer, ...]) -> Result:
        """Say this and end the session; the memory is made of the answers."""
        self.replier.answers.extend("I see." for _ in said)
        self.iterator.answers.extend(answers)
        result = self.run("chat", "--end", *(part for text in said for part in ("--say", text)))
        self.clock.advance(WEEK)
        return result

    def data(self, *args: str) -> Any:  # noqa: ANN401 - as the command likes
        """What a command prints for programs."""
        result = self.run(*args, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Nothing said yet."""
    return Bench(tmp_path)


@pytest.fixture(scope="module")
def two_sessions(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Two sessions, a week apart, in which the user moved; for all tests of a file."""
    bench = Bench(tmp_path_factory.mktemp("lived"))
    bench.session("I have a cat called Miso and I live in Oslo.", answers=(M1,))
    bench.session("I moved from Oslo to Bergen.", answers=(M2,))
    return bench


@pytest.fixture
def lived(bench: Bench, two_sessions: Bench) -> Bench:
    """A copy of these, to change."""
    shutil.copyfile(two_sessions.db, bench.db)
    bench.clock.time = two_sessions.clock.time
    return bench


def failed(result: Result) -> str:
    """The one line on stderr of a command that failed cleanly."""
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit)
    (line,) = result.stderr.splitlines()
    assert line.startswith("omoide: ")
    return line


def test_saying_answers_and_ending_tells_what_changed(bench: Bench) -> None:
    """The reply goes to stdout, then what the memory learnt."""
    result = bench.session("I have a cat called Miso and I live in Oslo.", answers=(M1,))
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "I see.",
        "",
        "Memory, version 1:",
        "+ You have a cat called Miso.",
        "+ You live in Oslo.",
    ]


def test_a_second_process_remembers(lived: Bench) -> None:
    """The prompt of the third session holds the memory of the first two."""
    lived.replier.answers.append("How is Miso?")
    result = lived.run("chat", "--say", "Guess who is ill?")
    assert result.stdout == "How is Miso?\n"
    assert any("lives in Bergen" in m.content for m in lived.replier.requests[-1].messages)


def test_show_tells_version_time_and_doubt(lived: Bench) -> None:
    """Each sentence is numbered, and one that nobody said is flagged."""
    lived.session("Hello again, it rains.", answers=(f"{M2} The user owns a submarine.",))
    shown = lived.run("memory", "show").stdout
    assert "What is remembered about ana" in shown
    assert "version 3, after session 3" in shown
    assert "1 week ago" in shown
    assert "  2. The user lives in Bergen.\n" in shown
    assert "  3. The user owns a submarine.  [? no turn supports this]" in shown


def test_show_for_programs(lived: Bench) -> None:
    """JSON has the sentences with their sources, ISO times and the standing."""
    shown = lived.data("memory", "show")
    assert isinstance(shown, dict)
    memory = shown["memory"]
    assert [s["text"] for s in memory["sentences"]] == M2.replace(". ", ".\n").splitlines()
    assert all(s["supported"] and s["sources"] for s in memory["sentences"])
    assert memory["time"] == "2026-01-12T09:00:00+00:00"
    assert shown["standing"]["behind"] == []


@pytest.mark.parametrize(
    "way",
    [
        ("--version", "1"),
        ("--session", "1"),
        ("--at", "2026-01-06"),
        ("--at", "2026-01-05T12:00:00+00:00"),
        ("--at", "10 days ago"),
    ],
)
def test_an_old_version_is_named_three_ways(lived: Bench, way: tuple[str, str]) -> None:
    """By number, by session or by time, the first version is shown."""
    shown = lived.run("memory", "show", *way).stdout
    assert "lives in Oslo" in shown
    assert "Bergen" not in shown


def test_nothing_is_remembered_yet(bench: Bench) -> None:
    """An open session alone is no memory, and that is said."""
    bench.replier.answers.append("Hello!")
    bench.run("chat", "--say", "Hi")
    shown = bench.run("memory", "show").stdout
    assert shown.startswith("Nothing is remembered about ana yet.\n")
    assert "session 1 is still open" in shown
    assert bench.run("memory", "history").stdout == "There is no version of the memory yet.\n"


def test_history_and_diff(lived: Bench) -> None:
    """History counts what changed; diff shows it, by default of the last update."""
    history = lived.run("memory", "history").stdout.splitlines()
    assert [line.split()[0] for line in history] == ["version", "1", "2"]
    assert "~1" in history[2]
    expected = [
        "version 1 → version 2",
        "  The user has a cat called Miso.",
        "- The user lives in Oslo.",
        "+ The user lives in Bergen.",
    ]
    for args in ([], ["1", "2"], ["1"], ["--from-session", "1", "--to-version", "2"]):
        assert lived.run("memory", "diff", *args).stdout.splitlines() == expected
    changes = lived.data("memory", "diff", "0", "1")
    assert isinstance(changes, dict)
    assert [c["change"] for c in changes["changes"]] == ["added", "added"]


def test_rollback_adds_a_version(lived: Bench) -> None:
    """The old memory comes back as version 3."""
    told = lived.run("memory", "rollback", "1").stdout
    assert told.startswith("version 3, brought back from version 1")
    assert "lives in Oslo" in lived.run("memory", "show").stdout


def test_why_shows_what_was_said(lived: Bench) -> None:
    """Each sentence stands above its turns; a text narrows it down."""
    shown = lived.run("memory", "why", "bergen").stdout.splitlines()
    assert shown[0] == "The user lives in Bergen."
    assert shown[1].startswith("    ana: I moved from Oslo to Bergen. (session 2, ")
    assert len(shown) == 2
    because = lived.data("memory", "why")
    assert isinstance(because, list)
    assert [t["session"] for b in because for t in b["turns"]] == [1, 2]
    assert "No sentence" in lived.run("memory", "why", "zebra").stdout


def test_a_stale_memory_says_so(lived: Bench) -> None:
    """A session that could not be digested, why, and what was set aside."""
    lived.session("My cat is ill.", answers=("", "", ""))
    shown = lived.run("memory", "show").stdout
    assert "! session 3, ended 1 week ago, is not in the memory:" in shown
    assert "omoide jobs retry" in shown
    assert "3 notes by the model failed a check and were not remembered" in shown
    aside = lived.data("memory", "rejected")
    assert isinstance(aside, list)
    assert len(aside) == 3
    assert aside[0]["problems"]


async def test_without_a_summary_what_was_digested_is_not_behind(tmp_path: Path) -> None:
    """There is no version to go by; what is still to be done, and only that, is behind."""
    runtime = Runtime(
        replace(SETTINGS, mechanisms=("human-recall",)),
        store=await SqliteStore.open(tmp_path / "memory.sqlite"),
        model=ScriptedModel(name="replier"),
        summariser=ScriptedModel(['{"events": []}'], name="iterator"),
        embedder=HashEmbedder(),
        clock=FrozenClock(),
        name="test",
    )
    memory = runtime.memory()
    await memory.record("ana", [Utterance(speaker=Speaker.USER, text="Lovely weather.")])
    await memory.end_session("ana")
    assert [one.session.number for one in (await memory_status(memory, "ana")).behind] == [1]
    await memory.run_jobs()
    assert (await memory_status(memory, "ana")).current
    await runtime.store.close()


def test_dead_jobs_are_listed_and_retried(lived: Bench) -> None:
    """A given-up job gets another try, which this time succeeds."""
    lived.session("My cat is ill.", answers=("", "", ""))
    (job,) = [j for j in lived.data("jobs", "list") if j["task"] == "digest"]
    assert (job["state"], job["session"]) == ("dead", 3)
    assert "dead" in lived.run("jobs", "list", "--state", "dead").stdout
    assert "1 job queued" in lived.run("jobs", "retry", str(job["id"])).stdout
    lived.iterator.answers.append(f"{M2} The user's cat is ill.")
    assert "0 not done" in lived.run("jobs", "run").stdout
    assert "cat is ill" in lived.run("memory", "show").stdout
    assert lived.run("jobs", "retry").stdout == "There are no dead jobs.\n"


def test_retrying_what_is_not_there(lived: Bench) -> None:
    """An unknown job and an unknown session are errors of one line."""
    assert "job 99 is not among" in failed(lived.run("jobs", "retry", "99"))
    assert "no session 9" in failed(lived.run("jobs", "retry", "--session", "9"))


def test_vectors_are_made_again_when_asked_for(lived: Bench) -> None:
    """For one user or for everyone; for nobody it is an error."""
    lived.run("jobs", "run")
    assert "Queued for 1 user" in lived.run("jobs", "embed").stdout
    assert lived.data("jobs", "embed", "--all-users") == {"users": 1}
    (job,) = lived.data("jobs", "list")
    assert (job["task"], job["state"]) == ("embed", "waiting")
    assert "nothing is stored about nobody" in failed(
        lived.run("jobs", "embed", "--user", "nobody")
    )


def test_recall_needs_no_model(lived: Bench) -> None:
    """What fits comes first, as text and as JSON."""
    asked = len(lived.replier.requests)
    first = lived.run("recall", "cat Miso", "-k", "2").stdout.splitlines()[0]
    assert "Miso" in first
    found = lived.data("recall", "cat Miso", "-k", "2")
    items = found["items"]
    assert len(items) == 2
    assert found["support"].keys() == {"known", "best", "mismatch"}
    last = lived.run("recall", "cat Miso", "--support").stdout.splitlines()[-1]
    assert last.startswith("known: ")
    assert items[0]["score"] >= items[1]["score"]
    assert len(lived.replier.requests) == asked


def test_cost_sums_and_prices(lived: Bench) -> None:
    """Calls are grouped, and tokens cost what the prices say."""
    costs = lived.data("cost", "--price-in", "1", "--price-out", "2")
    assert isinstance(costs, dict)
    names = {group["name"]: group for group in costs["groups"]}
    assert set(names) == {"reply", "digest", "embed"}
    assert names["digest"]["calls"] == 2
    total = costs["total"]
    expected = (total["prompt_tokens"] + 2 * total["completion_tokens"]) / 1e6
    assert total["price"] == pytest.approx(expected)
    shown = lived.run("cost", "--by", "session").stdout
    assert "session 1" in shown
    assert shown.splitlines()[-1].startswith("total")


def test_export_and_import_through_files(lived: Bench, tmp_path: Path) -> None:
    """An export restored for another user shows the same memory, and twice is once."""
    file = tmp_path / "ana.jsonl"
    assert "records written" in lived.run("export", "-o", str(file)).stderr
    assert file.read_text() == lived.run("export").stdout
    assert file.stat().st_mode & 0o077 == 0
    for turns in ("4 turns", "0 turns"):
        told = lived.run("import", str(file), "--user", "ana2")
        assert told.exit_code == 0, told.output
        assert turns in told.stdout
    assert "lives in Bergen" in lived.run("memory", "show", "--user", "ana2").stdout
    for option in (("--no-digest",), ("--from", "ana")):  # neither has an effect here
        assert option[0] in failed(lived.run("import", str(file), *option, "--user", "ana3"))


def test_an_import_tells_what_it_left_out(bench: Bench, tmp_path: Path) -> None:
    """Messages are recorded, jobs queued, and the rest counted with the reason."""
    file = tmp_path / "chat.json"
    messages = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "I have a cat called Miso."},
        {"role": "user", "content": None},
    ]
    file.write_text(json.dumps(messages))
    told = bench.run("import", str(file)).stdout
    assert "From messages: 1 session, 1 turn." in told
    assert "! skipped 1: it is from neither user nor assistant (role 'system') (item 1)" in told
    assert "1 session to digest" in told
    bench.iterator.answers.append(M1)
    bench.run("jobs", "run")
    assert "Miso" in bench.run("memory", "show").stdout


def test_a_session_without_a_job_can_be_digested(bench: Bench, tmp_path: Path) -> None:
    """What was imported without digestion is shown as missing, with the command that queues it."""
    file = tmp_path / "chat.json"
    file.write_text(json.dumps([{"role": "user", "content": "I have a cat called Miso."}]))
    bench.run("import", str(file), "--no-digest")
    shown = bench.run("memory", "show").stdout
    assert "no job is queued: omoide jobs retry --session 1" in shown
    assert "1 job queued" in bench.run("jobs", "retry", "--session", "1").stdout
    bench.iterator.answers.append("The user has a cat called Miso.")
    bench.run("jobs", "run")
    assert "1. The user has a cat called Miso." in bench.run("memory", "show").stdout


def test_a_bad_import_is_one_line(bench: Bench, tmp_path: Path) -> None:
    """A file of another kind says what was wanted, and creates no database."""
    file = tmp_path / "x.json"
    file.write_text('{"a": 1}')
    assert "wanted an export of omoide" in failed(bench.run("import", str(file)))
    assert not bench.db.exists()


def test_erasing_asks_first(lived: Bench) -> None:
    """No leaves everything, yes removes the user."""
    assert lived.run("erase", stdin="n\n").exit_code == 1
    assert "Bergen" in lived.run("memory", "show").stdout
    assert "2 sessions, 4 turns" in lived.run("erase", stdin="y\n").stdout
    assert "Nothing is remembered" in lived.run("memory", "show").stdout
    assert "nothing is stored about ana" in failed(lived.run("erase", "--yes"))


def test_erasing_a_session(lived: Bench) -> None:
    """One session goes, with what the memory had from it."""
    assert "1 session, 2 turns" in lived.run("erase", "--session", "2", "--yes").stdout
    shown = lived.run("memory", "show").stdout
    assert "Miso" in shown
    assert "Bergen" not in shown
    assert "no session 7" in failed(lived.run("erase", "--session", "7", "--yes"))


def test_erasing_a_fact_shows_it_first(lived: Bench) -> None:
    """Sentences, turns and what goes along are shown; afterwards no file holds the word."""
    result = lived.run("erase", "--fact", "lives in Bergen", stdin="y\n")
    assert "  - The user lives in Bergen." in result.stdout
    assert "ana: I moved from Oslo to Bergen." in result.stdout
    assert result.exit_code == 0, result.output
    left = b"".join(p.read_bytes() for p in lived.db.parent.glob("memory.sqlite*"))
    assert b"Bergen" not in left
    assert b"Miso" in left


def test_erasing_what_nobody_said(lived: Bench) -> None:
    """A fact that is not there is an error, and --json never asks."""
    assert "try fewer words" in failed(lived.run("erase", "--fact", "zebra", "--yes"))
    assert lived.run("erase", "--json").exit_code == 2


def test_options_stand_on_either_side(lived: Bench) -> None:
    """--user behind the command wins over --user before it."""
    shown = lived.run("memory", "show", "--user", "bob").stdout
    assert "remembered about bob yet.\nKnown users: ana." in shown
    assert "remembered about bob yet" in lived.run("memory", "--user", "bob", "show").stdout
    assert json.loads(lived.run("--json", "memory", "history").stdout)[1]["number"] == 2


def test_what_is_missing_or_wrong_is_one_line(bench: Bench) -> None:
    """A missing database, a misspelt setting and an unknown version fail cleanly."""
    assert "there is no database at" in failed(bench.run("memory", "show"))
    assert "unknown setting OMOIDE_MODLE" in failed(bench.run("memory", "show", OMOIDE_MODLE="x"))
    bench.session("I live in Oslo, with Miso the cat.", answers=(M1,))
    assert "no version 9" in failed(bench.run("memory", "show", "--version", "9"))


@pytest.mark.parametrize(
    "args",
    [
        ("memory", "show", "--version", "1", "--session", "1"),
        ("memory", "show", "--at", "someday"),
        ("memory", "rollback"),
        ("erase", "--session", "1", "--fact", "x"),
        ("jobs", "retry", "1", "--session", "1"),
        ("cost", "--by", "moon"),
        ("dance",),
    ],
)
def test_bad_usage_is_two(lived: Bench, args: tuple[str, ...]) -> None:
    """Usage errors have their own exit code and no traceback."""
    result = lived.run(*args)
    assert result.exit_code == 2
    assert "Error:" in result.stderr


def test_a_model_out_of_reach_keeps_what_was_said(bench: Bench) -> None:
    """The command fails in one line; the turn is there."""
    bench.replier.answers.append(ModelUnavailable("the model cannot be reached: start it"))
    assert "start it" in failed(bench.run("chat", "--say", "I have a cat."))
    assert "I have a cat." in bench.run("export").stdout


def test_saying_nothing_is_an_error(bench: Bench) -> None:
    """An empty --say is told, and no model is asked."""
    assert "the text is empty" in failed(bench.run("chat", "--say", "  "))
    assert bench.replier.requests == []


def test_an_error_of_the_system_is_one_line(lived: Bench, tmp_path: Path) -> None:
    """A file that cannot be written is told by its name."""
    target = tmp_path / "no such folder" / "x.jsonl"
    assert "x.jsonl cannot be written" in failed(lived.run("export", "-o", str(target)))
    (tmp_path / "file").write_text("")
    missing = tmp_path / "file" / "m.sqlite"
    assert "file" in failed(lived.run("chat", "--say", "Hi", "--db", str(missing)))


def test_an_update_that_failed_is_told_at_the_end(bench: Bench) -> None:
    """--end says why the memory is not updated."""
    result = bench.session("I have a cat.", answers=(ModelRefused("the key is wrong"),))
    assert "the key is wrong" in result.stderr
    assert "Memory, version" not in result.stdout


def test_text_cannot_steer_the_terminal(bench: Bench) -> None:
    """Escape sequences of a model are shown, not sent."""
    bench.replier.answers.append("Hi \x1b]0;owned\x07\x1b[2J\u202ethere")
    out = bench.run("chat", "--say", "Hello").stdout
    assert out == "Hi ␛]0;owned␇␛[2J<U+202E>there\n"


def test_lines_from_a_pipe(bench: Bench) -> None:
    """Each line of the input is answered; bad bytes are told, and what came before is kept."""
    bench.replier.answers.extend(["One.", "Two."])
    result = bench.run("chat", stdin=b"first\n\nsecond\n\xff\xfe\n")
    assert result.stdout == "One.\nTwo.\n"
    assert "line 4 of the input is not UTF-8" in failed(result)


def test_quitting_on_a_pipe_ends_the_session(bench: Bench) -> None:
    """As at a terminal; without it the session stays open."""
    bench.replier.answers.extend(["Hello!", "Bye!"])
    bench.run("chat", stdin="Hi\n")
    assert bench.run("memory", "show").stdout.count("still open") == 1
    bench.run("chat", stdin="Bye\n/quit\n")
    assert "still open" not in bench.run("memory", "show").stdout


def test_commands_from_a_pipe(lived: Bench) -> None:
    """They work as at a terminal, /quit ends the input, and a space makes words of a slash."""
    lived.replier.answers.append("A path.")
    piped = "/memory\n /etc/hosts\n/mem\n/forget Bergen\nn\n/quit\nnever said\n"
    shown = lived.run("chat", stdin=piped).stdout
    assert "  - You live in Bergen." in shown
    assert "A path." in shown
    assert "There is no command /mem." in shown
    assert "Nothing was removed." in shown
    assert [r.messages[-1].content.splitlines()[0] for r in lived.replier.requests] == [
        "/etc/hosts"
    ]
    assert "leave out --json" in failed(lived.run("chat", "--json", stdin="/memory\n"))


def test_a_reply_does_not_wait_for_the_memory(bench: Bench) -> None:
    """A session that waits to be digested is digested after the reply, not before it."""
    order: list[str] = []

    def answer(asked: str, text: str) -> Answer:
        def said(request: Request) -> str:
            order.append(asked)
            assert request.background is (asked == "digest")
            return text

        return said

    bench.replier.answers.append("I see.")
    bench.run("chat", "--say", "I have a cat called Miso and I live in Oslo.")
    bench.clock.advance(WEEK)
    bench.replier.answers.append(answer("reply", "Hello again."))
    bench.iterator.answers.append(answer("digest", M1))
    assert bench.run("chat", "--say", "Hello!").stdout == "Hello again.\n"
    assert order == ["reply", "digest"]
    assert "lives in Oslo" in bench.run("memory", "show").stdout


def test_jobs_are_listed_without_a_word(lived: Bench) -> None:
    """`omoide jobs` is `omoide jobs list`."""
    assert lived.run("jobs").stdout == lived.run("jobs", "list").stdout == "No jobs to show.\n"


def test_help_shows_whole_sentences() -> None:
    """No line of a list of commands is cut."""
    for group in ((), ("jobs",), ("memory",), ("models",)):
        assert "..." not in CliRunner().invoke(cli, [*group, "--help"]).stdout.split("Commands:")[1]


def test_chat_for_programs(bench: Bench) -> None:
    """--json gives one object a line: each reply, then the end."""
    bench.replier.answers.append("I see.")
    bench.iterator.answers.append(M1)
    said = "I have a cat called Miso and I live in Oslo."
    result = bench.run("chat", "--json", "--say", said, "--end")
    reply, end = map(json.loads, result.stdout.splitlines())
    assert (reply["said"], reply["reply"]) == (said, "I see.")
    assert [c["change"] for c in end["changes"]] == ["added", "added"]
    assert end["memory"]["number"] == 1


def test_talking_at_another_time(bench: Bench) -> None:
    """--at dates the turns and the memory, so that weeks can be played in a minute."""
    bench.replier.answers.append("I see.")
    bench.iterator.answers.append(M1)
    said = "I have a cat called Miso and I live in Oslo."
    bench.run("chat", "--say", said, "--end", "--at", "2025-12-01T10:00:00+00:00")
    shown = bench.run("memory", "show").stdout
    assert "2025-12-01" in shown
    assert "1 month ago" in shown


def test_the_end_of_a_past_talk_shows_what_was_written_then(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also what has ended since, such as a home that was left on the day of a plan: here all."""

    async def nothing(_: object, __: object, summary: Summary, *, now: object) -> Summary:
        del now
        return replace(summary, sentences=())

    monkeypatch.setattr("omoide.engine.versions.without_gone", nothing)
    bench.replier.answers.append("I see.")
    bench.iterator.answers.append(M1)
    said = "I have a cat called Miso and I live in Oslo."
    end = bench.run("chat", "--say", said, "--end", "--at", "2025-12-01T10:00:00+00:00").stdout
    assert "lives in Oslo" not in bench.run("memory", "show").stdout
    assert "Memory, version 1:\n+ " in end


def test_times_are_of_the_zone_that_is_set(lived: Bench) -> None:
    """OMOIDE_TIMEZONE is the zone of the times that commands print and of the days that they take,
    whatever the machine's is."""
    zone = {"OMOIDE_TIMEZONE": "Pacific/Honolulu"}  # ten hours behind: still the day before
    assert "2026-01-11 23:0" in lived.run("memory", "show", **zone).stdout
    assert lived.run("memory", "timeline", **zone).stdout.startswith("2026-01-04\n")
    assert "2026-01-04" in lived.run("cost", "--by", "day", **zone).stdout
    on_that_day = ("memory", "facts", "--at", "2026-01-04")
    assert "lives in Oslo" in lived.run(*on_that_day, **zone).stdout
    assert "lives in Oslo" not in lived.run(*on_that_day, OMOIDE_TIMEZONE="UTC").stdout
    wrong = lived.run("memory", "show", OMOIDE_TIMEZONE="Moon/Base")
    assert wrong.exit_code == 1
    assert "is not a time zone" in wrong.stderr


def test_an_erasure_leaves_a_receipt_that_can_be_verified(lived: Bench, tmp_path: Path) -> None:
    """Saved by the command, verified by another; a changed one is refused."""
    file = tmp_path / "receipt.json"
    result = lived.run("erase", "--session", "2", "--yes", "--receipt", str(file))
    assert "found clean" in result.stdout
    assert str(file) in result.stdout
    verified = lived.run("verify-receipt", str(file))
    assert "Genuine" in verified.stdout
    assert "session 2" in verified.stdout
    assert json.loads(lived.run("verify-receipt", str(file), "--json").stdout)["clean"] is True
    file.write_text(file.read_text("utf-8").replace('"turns": 2', '"turns": 3'), "utf-8")
    assert "not genuine" in failed(lived.run("verify-receipt", str(file)))


def test_a_receipt_in_json_can_be_verified(lived: Bench, tmp_path: Path) -> None:
    """The one inside the output of `erase --json` is the same."""
    erased = json.loads(lived.run("erase", "--yes", "--json").stdout)
    file = tmp_path / "receipt.json"
    file.write_text(json.dumps(erased["receipt"]), "utf-8")
    assert "Genuine" in lived.run("verify-receipt", str(file)).stdout


@pytest.mark.parametrize("what", [("--session", "1"), ("--fact", "Miso"), ()])
def test_nothing_is_erased_whose_receipt_cannot_be_saved(
    lived: Bench, tmp_path: Path, what: tuple[str, ...]
) -> None:
    """It is signed once: a misspelt folder would lose it."""
    before = lived.run("export").stdout
    receipt = tmp_path / "no such folder" / "receipt.json"
    failure = lived.run("erase", *what, "--yes", "--receipt", str(receipt))
    assert failure.exit_code == 1
    assert f"{receipt} cannot be written" in failure.stderr
    assert lived.run("export").stdout == before


def test_a_user_is_erased_however_the_name_is_written(bench: Bench) -> None:
    """With a letter in two parts, as some systems write it."""
    bench.replier.answers.append("I see.")
    said = bench.run_as_oneself("--user", "Zo\u00eb", "chat", "--say", "Hi")
    assert said.exit_code == 0, said.output
    erased = bench.run_as_oneself("--user", "Zoe\u0308", "erase", "--yes")
    assert erased.exit_code == 0, erased.output
