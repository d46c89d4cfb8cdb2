"""Ships a tuned adapter with omoide: its file, its card, and its manifest entry."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from omoide import __version__
from omoide.bootstrap import TUNED, ShippedAdapter, read_manifest, write_manifest
from omoide.errors import BadInput
from omoide_tune.formats.gguf_files import read_contents
from omoide_tune.formats.lora import write_lora

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from omoide.bootstrap import CatalogueModel
    from omoide.ports import Skill
    from omoide_tune.formats.lora import Precision

MAX_SHIPPED_BYTES = 70_000_000
"""Maximum size of all shipped adapters together."""


@dataclass(frozen=True, kw_only=True)
class Shipment:
    """An adapter to ship."""

    run: Path
    """The folder that `omoide tune run` wrote, or one that peft wrote."""
    name: str
    skills: tuple[Skill, ...]
    weights: CatalogueModel
    """The model it was trained on."""
    data: Path
    """The card that `omoide tune data` wrote for its training data."""
    licence: str = "Apache-2.0"
    precision: Precision = "q8_0"
    strengths: Mapping[Skill, float] = field(default_factory=dict)
    """The strength for a skill, if it is not 1."""
    instead: str = ""
    """The name of the adapter that it replaces."""


def ship(shipment: Shipment, *, base: Path, folder: Path = TUNED) -> ShippedAdapter:
    """Write the adapter for the weights in the file `base` into `folder`, with its card, and add
    it to the manifest. It replaces one of the same name for the same weights, and the one named
    by `instead`. Raises `BadInput`, and leaves the manifest unchanged, for data that must not be
    shipped, a skill that another adapter already serves, or too many bytes."""
    data = _json(shipment.data, "the card of its data, as `omoide tune data` writes it")
    if data.get("shippable") is not True or not data.get("sources"):
        raise BadInput(
            f"{shipment.data} does not say that the data may be shipped; make it without "
            "--research, and without taught sentences whose model has no name"
        )
    known = read_manifest(folder)
    replaced = [one for one in known if _replaced(one, shipment)]
    others = [one for one in known if one not in replaced]
    if unserved := set(shipment.strengths) - set(shipment.skills):
        raise BadInput(
            f"a strength is given for {', '.join(sorted(unserved))}, which is not among its skills"
        )
    if shipment.instead and shipment.instead not in [one.name for one in replaced]:
        raise BadInput(f"{shipment.weights.name} has no adapter called {shipment.instead}")
    for other in others:
        if other.base == shipment.weights.name and (
            both := set(other.skills) & set(shipment.skills)
        ):
            raise BadInput(
                f"{', '.join(sorted(both))} of {other.base} is already served by {other.name}; "
                f"give --instead {other.name} to replace it, or other skills"
            )
    peft = shipment.run / "best" if (shipment.run / "best").is_dir() else shipment.run
    config = _json(peft / "adapter_config.json", "an adapter as peft writes it")
    stem = f"{shipment.weights.alias}-{shipment.name}"
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{stem}.new"
    try:
        note = f"{shipment.name} for {shipment.weights.name}; {shipment.licence}"
        write_lora(peft, part, base=read_contents(base), note=note, precision=shipment.precision)
        size = part.stat().st_size
        if size + sum(other.size for other in others) > MAX_SHIPPED_BYTES:
            raise BadInput(
                f"{stem} has {size / 1e6:.1f} MB: with the others that is more than "
                f"{MAX_SHIPPED_BYTES / 1e6:.0f} MB; use a lower rank, or q8_0"
            )
        entry = ShippedAdapter(
            name=shipment.name,
            base=shipment.weights.name,
            base_sha256=shipment.weights.artifact.sha256,
            file=f"{stem}.gguf",
            sha256=hashlib.sha256(part.read_bytes()).hexdigest(),
            size=size,
            skills=shipment.skills,
            rank=int(config["r"]),
            licence=shipment.licence,
            card=f"{stem}.json",
            strengths=shipment.strengths,
        )
        part.replace(folder / entry.file)
    finally:
        part.unlink(missing_ok=True)
    _write_card(folder / entry.card, entry, shipment, data=data, alpha=config.get("lora_alpha"))
    write_manifest(folder, [*others, entry])
    for old in replaced:
        for name in {old.file, old.card} - {entry.file, entry.card}:
            (folder / name).unlink(missing_ok=True)
    return entry


def _replaced(one: ShippedAdapter, shipment: Shipment) -> bool:
    names = (shipment.name, shipment.instead)
    return one.name in names and one.base == shipment.weights.name


def _write_card(
    path: Path, entry: ShippedAdapter, shipment: Shipment, *, data: dict[str, Any], alpha: object
) -> None:
    """Write what it is, what it was trained on and how, for people and programs."""
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
    if start and (path.parent / f"{start}.json").is_file():  # the previous adapter's whole card
        card["goes on from"] = _json(path.parent / f"{start}.json", "an adapter's card")
    path.write_text(json.dumps(card, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _json(path: Path, wanted: str) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read ({error}); wanted {wanted}") from error
    if not isinstance(found, dict):
        raise BadInput(f"{path} is not a JSON object; wanted {wanted}")
    return found
