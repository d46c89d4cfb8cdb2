"""Putting a tuned adapter among those that come with omoide: its file, its card, its entry."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from omoide.adapters.models.gguf import read_contents
from omoide.adapters.models.lora import write_lora
from omoide.adapters.models.tuned import TUNED, Shipped, read_manifest, write_manifest
from omoide.errors import BadInput
from omoide.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from omoide.adapters.models.catalogue import Weights
    from omoide.adapters.models.lora import Precision
    from omoide.ports import Skill

MOST = 40_000_000
"""Bytes that all shipped adapters may take together."""


@dataclass(frozen=True, kw_only=True)
class Shipment:
    """What is to be shipped."""

    run: Path
    """The folder that `omoide tune run` wrote, or one that peft wrote."""
    name: str
    skills: tuple[Skill, ...]
    weights: Weights
    """What it was trained on."""
    data: Path
    """The card that `omoide tune data` wrote of what it learnt from."""
    licence: str = "Apache-2.0"
    precision: Precision = "q8_0"
    strengths: Mapping[Skill, float] = field(default_factory=dict)
    """How much of it serves a skill, where that is not the whole."""
    instead: str = ""
    """The name of one that it takes the place of."""


def ship(shipment: Shipment, *, base: Path, folder: Path = TUNED) -> Shipped:
    """Write the adapter for the weights in the file `base` into `folder`, with its card, and put
    it into the manifest; one of the same name for the same weights gives way, and the one `instead`
    of which it comes. Raises `BadInput`, and leaves the manifest alone, for data that must not be
    shipped, a skill that another adapter serves already, or too many bytes."""
    data = _json(shipment.data, "the card of its data, as `omoide tune data` writes it")
    if data.get("shippable") is not True or not data.get("sources"):
        raise BadInput(
            f"{shipment.data} does not say that the data may be shipped; make it without "
            "--research, and with no taught sentence whose model has no name"
        )
    known = read_manifest(folder)
    replaced = [one for one in known if _replaced(one, shipment)]
    others = [one for one in known if one not in replaced]
    if unserved := set(shipment.strengths) - set(shipment.skills):
        raise BadInput(
            f"a strength is given for {', '.join(sorted(unserved))}, which it does not serve"
        )
    if shipment.instead and shipment.instead not in [one.name for one in replaced]:
        raise BadInput(f"no adapter of {shipment.weights.name} is called {shipment.instead}")
    for other in others:
        if other.base == shipment.weights.name and (
            both := set(other.skills) & set(shipment.skills)
        ):
            raise BadInput(
                f"{', '.join(sorted(both))} of {other.base} is served by {other.name} already; "
                "say that this one comes in its place, or give other skills"
            )
    peft = shipment.run / "best" if (shipment.run / "best").is_dir() else shipment.run
    told = _json(peft / "adapter_config.json", "an adapter as peft writes it")
    stem = f"{shipment.weights.alias}-{shipment.name}"
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{stem}.new"
    try:
        note = f"{shipment.name} for {shipment.weights.name}; {shipment.licence}"
        write_lora(peft, part, base=read_contents(base), note=note, precision=shipment.precision)
        size = part.stat().st_size
        if size + sum(other.size for other in others) > MOST:
            raise BadInput(
                f"{stem} has {size / 1e6:.1f} MB: with the others that is more than "
                f"{MOST / 1e6:.0f} MB; take a lower rank, or q8_0"
            )
        entry = Shipped(
            name=shipment.name,
            base=shipment.weights.name,
            base_sha256=shipment.weights.artifact.sha256,
            file=f"{stem}.gguf",
            sha256=hashlib.sha256(part.read_bytes()).hexdigest(),
            size=size,
            skills=shipment.skills,
            rank=int(told["r"]),
            licence=shipment.licence,
            card=f"{stem}.json",
            strengths=shipment.strengths,
        )
        part.replace(folder / entry.file)
    finally:
        part.unlink(missing_ok=True)
    _write_card(folder / entry.card, entry, shipment, data=data, alpha=told.get("lora_alpha"))
    write_manifest(folder, [*others, entry])
    for old in replaced:
        for name in {old.file, old.card} - {entry.file, entry.card}:
            (folder / name).unlink(missing_ok=True)
    return entry


def _replaced(one: Shipped, shipment: Shipment) -> bool:
    names = (shipment.name, shipment.instead)
    return one.name in names and one.base == shipment.weights.name


def _write_card(
    path: Path, entry: Shipped, shipment: Shipment, *, data: dict[str, Any], alpha: object
) -> None:
    """What it is, what it learnt from and how, for people and programs."""
    run = shipment.run / "run.json"
    training = _json(run, "a run's record") if run.is_file() else {}
    card = {
        "adapter": {**entry.__dict__, "skills": list(entry.skills), "alpha": alpha},
        "precision": shipment.precision,
        "made with": f"omoide {__version__}",
        "training": training or None,
        "data": data,
    }
    start = training.get("recipe", {}).get("start")
    if start and (path.parent / f"{start}.json").is_file():  # that one's own card, whole
        card["goes on from"] = _json(path.parent / f"{start}.json", "an adapter's card")
    path.write_text(json.dumps(card, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _json(path: Path, wanted: str) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read ({error}); wanted {wanted}") from error
    if not isinstance(found, dict):
        raise BadInput(f"{path} holds no object; wanted {wanted}")
    return found
