"""What every command works on: whose memory, in which database, and how to show it."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

import click

from omoide import bootstrap
from omoide.cli.progress import bar
from omoide.errors import BadInput
from omoide.settings import Address, Settings, database

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from omoide.engine import Memory
    from omoide.ports import Clock, Progress

P = ParamSpec("P")
T = TypeVar("T")


class Opener(Protocol):
    """Opens a memory; `bootstrap.open_memory` is one."""

    def __call__(
        self,
        settings: Settings,
        *,
        create: bool = True,
        progress: Progress | None = None,
    ) -> Awaitable[Memory]:
        """The memory that the settings describe."""


@dataclass(frozen=True, kw_only=True)
class Outside:
    """The world beyond the terminal. A test gives another one as click's context object."""

    open: Opener
    clock: Clock


@dataclass(frozen=True, kw_only=True)
class Scope:
    """The memory of one user, as named by the options."""

    settings: Settings
    user: str
    json: bool
    outside: Outside

    def run(
        self,
        work: Callable[[Memory], Awaitable[T]],
        *,
        create: bool = False,
        progress: Progress = bar,
    ) -> T:
        """Open the memory, do the work, close it."""

        async def all_of_it() -> T:
            memory = await self.outside.open(self.settings, create=create, progress=progress)
            try:
                return await work(memory)
            finally:
                await memory.close()

        return asyncio.run(all_of_it())


def here() -> Outside:
    """The outside world of the command that runs."""
    given = click.get_current_context().find_root().obj
    if isinstance(given, Outside):
        return given
    return Outside(open=bootstrap.open_memory, clock=bootstrap.SystemClock())


def _keep(ctx: click.Context, param: click.Parameter, value: object) -> object:
    """Note an option where all commands see it; the innermost one that is given counts."""
    if value is not None and value is not False:
        ctx.meta[f"omoide.{param.name}"] = value
    return value


class Where(click.ParamType[Path | Address]):
    """A database: a file, or the URL of a server."""

    name = "FILE|URL"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path | Address:
        """A file must not be a folder; a server is seen when it is opened."""
        found = value if isinstance(value, Path | Address) else database(str(value))
        if isinstance(found, Path):
            click.Path(dir_okay=False).convert(str(found), param, ctx)
        return found


_OPTIONS = (
    click.option(
        "--db",
        type=Where(),
        help="The database: a file, or postgresql://…  "
        "[default: ~/.local/share/omoide/memory.sqlite]",
        expose_value=False,
        callback=_keep,
    ),
    click.option(
        "--user",
        metavar="NAME",
        help="Whose memory.  [default: me]",
        expose_value=False,
        callback=_keep,
    ),
    click.option(
        "--tenant",
        metavar="NAME",
        help="Whose users: tenants never see each other.",
        expose_value=False,
        callback=_keep,
    ),
    click.option(
        "--key-file",
        type=click.Path(path_type=Path, dir_okay=False),
        help="A file with the key of an encrypted database; else OMOIDE_KEY.",
        expose_value=False,
        callback=_keep,
    ),
    click.option(
        "--json",
        is_flag=True,
        help="Print JSON for programs.",
        expose_value=False,
        callback=_keep,
    ),
)


def read_key(path: Path) -> str:
    """The key in a file: its first line."""
    try:
        line, *_ = path.read_text("utf-8").splitlines() or [""]
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not text: a key file holds the key as its first line") from error
    if not line:
        raise BadInput(f"{path} is empty: a key file holds the key as its first line")
    return line


def options(command: Callable[P, T]) -> Callable[P, T]:
    """The options that every command has. They may stand before or after its name."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def scoped(command: Callable[Concatenate[Scope, P], T]) -> Callable[P, T]:
    """Give a command its `Scope` as the first argument, and the options that make it up."""

    @options
    @wraps(command)
    def with_scope(*args: P.args, **kwargs: P.kwargs) -> T:
        given = click.get_current_context().meta
        settings = Settings.read(os.environ)
        settings = replace(
            settings,
            db=given.get("omoide.db", settings.db),
            tenant=given.get("omoide.tenant", settings.tenant),
            key=read_key(given["omoide.key_file"]) if "omoide.key_file" in given else settings.key,
        )
        scope = Scope(
            settings=settings,
            user=given.get("omoide.user", settings.user),
            json="omoide.json" in given,
            outside=here(),
        )
        return command(scope, *args, **kwargs)

    return with_scope
