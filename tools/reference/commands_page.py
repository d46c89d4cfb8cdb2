"""docs/reference/commands.md: every command of the core, from click."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING

import click
from markdown_text import MADE, one_line, table

from omoide.cli import cli

if TYPE_CHECKING:
    from collections.abc import Iterator

INTRO = """\
`omoide COMMAND --help` shows the same in the terminal. `omoide bench` and `omoide tune` come with
their packages: [bench](../bench.md), [tuning](../tuning.md).

## Options of every command
"""


COMMON = [(parameter.opts, parameter.help) for parameter in cli.params]
"""The options that every command takes, by their names and meaning: an option of a command's own
may have the name of one of them."""


def commands_page() -> Iterator[str]:
    """Every command of the core, with its options."""
    yield from ("# Commands", "", MADE, "", INTRO, "")
    yield from table(["option", "meaning"], [option_row(p) for p in cli.params])
    for name in sorted(cli.commands):
        yield from command_part(f"omoide {name}", cli.commands[name])


def command_part(path: str, command: click.Command) -> Iterator[str]:
    """A command, and those within it."""
    own = [p for p in command.params if (p.opts, p.help) not in COMMON]
    yield from (f"{'#' * (path.count(' ') + 1)} {path}", "")
    yield from (inspect.cleandoc((command.help or "").replace("\b", "")), "")
    arguments = [p for p in own if isinstance(p, click.Argument)]
    if not isinstance(command, click.Group):
        usage = " ".join([path, *(p.make_metavar(click.Context(command)) for p in arguments)])
        yield from ("```text", usage, "```", "")
    if options := [p for p in own if isinstance(p, click.Option)]:
        yield from table(["option", "meaning"], [option_row(p) for p in options])
    if isinstance(command, click.Group):
        for name in sorted(command.commands):
            yield from command_part(f"{path} {name}", command.commands[name])


def option_row(parameter: click.Parameter) -> list[str]:
    """An option's names and what it does, with its default."""
    assert isinstance(parameter, click.Option)  # noqa: S101 - arguments are in the usage line
    names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
    if not (parameter.is_flag or parameter.count):
        context = click.Context(click.Command("omoide"))
        names += f" `{one_line(parameter.make_metavar(context))}`"
    extra = parameter.get_help_extra(click.Context(click.Command("omoide")))
    default = extra.get("default", "").replace(str(Path.home()), "~")
    said = parameter.help or ""
    return [names, f"{said} Default: {default}." if default else said]
