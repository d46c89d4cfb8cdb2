"""`omoide tune pairs`, `tune retriever` and `tune question-map`: embedders for questions about
conversations."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omoide.bootstrap import chat_model, make_embedder
from omoide.cli import as_json, bar, emit, scoped
from omoide.errors import BadInput
from omoide.language import LANGUAGES
from omoide_tune.retrieval.shapes import CUTS, LICENCES

if TYPE_CHECKING:
    from omoide.cli import Scope
    from omoide.ports import Embedder
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
    from omoide_tune.retrieval.work import TINY, TinyAsker, make_pairs

    async def make() -> PairCounts:
        settings = scope.settings
        model = TinyAsker() if tiny else chat_model(settings, settings.model, progress=bar)
        embedder = _embedder(scope, tiny=tiny)
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


@click.command("question-map")
@click.argument("out", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder with the data sets.  [default: only talks that are part of omoide-tune]",
)
@click.option(
    "--language",
    "languages",
    multiple=True,
    type=click.Choice(LANGUAGES),
    default=("en", "zh", "ja", "ko"),
    show_default=True,
    help="Questions in this language; may be repeated.",
)
@click.option("--steps", type=click.IntRange(min=1), default=1200, show_default=True)
@click.option(
    "--decay",
    type=click.FloatRange(min=0),
    default=0.02,
    show_default=True,
    help="How strongly the map is drawn to the identity.",
)
@click.option("--tiny", is_flag=True, help="A few talks of our own, and word hashes: a trial run.")
@scoped
def question_map(
    scope: Scope,
    out: Path,
    data: Path | None,
    languages: tuple[str, ...],
    steps: int,
    decay: float,
    tiny: bool,
) -> None:
    """Learn a linear map that brings questions near their answers: OUT.npz, with a card, OUT.json.

    It is applied to the vectors of questions alone, so stored vectors stay as they are. It is
    learnt for one embedder (OMOIDE_EMBEDDER) from written questions about talks that may be
    shipped. One talk in ten is kept for judging: how much of what answers its questions is found
    is printed, without and with the map.
    """
    from omoide_tune.retrieval.question_map import MapRecipe
    from omoide_tune.retrieval.work import TINY_MAP, LearntMap, make_question_map

    if out.suffix != ".npz":
        raise BadInput(f"the map is written to a file that ends in .npz, not to {out.name!r}")
    out.parent.mkdir(parents=True, exist_ok=True)
    recipe = MapRecipe(steps=TINY_STEPS if tiny else steps, decay=decay)

    async def make() -> LearntMap:
        embedder = _embedder(scope, tiny=tiny)
        try:
            return await make_question_map(
                out,
                data=None if tiny else data,
                embedder=embedder,
                recipe=recipe,
                languages=languages,
                most=TINY_MAP if tiny else None,
                tell=_say,
            )
        finally:
            await embedder.close()

    made = asyncio.run(make())
    if scope.json:
        emit(as_json(made))
        return
    cuts = " ".join(f"{f'@{cut}':>5}" for cut in CUTS)
    click.echo(f"held out   questions   as it is {cuts}   mapped {cuts}")
    for row in made.held_out:
        before, after = (
            " ".join(f"{share:5.1f}" for share in shares) for shares in (row.identity, row.mapped)
        )
        click.echo(f"{row.language:<8} {row.questions:>11,}            {before}          {after}")
    click.echo(f"{out}: learnt from {made.questions:,} questions")


TINY_STEPS, TINY_BATCH = 3, 2
"""Of a trial run."""


def _embedder(scope: Scope, *, tiny: bool) -> Embedder:
    """The embedder of the settings, or word hashes for a trial run."""
    from omoide.testing import HashEmbedder

    embedder = HashEmbedder() if tiny else make_embedder(scope.settings)
    if embedder is None:
        raise BadInput(
            "questions are compared with turns by an embedder, and there is none. What to do: set "
            "OMOIDE_EMBEDDER, for example to multilingual"
        )
    return embedder


def _say(line: str) -> None:
    click.echo(line, err=True)
