"""`omoide`: the command and its global options."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from typing import IO, TYPE_CHECKING

import click

from omoide.cli.bench import bench
from omoide.cli.chat import chat
from omoide.cli.cost import cost
from omoide.cli.jobs import jobs
from omoide.cli.keys import keys
from omoide.cli.mcp import mcp
from omoide.cli.mechanisms import mechanisms
from omoide.cli.memory import memory
from omoide.cli.migrate import migrate
from omoide.cli.models import models
from omoide.cli.plot import plot
from omoide.cli.recall import calibrate, recall
from omoide.cli.scope import options
from omoide.cli.sealing import encrypt, rekey
from omoide.cli.serve import serve
from omoide.cli.show import one_line
from omoide.cli.transfer import erase, export, import_
from omoide.cli.tune import tune
from omoide.cli.work import work
from omoide.errors import OmoideError
from omoide.version import __version__

if TYPE_CHECKING:
    from typing import Any


class Failure(click.ClickException):
    """An error of ours as one line on stderr."""

    exit_code = 1

    def show(self, file: IO[Any] | None = None) -> None:
        """One line, whatever the message holds."""
        click.echo(f"omoide: {one_line(self.message)}", file=file or sys.stderr)


class Commands(click.Group):
    """A group whose commands may raise our errors."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; an error of ours or of the system is told, not traced."""
        try:
            return super().invoke(ctx)
        except OmoideError as error:
            raise Failure(str(error)) from error
        except OSError as error:
            if error.errno == errno.EPIPE:  # whoever read our output has left: click knows how
                raise
            where = f"{error.filename}: " if error.filename else ""
            raise Failure(f"{where}{error.strerror or error}") from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="omoide")
@options
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Long-term memory for conversations with language models.

    Start with `omoide chat`. Every setting can also be given as a variable OMOIDE_…, for
    example OMOIDE_DB or OMOIDE_MODEL.
    """
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        ctx.color = False


for command in (
    chat,
    mechanisms,
    memory,
    recall,
    calibrate,
    plot,
    cost,
    jobs,
    models,
    export,
    import_,
    erase,
    encrypt,
    rekey,
    migrate,
    serve,
    mcp,
    work,
    keys,
    bench,
    tune,
):
    cli.add_command(command)


def main() -> None:
    """The entry point. What a terminal cannot print becomes a question mark, not a crash."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            with contextlib.suppress(io.UnsupportedOperation):
                stream.reconfigure(errors="replace")
    cli(prog_name="omoide")
