"""`omoide`: the command and its global options."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from typing import IO, TYPE_CHECKING

import click

from omoide import plugins
from omoide.cli.chat import chat
from omoide.cli.cost import cost
from omoide.cli.doctor import doctor
from omoide.cli.encryption import encrypt, rekey
from omoide.cli.groups import CommandGroup
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
from omoide.cli.serve import serve
from omoide.cli.show import one_line
from omoide.cli.transfer import erase, export, import_, verify_receipt
from omoide.cli.webhooks import webhooks
from omoide.cli.work import work
from omoide.errors import OmoideError
from omoide.plugins import Group
from omoide.version import __version__

if TYPE_CHECKING:
    from typing import Any


class Failure(click.ClickException):
    """An `OmoideError`, shown as one line on stderr."""

    exit_code = 1

    def show(self, file: IO[Any] | None = None) -> None:
        """Print it as one line."""
        click.echo(f"omoide: {one_line(self.message)}", file=file or sys.stderr)


HINTS = {"bench": "omoide-bench", "tune": "omoide-tune"}
"""Commands that are in other packages of omoide, by the folder of a checkout under packages/."""


class Commands(CommandGroup):
    """A group that shows `OmoideError` as a message. Plug-ins may add commands to it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The built-in commands in their order, then those of plug-ins."""
        built_in = super().list_commands(ctx)
        extra = (name for name in plugins.names(Group.COMMANDS) if name not in built_in)
        return [*built_in, *extra]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The built-in command, or a plug-in's, which is loaded now."""
        built_in = super().get_command(ctx, cmd_name)
        if built_in is not None:
            return built_in
        if cmd_name in plugins.names(Group.COMMANDS):
            command: click.Command = plugins.load(Group.COMMANDS, cmd_name)
            return command
        if package := HINTS.get(cmd_name):
            raise Failure(
                f"`omoide {cmd_name}` is in another package: in omoide's checkout, run pip install "
                f"./packages/{package}"
            )
        return None

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; show an `OmoideError` or `OSError` as a message, without a traceback."""
        try:
            return super().invoke(ctx)
        except OmoideError as error:
            raise Failure(str(error)) from error
        except OSError as error:
            if error.errno == errno.EPIPE:  # the reader of our output is gone: click handles it
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
    doctor,
    models,
    export,
    import_,
    erase,
    verify_receipt,
    encrypt,
    rekey,
    migrate,
    serve,
    mcp,
    work,
    webhooks,
    keys,
):
    cli.add_command(command)


def main() -> None:
    """The entry point. Characters that a terminal cannot print become question marks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            with contextlib.suppress(io.UnsupportedOperation):
                stream.reconfigure(errors="replace")
    cli(prog_name="omoide")
