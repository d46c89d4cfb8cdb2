"""What a run works with, made from the options: models, an embedder, a cache."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide import bootstrap
from omoide.cli.progress import bar
from omoide.errors import BadInput
from omoide.evals.metrics.encoded import BertScore
from omoide.evals.running.asked import KnownVectors, Line, Tuned
from omoide.evals.running.calls import CallCache
from omoide.evals.running.lab import Lab
from omoide.evals.running.standin import StandIn
from omoide.ports import Skill

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from omoide.ports import ChatModel, TokenEncoder
    from omoide.settings import Settings

STAND_IN = "stand-in"
"""A model that answers at once and nonsense: to try the harness, not memory."""


@dataclass(frozen=True, kw_only=True)
class Making:
    """The options that say what a run works with."""

    model: str
    judge: str
    embedder: str
    cache: Path
    concurrency: int
    grammar: bool
    window: int
    encoder: str = ""
    """For likeness token by token; none if empty."""
    tuned: str = ""
    """The same model with an adapter merged in; none if empty."""
    skills: tuple[str, ...] = ()
    """What it is asked for; the rest goes to `model`."""
    known: bool = False
    """Whether nobody is asked what the cache does not hold."""


@asynccontextmanager
async def lab(
    settings: Settings, making: Making, *, called: Callable[[], None] = lambda: None
) -> AsyncIterator[Lab]:
    """The lab, closed when this ends."""
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
    tuned = _tuned(settings, making)

    def to(asked: ChatModel, beside: Tuned | None = None) -> Line:
        return Line(
            asked,
            cache,
            concurrency=making.concurrency,
            tuned=beside,
            known=making.known,
            told=called,
        )

    line, judging = to(model, tuned), None
    if judge is not None:
        judging = line if making.judge == making.model and tuned is None else to(judge)
    try:
        yield Lab(
            line=line,
            open_store=bootstrap.passing_store,
            embedder=KnownVectors(embedder, cache) if embedder else None,
            settings=settings,
            judge=judging,
            analyser=bootstrap.word_analyser,
            encoder=encoder,
        )
    finally:
        for part in (model, judge, embedder, encoder, tuned.model if tuned else None):
            if part is not None:
                await part.close()
        cache.close()


def _tuned(settings: Settings, making: Making) -> Tuned | None:
    if not making.tuned:
        return None
    for name in making.skills:
        if name not in {skill.value for skill in Skill}:
            raise BadInput(f"there is no skill {name!r}; there are {', '.join(Skill)}")
    skills = frozenset(Skill(name) for name in making.skills)
    return Tuned(model=_model(settings, making.tuned), skills=skills)


def _encoder(settings: Settings, spec: str) -> TokenEncoder | BertScore:
    return BertScore.named(spec) or bootstrap.make_token_encoder(settings, spec)


def _model(settings: Settings, spec: str) -> ChatModel:
    if spec == STAND_IN:
        return StandIn(window=settings.window)
    return bootstrap.chat_model(settings, spec, progress=bar, whole=True)
