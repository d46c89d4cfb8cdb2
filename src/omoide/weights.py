"""The composition root of what there is to models beside talking: listing them and fetching them,
tuning them, and the adapters that come of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from omoide.errors import BadInput
from omoide.ports import Skill

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from omoide.adapters.models.catalogue import Weights
    from omoide.adapters.models.tuned import Shipped
    from omoide.ports import Progress
    from omoide.settings import Settings


@dataclass(frozen=True, kw_only=True)
class AdapterInfo:
    """An adapter that comes with omoide."""

    name: str
    skills: tuple[str, ...]
    """The requests it answers; `reply×0.5` those that get only half of it."""
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
    """Whether its weights are in the cache."""
    adapters: tuple[AdapterInfo, ...] = ()


def list_models(settings: Settings) -> tuple[ModelInfo, ...]:
    """The catalogue."""
    from omoide.adapters.models.catalogue import CATALOGUE
    from omoide.adapters.models.download import Cache

    cache = Cache(settings.models, offline=True)
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


def _adapters_of(settings: Settings, weights: Weights) -> tuple[AdapterInfo, ...]:
    from omoide.adapters.models.tuned import NONE, TUNED, read_manifest, stamps_in

    stamps = stamps_in(settings.models)
    instead = "off" if settings.adapter.strip().lower() == NONE else "replaced"
    found = []
    for entry in read_manifest():
        if entry.fits(weights, stamps=stamps):
            state = entry.state(TUNED, stamps=stamps)
            if state == "whole":
                state = instead if settings.adapter else "used"
            found.append(
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
    return tuple(found)


async def pull_model(settings: Settings, name: str, progress: Progress | None = None) -> Path:
    """Fetch and verify a model of the catalogue; where it lies."""
    from omoide.adapters.models.catalogue import Weights, resolve
    from omoide.adapters.models.download import Cache

    choice = resolve(name)
    if not isinstance(choice, Weights):
        raise BadInput(f"{name} is not in the catalogue, so there is nothing to fetch")
    cache = Cache(settings.models, offline=settings.offline)
    return await cache.fetch(choice.artifact, progress=progress)


@dataclass(frozen=True, kw_only=True)
class Trainable:
    """A model that can be tuned, and its tokenizer: transformers' own."""

    model: Any
    tokenizer: Any


async def weights_of(settings: Settings, spec: str, progress: Progress | None = None) -> Path:
    """Where the GGUF file of a model lies; one of the catalogue is fetched if it is not here."""
    from omoide.adapters.models.catalogue import GgufFile, resolve

    choice = resolve(spec)
    return (
        choice.path if isinstance(choice, GgufFile) else await pull_model(settings, spec, progress)
    )


def open_trainable(
    weights: Path, *, device: str, tiny: bool = False, bits: int = 16, half: bool = False
) -> Trainable:
    """The weights of a GGUF file, dense: in 16 bits on a GPU or if `half` is wanted, else whole; or
    in 4 bits on a GPU.
    With `tiny` only its tokenizer, before a small model of random weights that shows whether
    everything runs."""
    from omoide.adapters.models.dense import open_dense, open_random

    dtype = "bfloat16" if half or device.startswith("cuda") else "float32"
    opened = open_random if tiny else open_dense
    if bits == 4:
        from omoide.adapters.models.four_bits import check, quantised

        check(device)
        dense = opened(weights, dtype=dtype)
        quantised(dense.model, device=device)
    else:
        dense = opened(weights, dtype=dtype, device=device)
    return Trainable(model=dense.model, tokenizer=dense.tokenizer)


def convert_adapter(
    folder: Path, out: Path, *, weights: Path, precision: Literal["f16", "q8_0"] = "f16"
) -> int:
    """A peft adapter as a LoRA file for the model in `weights`; how many tensors it has."""
    from omoide.adapters.models.gguf import read_contents
    from omoide.adapters.models.lora import write_lora

    return write_lora(folder, out, base=read_contents(weights), precision=precision)


def unpack_adapter(file: Path, folder: Path, *, weights: Path) -> int:
    """A LoRA file for the model in `weights` as peft has it; how many tensors it has."""
    from omoide.adapters.models.gguf import read_contents
    from omoide.adapters.models.lora import unpack_lora

    return unpack_lora(file, folder, base=read_contents(weights))


async def ship_adapter(
    settings: Settings,
    *,
    run: Path,
    name: str,
    skills: tuple[str, ...],
    base: str,
    data: Path,
    licence: str,
    precision: Literal["f16", "q8_0"],
    into: Path | None = None,
    instead: str = "",
    strengths: Mapping[str, float] | None = None,
    progress: Progress | None = None,
) -> Shipped:
    """Put an adapter among those that come with omoide, or into another such folder."""
    from omoide.adapters.models.catalogue import Weights, resolve
    from omoide.adapters.models.shipping import Shipment, ship
    from omoide.adapters.models.tuned import TUNED

    weights = resolve(base)
    if not isinstance(weights, Weights):
        raise BadInput(f"{base} is not in the catalogue: an adapter is shipped for weights in it")
    shipment = Shipment(
        run=run,
        name=name,
        skills=tuple(Skill(skill) for skill in skills),
        weights=weights,
        data=data,
        licence=licence,
        precision=precision,
        instead=instead,
        strengths={Skill(skill): part for skill, part in (strengths or {}).items()},
    )
    path = await pull_model(settings, base, progress)
    return ship(shipment, base=path, folder=into or TUNED)
