"""The model catalogue: listing its models, and fetching their weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.errors import BadInput

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.adapters.models.catalogue import CatalogueModel
    from omoide.ports import Progress
    from omoide.settings import Settings


@dataclass(frozen=True, kw_only=True)
class AdapterInfo:
    """A LoRA adapter that comes with omoide."""

    name: str
    skills: tuple[str, ...]
    """The skills it is used for; `reply×0.5` means that replies use it at half strength."""
    rank: int
    megabytes: float
    licence: str
    state: str
    """`used`, or why not: `off`, `replaced`, `damaged`, `not here`."""


@dataclass(frozen=True, kw_only=True)
class ModelInfo:
    """A model of the catalogue, as `omoide models list` shows it."""

    name: str
    alias: str
    megabytes: int
    licence: str
    note: str
    here: bool
    """Whether its weights are cached."""
    adapters: tuple[AdapterInfo, ...] = ()


def list_models(settings: Settings) -> tuple[ModelInfo, ...]:
    """All models of the catalogue."""
    from omoide.adapters.models.catalogue import CATALOGUE
    from omoide.adapters.models.download import Cache

    cache = Cache(settings.weights_dir, offline=True)
    return tuple(
        ModelInfo(
            name=weights.name,
            alias=weights.alias,
            megabytes=weights.artifact.size // 1_000_000,
            licence=weights.licence,
            note=weights.note,
            here=cache.find(weights.artifact) is not None,
            adapters=_adapters_of(settings, weights),
        )
        for weights in CATALOGUE
    )


def _adapters_of(settings: Settings, weights: CatalogueModel) -> tuple[AdapterInfo, ...]:
    from omoide.adapters.models.shipped_adapters import NONE, TUNED, read_manifest, stamps_in

    stamps = stamps_in(settings.weights_dir)
    overridden = "off" if settings.adapter.strip().lower() == NONE else "replaced"
    adapters = []
    for entry in read_manifest():
        if entry.trained_on(weights, stamps=stamps):
            state = entry.state(TUNED, stamps=stamps)
            if state == "whole":
                state = overridden if settings.adapter else "used"
            adapters.append(
                AdapterInfo(
                    name=entry.name,
                    skills=tuple(
                        f"{skill}×{entry.strengths[skill]:g}" if skill in entry.strengths else skill
                        for skill in entry.skills
                    ),
                    rank=entry.rank,
                    megabytes=round(entry.size / 1e6, 1),
                    licence=entry.licence,
                    state=state,
                )
            )
    return tuple(adapters)


async def pull_model(settings: Settings, name: str, progress: Progress | None = None) -> Path:
    """Fetch and verify a model of the catalogue. Returns its path."""
    from omoide.adapters.models.catalogue import CatalogueModel, resolve
    from omoide.adapters.models.download import Cache

    choice = resolve(name)
    if not isinstance(choice, CatalogueModel):
        raise BadInput(f"{name} is not in the catalogue, so there is nothing to fetch")
    cache = Cache(settings.weights_dir, offline=settings.offline)
    return await cache.fetch(choice.artifact, progress=progress)


async def weights_of(settings: Settings, spec: str, progress: Progress | None = None) -> Path:
    """The path of a model's GGUF file; a catalogue model is fetched if it is not cached."""
    from omoide.adapters.models.catalogue import GgufFile, resolve

    choice = resolve(spec)
    return (
        choice.path if isinstance(choice, GgufFile) else await pull_model(settings, spec, progress)
    )
