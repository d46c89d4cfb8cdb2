"""The LoRA adapters that come with omoide, and their weights: used by tools that tune new ones."""

from __future__ import annotations

from omoide.adapters.models.catalogue import CatalogueModel, resolve
from omoide.adapters.models.shipped_adapters import (
    TUNED,
    ShippedAdapter,
    read_manifest,
    write_manifest,
)
from omoide.errors import BadInput

__all__ = [
    "TUNED",
    "CatalogueModel",
    "ShippedAdapter",
    "catalogued",
    "read_manifest",
    "write_manifest",
]


def catalogued(name: str) -> CatalogueModel:
    """The weights of that name or alias. Raises `BadInput` for a model outside the catalogue."""
    weights = resolve(name)
    if not isinstance(weights, CatalogueModel):
        raise BadInput(
            f"{name} is not in the catalogue: adapters are shipped only for models in it"
        )
    return weights
