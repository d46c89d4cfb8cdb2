"""The model that a user chose at the first start: offered once, and kept beside the database."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click

from omoide.cli.show import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from omoide.settings import Settings


class RunningServer(Protocol):
    """A model server on this machine, as `bootstrap.local_servers` finds it."""

    @property
    def kind(self) -> str:
        """What it is called."""

    @property
    def models(self) -> tuple[str, ...]:
        """Its chat models."""

    @property
    def specs(self) -> tuple[str, ...]:
        """The same models as `OMOIDE_MODEL` names them."""


MOST = 9
"""Most models that are offered: one key press each."""


def choice_file(settings: Settings) -> Path | None:
    """Where the choice is kept; None for a database on a server."""
    db = settings.db
    return db.with_name(f"{db.name}.model") if isinstance(db, Path) else None


def with_choice(settings: Settings) -> Settings:
    """The settings with the model that was chosen, if one was."""
    path = choice_file(settings)
    try:
        chosen = path.read_text(encoding="utf-8").strip() if path is not None else ""
    except (OSError, ValueError):
        return settings
    return replace(settings, model=chosen) if chosen else settings


def pressed_key() -> str:
    """The next key, also one that was pressed before it was waited for: `click.getchar` discards
    what was typed ahead."""
    if sys.platform == "win32":
        return click.getchar()
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal, termios.TCSADRAIN)
    try:
        return os.read(terminal, 1).decode(errors="replace")
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def offer(
    settings: Settings,
    servers: Sequence[RunningServer],
    *,
    key: Callable[[], str] = pressed_key,
) -> Settings:
    """Ask which model to use, by one key press, and keep the answer. Any other key takes the
    embedded model."""
    specs = [spec for server in servers for spec in server.specs][:MOST]
    kinds = [server.kind for server in servers for _ in server.models][:MOST]
    click.echo("Models are running on this machine. Press a key to choose:")
    for number, (kind, spec) in enumerate(zip(kinds, specs, strict=True), 1):
        click.echo(f"  {number}  {one_line(spec.partition('#')[2])} ({kind})")
    click.echo("  Enter  the model that comes with omoide (small; runs inside this program)")
    pressed = key()
    if pressed in ("\x03", "\x04"):
        raise click.Abort
    number = int(pressed) if pressed.isdigit() else 0
    chosen = specs[number - 1] if 1 <= number <= len(specs) else settings.model
    if path := choice_file(settings):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{chosen}\n", encoding="utf-8")
        click.echo(f"{one_line(chosen)} it is. To choose again, remove {path}.")
    return replace(settings, model=chosen)
