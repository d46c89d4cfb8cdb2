"""What the commands of `omoide bench` share: options, and writing a result as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import click

DATA = click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    required=True,
    help="Folder of the data set, or of several data sets in subfolders.",
)
EMBEDDER = click.option("--embedder", help="The embedder, or `none`.  [default: from settings]")
ITERATOR = click.option(
    "--iterator", default="", help="The model that writes memory, if it is another one."
)
TOKENS = click.option(
    "--tokens",
    default="",
    help="Model whose tokens random compression drops: a name from the catalogue or a GGUF file.",
)
OUT = click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the result as JSON."
)


def write(out: Path, result: dict[str, object]) -> None:
    """Write a result as JSON."""
    out.write_text(json.dumps(result, ensure_ascii=False, indent=1), encoding="utf-8")
