"""Every command that a page names exists, with its options, tasks, methods, runs and settings.

The pages of `docs/experiments` are left out: they say what was run on their day. `extending.md`
adds commands of its own, and `tests/guides.py` runs it.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from omoide.cli.main import cli
from omoide_bench.cli.running import run as bench_run
from omoide_bench.methods import choose, registry
from omoide_bench.suite import SUITE
from omoide_bench.tasks import TASKS
from omoide_bench.tasks.base import checked_options

if TYPE_CHECKING:
    from omoide.ports import Analyser

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LEFT_OUT = {"experiments", "reference", "extending.md"}
PAGES = [
    ROOT / "README.md",
    *(p for p in sorted(DOCS.rglob("*.md")) if not LEFT_OUT & set(p.relative_to(DOCS).parts)),
]
INLINE = re.compile(r"`([^`\n]+)`")
FENCED = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^(?: {4}|until )((?:[A-Z_]+=\S+ )*omoide .+)$", re.MULTILINE)
COMMAND = re.compile(r"(?:[A-Z_]+=\S+ )*(?:omoide|… bench) .+")
SCRIPT = re.compile(r"python (benchmarks/\w+\.py)([^`|\n]*)")
PREFIX = re.compile(r"^(?:[A-Z_]+=\S+ )*")


def _analyser(language: str) -> Analyser:
    """None is asked: only the methods' names are wanted."""
    raise AssertionError(language)


METHODS = registry(analyser=_analyser)


def commands() -> list[tuple[str, str]]:
    """Each page's commands, each once."""
    found: dict[tuple[str, str], None] = {}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        blocks = [line for block in FENCED.findall(text) for line in block.splitlines()]
        for line in (*INLINE.findall(text), *INDENTED.findall(text), *blocks):
            for part in re.split(r" && | \|\| | \| |; ", line.split(" # ")[0]):
                if COMMAND.fullmatch(part.strip()):
                    found[page.relative_to(ROOT).as_posix(), part.strip()] = None
    return list(found)


def resolved(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that the words name, and the words after it."""
    command: click.Command = cli
    while isinstance(command, click.Group) and words:
        if words[0].startswith("-"):
            words = words[_width(command, words) :]
        elif words[0].isupper() or words[0] == "…":
            break
        else:
            found = command.get_command(click.Context(command), words[0])
            assert found is not None, f"no command {words[0]!r}"
            command, words = found, words[1:]
    return command, words


def given(command: click.Command, words: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    """The arguments and the options that the words give. Fails for an option that there is not."""
    arguments: list[str] = []
    options: dict[str, list[str]] = {}
    while words:
        width = _width(command, words) if words[0].startswith("-") else 1
        if words[0].startswith("-"):
            options.setdefault(words[0], []).extend(words[1:width])
        else:
            arguments.append(words[0])
        words = words[width:]
    return arguments, options


def _width(command: click.Command, words: list[str]) -> int:
    """How many words an option takes, itself included."""
    name = words[0].partition("=")[0]
    known = {o: p for p in command.params for o in (*p.opts, *p.secondary_opts)}
    assert name in known or name in ("--help", "-h"), f"{command.name} has no option {name}"
    option = known.get(name)
    if not isinstance(option, click.Option) or option.is_flag or "=" in words[0]:
        return 1
    return 1 + option.nargs


@pytest.mark.parametrize(("page", "command"), commands())
def test_a_command_of_a_page_exists(page: str, command: str) -> None:
    """Its name and options; of a benchmark also the task with its options, the methods, the runs
    of the suite; and the settings before it."""
    del page
    settings = (DOCS / "reference" / "settings.md").read_text(encoding="utf-8")
    before = PREFIX.match(command)
    assert before is not None
    for name in re.findall(r"(\w+)=", before[0]):
        assert f"`{name}`" in settings, name
    words = [w for w in shlex.split(command[before.end() :])[1:] if w not in ("…", "&")]
    if ">" in words:
        words = words[: words.index(">")]
    found, rest = resolved(words)
    arguments, options = given(found, rest)
    if found is bench_run:
        _check_run(arguments, options)


def _check_run(arguments: list[str], options: dict[str, list[str]]) -> None:
    """The task, its options and the methods."""
    for name in arguments[:1]:
        for task in [] if name.isupper() else name.split("|"):
            assert task in TASKS, task
            pairs = (one.partition("=") for one in options.get("--set", ()))
            checked_options(TASKS[task], {name: value for name, _, value in pairs})
            methods = [m for given in options.get("--method", ()) for m in given.split("|")]
            if TASKS[task].alternatives:
                assert set(methods) <= set(TASKS[task].alternatives)
            elif methods:
                choose(methods, METHODS, usual=(), only=True)


def scripts() -> list[tuple[str, str]]:
    """Each script that a page runs, with its options."""
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    return sorted({(name, rest) for text in texts for name, rest in SCRIPT.findall(text)})


@pytest.mark.parametrize(("script", "options"), scripts())
def test_a_script_of_a_page_exists_with_its_options(script: str, options: str) -> None:
    """Its file, and every option in it."""
    source = (ROOT / script).read_text(encoding="utf-8")
    for name in re.findall(r"--[\w-]+", options):
        assert f'"{name}"' in source, name


def test_the_runs_that_pages_name_are_in_the_suite() -> None:
    """Also where a page leaves out the rest of the command."""
    named = {
        name
        for page in PAGES
        for name in re.findall(r"--run ([a-z][\w-]*)", page.read_text("utf-8"))
    }
    assert len(named) > 10
    assert named <= {run.name for run in SUITE}


def test_the_table_of_tasks_has_each_with_options_that_it_knows() -> None:
    """docs/bench.md lists every task once, and no other, and its options are the task's."""
    text = (DOCS / "bench.md").read_text(encoding="utf-8").split("## Tasks")[1].split("## ")[0]
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (.+)$", text, re.MULTILINE))
    assert set(rows) == set(TASKS)
    for name, row in rows.items():
        assert set(re.findall(r"--set (\w+)=", row)) <= set(TASKS[name].options), name
