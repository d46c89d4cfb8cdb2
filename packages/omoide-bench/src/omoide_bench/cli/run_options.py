"""The parts of a run, built from the command-line options: models, embedder, cache."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide import bootstrap
from omoide.cli import bar
from omoide.errors import BadInput
from omoide.ports import Skill
from omoide_bench.metrics.encoded import BertScore
from omoide_bench.rivals import note_taker
from omoide_bench.running import batches
from omoide_bench.running.batches import BatchFolder, BatchQueue
from omoide_bench.running.cached_model import CachedEmbedder, SharedModel, TunedModel
from omoide_bench.running.calls import CallCache
from omoide_bench.running.memory_under_test import RunContext
from omoide_bench.running.standin import StandIn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence
    from pathlib import Path

    from omoide.ports import ChatModel, TokenEncoder, Tokenizer
    from omoide.settings import Settings

STAND_IN = "stand-in"
"""A model that answers nonsense at once: for testing the harness, not memory."""
NOTE_TAKER = note_taker.NAME
"""A model that notes every line of a session as a fact, in our form for large models."""
DEFAULT_SKILLS = "memos,iteration,events,reply"


@dataclass(frozen=True, kw_only=True)
class CliRunOptions:
    """The options that choose models, embedder and cache."""

    model: str
    judge: str
    embedder: str
    cache: Path | None
    concurrency: int
    grammar: bool
    window: int
    encoder: str = ""
    """Encoder for the likeness measure; none if empty."""
    iterator: str = ""
    """The model that writes memory; `model` if empty."""
    tokens: str = ""
    """The model whose tokens random compression drops; `model` if empty and embedded."""
    data: Path | None = None
    """The folder of the data sets."""
    tuned: tuple[str, ...] = ()
    """The same model with a LoRA adapter merged in, perhaps in several strengths."""
    skills: tuple[str, ...] = ()
    """For each of `tuned`, the skills it is used for, separated by commas; all other calls go to
    `model`."""
    known: bool = False
    """Whether to answer from the cache only and never call a model."""
    batch: Path | None = None
    """The folder through which the models are asked in batches, if they are."""


@asynccontextmanager
async def lab(
    settings: Settings, making: CliRunOptions, *, called: Callable[[], None] = lambda: None
) -> AsyncIterator[RunContext]:
    """The run context. Its models, embedder, encoder and cache are closed on exit."""
    settings = replace(
        settings,
        model=making.model,
        embedder=making.embedder,
        grammar=making.grammar or settings.grammar,
        window=making.window,
    )
    cache = CallCache(making.cache)
    model = _model(settings, making.model)
    judge = _model(settings, making.judge) if making.judge else None
    embedder = bootstrap.make_embedder(settings)
    encoder = _encoder(settings, making.encoder) if making.encoder else None
    iterator = _model(settings, making.iterator) if making.iterator else None
    tuned = _tuned(settings, making)
    _checked_names(model, tuned)

    folder = BatchFolder.open(making.batch) if making.batch else None

    def share(
        chat_model: ChatModel, tuned: Sequence[TunedModel] = (), *, role: str = batches.MODEL
    ) -> SharedModel:
        asked = {role: chat_model} | {
            f"{batches.TUNED}{number or ''}": one.model for number, one in enumerate(tuned)
        }
        return SharedModel(
            chat_model,
            cache,
            concurrency=making.concurrency,
            tuned=tuned,
            known=making.known,
            batches=_queues(folder, asked),
            report=called,
        )

    shared, shared_judge = share(model, tuned), None
    if judge is not None:
        same = making.judge == making.model and not tuned
        shared_judge = shared if same else share(judge, role=batches.JUDGE)
    try:
        yield RunContext(
            shared_model=shared,
            open_store=bootstrap.temporary_store,
            embedder=CachedEmbedder(embedder, cache) if embedder else None,
            settings=settings,
            judge=shared_judge,
            iterator=share(iterator, role=batches.ITERATOR) if iterator is not None else None,
            data=making.data,
            tokenizer=_tokenizer(settings, making),
            analyser=bootstrap.word_analyser,
            encoder=encoder,
            batches=folder,
        )
    finally:
        for part in (model, judge, iterator, embedder, encoder, *(one.model for one in tuned)):
            if part is not None:
                await part.close()
        cache.close()


def _queues(folder: BatchFolder | None, asked: Mapping[str, ChatModel]) -> dict[str, BatchQueue]:
    """The batch queues of the models, given by their roles; none without a folder."""
    if folder is None:
        return {}
    return {model.name: BatchQueue(folder, model, role=role) for role, model in asked.items()}


def _tuned(settings: Settings, making: CliRunOptions) -> tuple[TunedModel, ...]:
    skills = making.skills or (DEFAULT_SKILLS,)
    if making.tuned and len(skills) != len(making.tuned):
        raise BadInput("give --skills once for each --tuned, in the same order")
    return tuple(
        TunedModel(model=_model(settings, spec), skills=_skills(names))
        for spec, names in zip(making.tuned, skills, strict=False)
    )


def _checked_names(model: ChatModel, tuned: Sequence[TunedModel]) -> None:
    """Raise `BadInput` if an adapter for facts has the name of the model without it: nothing would
    tell that it claims that skill, and it would be asked in the form of an untuned model."""
    if any(one.model.name == model.name for one in tuned if Skill.FACTS in one.skills):
        raise BadInput(
            f"--tuned has the name of --model, {model.name}; name it otherwise behind the #, "
            "such as http://127.0.0.1:8001/v1#facts"
        )


def _skills(names: str) -> frozenset[Skill]:
    listed = [name.strip() for name in names.split(",") if name.strip()]
    for name in listed:
        if not Skill.knows(name):
            raise BadInput(f"unknown skill {name!r}; known skills: {', '.join(Skill)}")
    return frozenset(map(Skill, listed))


def _tokenizer(settings: Settings, making: CliRunOptions) -> Tokenizer | None:
    spec = making.tokens or making.model
    return None if spec in (STAND_IN, NOTE_TAKER) else bootstrap.model_tokens(settings, spec)


def _encoder(settings: Settings, spec: str) -> TokenEncoder | BertScore:
    return BertScore.named(spec) or bootstrap.make_token_encoder(settings, spec)


def _model(settings: Settings, spec: str) -> ChatModel:
    if spec == STAND_IN:
        return StandIn(window=settings.window)
    if spec == NOTE_TAKER:
        return note_taker.NoteTaker()
    return bootstrap.chat_model(settings, spec, progress=bar, whole=True)
