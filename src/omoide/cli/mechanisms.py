"""`omoide mechanisms`: the mechanisms that can be configured, and the presets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from omoide.cli.scope import scoped
from omoide.cli.show import emit
from omoide.errors import BadPlugin
from omoide.mechanisms.registry import MECHANISMS
from omoide.presets import PRESETS, written

if TYPE_CHECKING:
    from omoide.cli.scope import Scope
    from omoide.mechanisms import MechanismEntry
    from omoide.presets import Preset
    from omoide.settings import Settings


@click.command()
@scoped
def mechanisms(scope: Scope) -> None:
    """List the mechanisms, with their papers and what they cost.

    Set OMOIDE_MECHANISMS to those to use, in the order they run, such as `summary,search`. With
    --as it describes a preset: its settings, prompts and numbers, and where it departs from its
    paper.
    """
    if "omoide.preset" in click.get_current_context().meta:
        _show_preset(scope, PRESETS[scope.settings.preset])
    else:
        _show_all(scope)


def _show_all(scope: Scope) -> None:
    loaded, broken = _load_all()
    if scope.json:
        emit(
            [
                {
                    "name": name,
                    "used": name in scope.settings.mechanisms,
                    "about": entry.about,
                    "paper": entry.paper,
                    "calls": entry.calls,
                    "needs": entry.needs,
                }
                for name, entry in loaded.items()
            ]
        )
        return
    for name, entry in loaded.items():
        mark = "*" if name in scope.settings.mechanisms else " "
        needs = f"; needs {entry.needs}" if entry.needs else ""
        click.echo(f"{mark} {name:18} {entry.about}")
        click.echo(f"  {'':18} {entry.paper}; model calls: {entry.calls}{needs}")
    for why in broken:
        click.echo(f"! {why}")
    click.echo("* in use; choose with OMOIDE_MECHANISMS=name,name")
    click.echo(
        f"preset: {scope.settings.preset}; choose with --as or OMOIDE_PRESET from "
        f"{', '.join(PRESETS)}"
    )


def _show_preset(scope: Scope, preset: Preset) -> None:
    changed = overridden(preset, scope.settings)
    if scope.json:
        emit(
            {
                "name": preset.name,
                "about": preset.about,
                "paper": preset.paper,
                "mechanisms": scope.settings.mechanisms,
                "settings": dict(preset.settings),
                "overridden": changed,
                "prompts": preset.prompts,
                "numbers": preset.numbers,
                "departures": preset.departures,
            }
        )
        return
    click.echo(f"{preset.name}: {preset.paper}\n{preset.about}")
    click.echo(f"\nMechanisms: {', '.join(scope.settings.mechanisms)}")
    click.echo(f"Prompts: {', '.join(preset.prompts)}")
    if preset.settings:
        click.echo("\nSettings")
    for name, variable in zip(preset.settings, preset.variables, strict=True):
        also = f"  (here {written(changed[name])})" if name in changed else ""
        click.echo(f"  {variable}{also}")
    if preset.numbers:
        click.echo("\nNumbers")
    for number in preset.numbers:
        click.echo(f"  {number.what}: {number.value}  ({number.where})")
    if preset.departures:
        click.echo("\nDepartures from the paper")
    for departure in preset.departures:
        click.echo(f"  - {departure.what}\n    {departure.why}")


def overridden(preset: Preset, settings: Settings) -> dict[str, object]:
    """The settings that have another value than the preset gives them."""
    return {
        name: getattr(settings, name)
        for name, value in preset.settings.items()
        if getattr(settings, name) != value
    }


def _load_all() -> tuple[dict[str, MechanismEntry], list[str]]:
    """The mechanisms that can be loaded, and why the others cannot."""
    loaded: dict[str, MechanismEntry] = {}
    broken = []
    for name in MECHANISMS:
        try:
            loaded[name] = MECHANISMS[name]
        except BadPlugin as error:
            broken.append(str(error))
    return loaded, broken
