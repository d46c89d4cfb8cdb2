"""The model catalogue: listing its models, and fetching their weights."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.errors import BadInput

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.adapters.models.catalogue import CatalogueModel
    from omoide.adapters.models.download import Cache
    from omoide.adapters.models.hub import Hub, HubModel
    from omoide.adapters.models.local_servers import LocalServer
    from omoide.adapters.models.machine import Machine
    from omoide.bootstrap.recommending import Recommendation
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
    """A model of the catalogue or of the hub, as `omoide models list` shows it."""

    name: str
    alias: str
    megabytes: int
    licence: str
    note: str
    here: bool
    """Whether its weights are cached."""
    memory: float = 0.0
    """Gigabytes of memory that it needs; 0 if unknown."""
    adapters: tuple[AdapterInfo, ...] = ()


NOT_MEASURED = "not measured here; its hash is pinned at first use"


def list_models(settings: Settings) -> tuple[ModelInfo, ...]:
    """All models of the catalogue, and the hub's files that were used."""
    from omoide.adapters.models.catalogue import CATALOGUE, LARGER
    from omoide.adapters.models.download import Cache
    from omoide.adapters.models.hub import parse

    cache = Cache(settings.weights_dir, offline=True)
    hub = hub_of(settings)
    named = {larger.spec for larger in LARGER}
    used = [pin for pin in hub.pins() if pin.spec not in named]
    return (
        *(
            ModelInfo(
                name=weights.name,
                alias=weights.alias,
                megabytes=weights.artifact.size // 1_000_000,
                licence=weights.licence,
                note=weights.note,
                here=cache.find(weights.artifact) is not None,
                memory=weights.memory,
                adapters=_adapters_of(settings, weights),
            )
            for weights in CATALOGUE
        ),
        *(
            ModelInfo(
                name=larger.name,
                alias=larger.alias,
                megabytes=round(larger.gigabytes * 1000),
                licence=larger.licence,
                note=NOT_MEASURED,
                here=_is_here(cache, hub, larger),
                memory=larger.memory,
            )
            for larger in LARGER
        ),
        *(
            ModelInfo(
                name=pin.spec,
                alias="",
                megabytes=pin.size // 1_000_000,
                licence=pin.licence,
                note="from the hub; not measured here",
                here=_is_here(cache, hub, parse(pin.spec)),
            )
            for pin in used
        ),
    )


def hub_of(settings: Settings) -> Hub:
    """The hub that the settings name."""
    from omoide.adapters.models.hub import Hub

    return Hub(settings.weights_dir, host=settings.hub, offline=settings.offline)


def weights_cache(settings: Settings) -> Cache:
    """The folder of weights, filled from the hub that the settings name."""
    from omoide.adapters.models.download import Cache

    return Cache.of(settings)


def _is_here(cache: Cache, hub: Hub, model: HubModel) -> bool:
    pin = hub.known(model)
    return pin is not None and cache.find(hub.artifact(model, pin)) is not None


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
    """Fetch and verify a model of the catalogue or of the hub. Returns its path."""
    from omoide.adapters.models.catalogue import CatalogueModel, resolve
    from omoide.adapters.models.hub import HubModel

    choice = resolve(name)
    if isinstance(choice, HubModel):
        return await fetch_from_hub(settings, choice, progress)
    if not isinstance(choice, CatalogueModel):
        raise BadInput(f"{name} is not in the catalogue, so there is nothing to fetch")
    return await weights_cache(settings).fetch(choice.artifact, progress=progress)


async def fetch_from_hub(
    settings: Settings, model: HubModel, progress: Progress | None = None
) -> Path:
    """Fetch a file of the hub, and verify that it is the one that was first used."""
    hub = hub_of(settings)
    pin = await asyncio.to_thread(hub.pin, model)
    return await weights_cache(settings).fetch(hub.artifact(model, pin), progress=progress)


async def describe_download(settings: Settings, name: str, *, hub: bool = False) -> str:
    """Size and licence of a model's weights, in words; empty if they are here already. A file of
    the hub is pinned by this. With `hub`, only such files are described."""
    from omoide.adapters.models.catalogue import CatalogueModel, resolve
    from omoide.adapters.models.hub import HubModel

    if name == "none":
        return ""
    choice = resolve(name)
    cache = weights_cache(settings)
    if isinstance(choice, CatalogueModel) and not hub:
        size, licence, artifact = choice.artifact.size, choice.licence, choice.artifact
    elif isinstance(choice, HubModel):
        asked = hub_of(settings)
        pin = await asyncio.to_thread(asked.pin, choice)
        size, licence, artifact = pin.size, pin.licence, asked.artifact(choice, pin)
    else:
        return ""
    if cache.find(artifact) is not None:
        return ""
    return f"{name}: {size / 1e9:.1f} GB, licence {licence}, SHA-256 {artifact.sha256[:12]}…"


def remove_model(settings: Settings, name: str) -> int:
    """Delete the weights of a model of the catalogue or of the hub, and its pin. Returns how many
    bytes that freed."""
    from omoide.adapters.models.catalogue import CatalogueModel, resolve
    from omoide.adapters.models.hub import HubModel

    choice = resolve(name)
    if isinstance(choice, CatalogueModel):
        return weights_cache(settings).remove(choice.artifact.file)
    if isinstance(choice, HubModel):
        return weights_cache(settings).remove(choice.file)
    raise BadInput(f"{name} is not in the folder of weights: remove it where it is")


async def local_servers(settings: Settings) -> tuple[LocalServer, ...]:
    """The model servers that run on this machine."""
    from omoide.adapters.models.local_servers import find_servers

    return await find_servers(settings.local_servers)


def recommendation(settings: Settings) -> tuple[Machine, Recommendation]:
    """This machine, and the model that suits it best."""
    from omoide.adapters.models.machine import this_machine
    from omoide.bootstrap.recommending import CandidateModel, recommend

    machine = this_machine()
    candidates = tuple(
        CandidateModel(alias=m.alias, name=m.name, memory=m.memory)
        for m in list_models(settings)
        if m.alias and m.alias != "tiny"
    )
    return machine, recommend(machine, candidates)


async def weights_of(settings: Settings, spec: str, progress: Progress | None = None) -> Path:
    """The path of a model's GGUF file; a catalogue model is fetched if it is not cached."""
    from omoide.adapters.models.catalogue import GgufFile, resolve

    choice = resolve(spec)
    return (
        choice.path if isinstance(choice, GgufFile) else await pull_model(settings, spec, progress)
    )
