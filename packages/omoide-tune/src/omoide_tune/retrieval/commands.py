"""`omoide tune pairs` and `tune retriever`: an embedder for questions about conversations."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omoide.bootstrap import chat_model, make_embedder
from omoide.cli import as_json, bar, emit, scoped
from omoide.errors import BadInput
from omoide.language import LANGUAGES
from omoide_tune.retrieval.shapes import LICENCES

if TYPE_CHECKING:
    from omoide.cli import Scope
    from omoide_tune.retrieval.work import PairCounts

FILE = click.Path(path_type=Path, dir_okay=False, exists=True)
FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command()
@click.argument("folder", type=FOLDER)
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    required=True,
    help="Folder with the data sets.",
)
@click.option(
    "--source",
    "sources",
    multiple=True,
    type=click.Choice(sorted(LICENCES)),
    help="Only talks of this data set; may be repeated.  [default: all that are no exams]",
)
@click.option("--most", type=click.IntRange(min=1), help="Most conversations.  [default: all]")
@click.option(
    "--share",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.3,
    show_default=True,
    help="Share of the turns worth asking about that are asked about.",
)
@click.option("--tiny", is_flag=True, help="A few talks of our own, and no model: a trial run.")
@scoped
def pairs(
    scope: Scope,
    folder: Path,
    data: Path,
    sources: tuple[str, ...],
    most: int | None,
    share: float,
    tiny: bool,
) -> None:
    """Make pairs of a question and the turn that answers it: FOLDER/pairs.jsonl and card.json.

    A model (OMOIDE_MODEL) asks about turns of the talks in the ways people ask. A question is kept
    if an embedder (OMOIDE_EMBEDDER) or a word search finds its turn again, and if it does not copy
    the turn. Only data sets that may be shipped are read.
    """
    from omoide.testing import HashEmbedder
    from omoide_tune.retrieval.work import TINY, TinyAsker, make_pairs

    async def make() -> PairCounts:
        settings = scope.settings
        model = TinyAsker() if tiny else chat_model(settings, settings.model, progress=bar)
        embedder = HashEmbedder() if tiny else make_embedder(settings)
        if embedder is None:
            raise BadInput(
                "pairs are checked by an embedder, and there is none. What to do: set "
                "OMOIDE_EMBEDDER, for example to multilingual"
            )
        try:
            return await make_pairs(
                data,
                folder,
                model=model,
                embedder=embedder,
                sources=("everyday",) if tiny else sources,
                most=TINY if tiny else most,
                share=1.0 if tiny else share,
                tell=_say,
            )
        finally:
            await model.close()
            await embedder.close()

    made = asyncio.run(make())
    if scope.json:
        emit(as_json(made))
        return
    click.echo(
        f"{made.conversations:,} conversations, {made.turns_asked_about:,} turns asked about, "
        f"{made.questions:,} questions, {made.kept:,} pairs kept: {folder / 'pairs.jsonl'}"
    )


@click.command()
@click.argument("folder", type=FOLDER)
@click.option("--name", required=True, help="Name of the embedder, for example gte-small-memory.")
@click.option("--base", type=FILE, help="The encoder to tune: gte-small as an fp32 ONNX file.")
@click.option("--tokenizer", type=FILE, required=True, help="Its tokenizer.json.")
@click.option(
    "--language",
    "languages",
    multiple=True,
    type=click.Choice(LANGUAGES),
    default=("en",),
    show_default=True,
    help="Pairs of this language; may be repeated.",
)
@click.option("--steps", type=click.IntRange(min=1), default=600, show_default=True)
@click.option("--batch", type=click.IntRange(min=2), default=64, show_default=True)
@click.option("--rate", type=float, default=2e-5, show_default=True, help="Learning rate.")
@click.option("--temperature", type=float, default=0.03, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--tiny", is_flag=True, help="A small random network, a few steps: a trial run.")
@scoped
def retriever(scope: Scope, /, folder: Path, **given: Any) -> None:  # noqa: ANN401 - click has checked
    """Tune an embedder on the pairs in FOLDER, and write it there as NAME.int8.onnx.

    FOLDER is what `omoide tune pairs` wrote. It needs omoide-tune[train]; with a GPU it takes
    about a minute.
    """
    from omoide_tune.retrieval.train import Recipe
    from omoide_tune.retrieval.work import train_retriever

    tiny, base = given["tiny"], given["base"]
    if base is None and not tiny:
        raise BadInput("there is nothing to tune. What to do: name the encoder with --base FILE")
    recipe = Recipe(
        steps=TINY_STEPS if tiny else given["steps"],
        batch=TINY_BATCH if tiny else given["batch"],
        rate=given["rate"],
        temperature=given["temperature"],
        seed=given["seed"],
    )
    made = train_retriever(
        folder,
        base=base,
        tokenizer=given["tokenizer"],
        name=given["name"],
        recipe=recipe,
        languages=given["languages"],
        tiny=tiny,
        tell=_say,
    )
    if scope.json:
        emit(as_json(made))
        return
    click.echo(
        f"{made.onnx}: {made.bytes / 1e6:.1f} MB, trained on {made.pairs:,} pairs in "
        f"{made.seconds:.0f} s, loss {made.losses[0]:.3f} to {made.losses[-1]:.3f}"
    )


TINY_STEPS, TINY_BATCH = 3, 2
"""Of a trial run."""


def _say(line: str) -> None:
    click.echo(line, err=True)
