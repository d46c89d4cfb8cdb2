"""Opens weights for tuning, and converts and ships the resulting adapters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from omoide.bootstrap import TUNED, catalogued, pull_model
from omoide.ports import Skill

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from omoide.bootstrap import ShippedAdapter
    from omoide.ports import Progress
    from omoide.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Trainable:
    """A trainable model and its tokenizer, both transformers'."""

    model: Any
    tokenizer: Any


def open_trainable(
    weights: Path, *, device: str, tiny: bool = False, bits: int = 16, half: bool = False
) -> Trainable:
    """The dense weights of a GGUF file: in 16 bits on a GPU or with `half`, else in 32; or
    in 4 bits on a GPU.
    With `tiny` only its tokenizer, with a small model of random weights to check that
    everything runs."""
    from omoide_tune.formats.dense import open_dense, open_random

    dtype = "bfloat16" if half or device.startswith("cuda") else "float32"
    opened = open_random if tiny else open_dense
    if bits == 4:
        from omoide_tune.formats.four_bits import check, quantised

        check(device)
        dense = opened(weights, dtype=dtype)
        quantised(dense.model, device=device)
    else:
        dense = opened(weights, dtype=dtype, device=device)
    return Trainable(model=dense.model, tokenizer=dense.tokenizer)


def convert_adapter(
    folder: Path, out: Path, *, weights: Path, precision: Literal["f16", "q8_0"] = "f16"
) -> int:
    """Convert a peft adapter to a LoRA file for the model in `weights`; return the tensor count."""
    from omoide_tune.formats.gguf_files import read_contents
    from omoide_tune.formats.lora import write_lora

    return write_lora(folder, out, base=read_contents(weights), precision=precision)


def unpack_adapter(file: Path, folder: Path, *, weights: Path) -> int:
    """Convert a LoRA file for the model in `weights` to peft's format; return the tensor count."""
    from omoide_tune.formats.gguf_files import read_contents
    from omoide_tune.formats.lora import unpack_lora

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
) -> ShippedAdapter:
    """Ship an adapter with omoide, or put it into another such folder."""
    from omoide_tune.formats.shipping import Shipment, ship

    weights = catalogued(base)
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
