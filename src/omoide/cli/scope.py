"""The options that all commands share: which memory, in which database, and how to show it."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

import click

from omoide import bootstrap
from omoide.cli.addressing import Reader
from omoide.cli.choosing import with_choice
from omoide.cli.progress import downloads
from omoide.domain.text import normal_name
from omoide.errors import BadInput
from omoide.presets import PRESETS
from omoide.settings import Address, Settings, database

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from omoide.engine.memory import Memory
    from omoide.engine.runtime import Runtime
    from omoide.ports import Clock, Progress

P = ParamSpec("P")
T = TypeVar("T")


class Opener(Protocol):
    """Opens what the settings describe; `bootstrap.open_runtime` is one."""

    def __call__(
        self,
        settings: Settings,
        *,
        create: bool = True,
        progress: Progress | None = None,
    ) -> Awaitable[Runtime]:
        """The runtime that the settings describe."""


@dataclass(frozen=True, kw_only=True)
class Outside:
    """What commands need from outside. A test passes another one as click's context object."""

    open: Opener
    clock: Clock


@dataclass(frozen=True, kw_only=True)
class Scope:
    """The memory of one user, as chosen by the options."""

    settings: Settings
    user: str
    json: bool
    outside: Outside
    named: bool = False
    """Whether the user was named, by an option or by OMOIDE_USER, and is not just the default."""
    model_named: bool = False
    """Whether the model was named by OMOIDE_MODEL."""

    @property
    def who(self) -> str:
        """What to call the user: `you`, unless another one was named."""
        return self.user if self.named else "you"

    async def reader(self, memory: Memory) -> Reader:
        """Whom to speak to about this memory."""
        return Reader.of(await memory.summary(self.user), you=not self.named)

    def run(
        self,
        work: Callable[[Memory], Awaitable[T]],
        *,
        create: bool = False,
        progress: Progress = downloads,
    ) -> T:
        """Open the memory, run `work` with it, close it."""
        return self.run_with(
            lambda runtime: work(runtime.memory()), create=create, progress=progress
        )

    def run_with(
        self,
        work: Callable[[Runtime], Awaitable[T]],
        *,
        create: bool = False,
        progress: Progress | None = downloads,
        settings: Settings | None = None,
    ) -> T:
        """The same with the whole runtime."""

        async def run() -> T:
            opening = self.outside.open(settings or self.settings, create=create, progress=progress)
            async with await opening as runtime:
                return await work(runtime)

        return asyncio.run(run())


def here() -> Outside:
    """The `Outside` of the current command."""
    outside = click.get_current_context().find_root().obj
    if isinstance(outside, Outside):
        return outside
    return Outside(open=bootstrap.open_runtime, clock=bootstrap.SystemClock())


def _keep(ctx: click.Context, param: click.Parameter, value: object) -> object:
    """Store an option where all commands see it; the innermost one that is set counts."""
    if value is not None and value is not False:
        ctx.meta[f"omoide.{param.name}"] = value
    return value


class Where(click.ParamType[Path | Address]):
    """A database: a file, or the URL of a server."""

    name = "FILE|URL"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path | Address:
        """Parse it. A file must not be a folder; a server is only checked when it is opened."""
        where = value if isinstance(value, Path | Address) else database(str(value))
        if isinstance(where, Path):
            click.Path(dir_okay=False).convert(str(where), param, ctx)
        return where


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
        help="The user whose memory it is.  [default: me]",
        expose_value=False,
        callback=_keep,
    ),
    click.option(
        "--tenant",
        metavar="NAME",
        help="The tenant of the user: tenants never see each other's data.",
        expose_value=False,
        callback=_keep,
    ),
    click.option(
        "--as",
        "preset",
        type=click.Choice(list(PRESETS)),
        help="The way of remembering: ours, or a paper's (`omoide mechanisms --as NAME`). Settings "
        "given as OMOIDE_… count more.  [default: omoide]",
        expose_value=False,
        callback=_keep,
    ),
    click.option(
        "--key-file",
        type=click.Path(path_type=Path, dir_okay=False),
        help="A file with the key of an encrypted database; default: OMOIDE_KEY.",
        expose_value=False,
        callback=_keep,
    ),
    click.option(
        "--json",
        is_flag=True,
        help="Print JSON.",
        expose_value=False,
        callback=_keep,
    ),
)


def read_key(path: Path) -> str:
    """The key in a file: its first line."""
    try:
        line, *_ = path.read_text("utf-8").splitlines() or [""]
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not text: put the key on the first line of the file") from error
    if not line:
        raise BadInput(f"{path} is empty: put the key on the first line of the file")
    return line


def options(command: Callable[P, T]) -> Callable[P, T]:
    """Add the options that every command has. They may come before or after its name."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def scoped(command: Callable[Concatenate[Scope, P], T]) -> Callable[P, T]:
    """Pass a command its `Scope` as the first argument, and add the options that make it up."""

    @options
    @wraps(command)
    def with_scope(*args: P.args, **kwargs: P.kwargs) -> T:
        meta = click.get_current_context().meta
        settings = Settings.read(os.environ, preset=meta.get("omoide.preset"))
        settings = replace(
            settings,
            db=meta.get("omoide.db", settings.db),
            tenant=meta.get("omoide.tenant", settings.tenant),
            key=read_key(meta["omoide.key_file"]) if "omoide.key_file" in meta else settings.key,
        )
        model_named = bool(os.environ.get("OMOIDE_MODEL"))
        scope = Scope(
            settings=settings if model_named else with_choice(settings),
            user=normal_name(meta.get("omoide.user", settings.user), "the user"),
            json="omoide.json" in meta,
            outside=here(),
            named="omoide.user" in meta or bool(os.environ.get("OMOIDE_USER")),
            model_named=model_named,
        )
        return command(scope, *args, **kwargs)

    return with_scope
