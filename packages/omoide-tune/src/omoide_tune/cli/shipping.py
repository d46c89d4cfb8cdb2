"""`omoide tune convert` and `ship`: a trained adapter as a file, and with omoide."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal

import click

from omoide.bootstrap import weights_of
from omoide.cli import as_json, bar, emit, scoped
from omoide.ports import Skill
from omoide_tune.cli.paths import FILE, FOLDER
from omoide_tune.trainable import convert_adapter, ship_adapter

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import TypeVar

    from omoide.cli import Scope

    F = TypeVar("F", bound=Callable[..., object])


def _precision(default: str) -> Callable[[F], F]:
    return click.option(
        "--type",
        "precision",
        type=click.Choice(["f16", "q8_0"]),
        default=default,
        show_default=True,
        help="Number format: q8_0 takes half the space.",
    )


def _skills(_: click.Context, __: click.Parameter, value: str) -> tuple[str, ...]:
    """Parse skill names separated by commas."""
    names = tuple(dict.fromkeys(name.strip() for name in value.split(",") if name.strip()))
    if not names or (unknown := [name for name in names if not Skill.knows(name)]):
        raise click.BadParameter(
            f"{', '.join(unknown) if names else 'nothing'}: wanted some of {', '.join(Skill)}"
        )
    return names


def _strengths(_: click.Context, __: click.Parameter, value: tuple[str, ...]) -> dict[str, float]:
    """Parse SKILL=N options, with N above 0 and up to 1."""
    found = {}
    for option in value:
        skill, share = (*option.split("=", 1), "")[:2]
        try:
            found[skill] = float(share)
        except ValueError:
            found[skill] = 0.0
        if not Skill.knows(skill) or not 0 < found[skill] <= 1:
            raise click.BadParameter(f"{option}: wanted SKILL=N with 0 < N <= 1, such as reply=0.5")
    return found


@click.command()
@click.argument("adapter", type=FOLDER)
@click.argument("out", type=FILE)
@click.option("--base", default="small", show_default=True, help="The model it was trained on.")
@_precision("f16")
@scoped
def convert(
    scope: Scope, adapter: Path, out: Path, base: str, precision: Literal["f16", "q8_0"]
) -> None:
    """Convert the peft adapter in folder ADAPTER to the LoRA file OUT for the embedded model."""
    weights = asyncio.run(weights_of(scope.settings, base, bar))
    count = convert_adapter(adapter, out, weights=weights, precision=precision)
    if scope.json:
        emit({"out": out, "tensors": count, "bytes": out.stat().st_size})
    else:
        click.echo(f"{out}: {count} tensors, {out.stat().st_size / 1e6:.1f} MB")


@click.command()
@click.argument("folder", type=FOLDER)
@click.option("--name", required=True, help="Name of the adapter, for example notes-r32.")
@click.option(
    "--skills",
    required=True,
    metavar="A,B",
    callback=_skills,
    help=f"Skills it is used for: {', '.join(Skill)}.",
)
@click.option("--base", default="small", show_default=True, help="The model it was trained on.")
@click.option("--data-card", "data", type=FILE, required=True, help="card.json of its data.")
@click.option("--licence", default="Apache-2.0", show_default=True)
@click.option("--into", type=FOLDER, help="Target folder.  [default: omoide_weights]")
@click.option(
    "--strength",
    "strengths",
    multiple=True,
    metavar="SKILL=N",
    callback=_strengths,
    help="Strength of the adapter for a skill, above 0 and up to 1.  [default: 1]",
)
@click.option("--instead", default="", metavar="NAME", help="The adapter to replace.")
@_precision("q8_0")
@scoped
def ship(scope: Scope, /, folder: Path, **given: Any) -> None:  # noqa: ANN401 - click has checked
    """Ship the adapter in FOLDER with omoide and use it by default.

    FOLDER is what `omoide tune run` wrote. The LoRA file, its card and its manifest entry go into
    omoide_weights. Data that must not be shipped is refused, and so is more than 70 MB in all.
    """
    entry = asyncio.run(ship_adapter(scope.settings, run=folder, progress=bar, **given))
    if scope.json:
        emit(as_json(entry))
    else:
        click.echo(
            f"{entry.file}: {entry.size / 1e6:.1f} MB, rank {entry.rank}, SHA-256 {entry.sha256}\n"
            f"for {', '.join(entry.skills)} with {entry.base}"
        )
