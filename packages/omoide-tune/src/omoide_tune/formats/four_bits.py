"""A dense model with its projections in 4 bits (NF4, Dettmers et al. 2023), for tuning large models
on a small GPU. Everything outside the blocks, and every norm, stays as it is."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from omoide.errors import BadInput, MissingExtra


def check(device: str) -> None:
    """Raises `BadInput` or `MissingExtra` if 4 bits are not available."""
    if not device.startswith("cuda"):
        raise BadInput(f"4-bit weights need a GPU, but the device is {device}: use --bits 16")
    _vendor()


def quantised(model: Any, *, device: str) -> None:  # noqa: ANN401 - a transformers model
    """Quantise each projection of each block to 4 bits, and move the model to the device."""
    bnb, torch = _vendor(), import_module("torch")
    for block in model.model.layers:
        for name, linear in list(block.named_modules()):
            if isinstance(linear, torch.nn.Linear):
                parent = block.get_submodule(name.rpartition(".")[0])
                setattr(parent, name.rpartition(".")[2], _small(bnb, linear))
    model.is_loaded_in_4bit = True  # peft checks it
    model.to(device)  # packs the weights


def _small(bnb: Any, linear: Any) -> Any:  # noqa: ANN401 - the vendors'
    small = bnb.nn.Linear4bit(
        linear.in_features,
        linear.out_features,
        bias=linear.bias is not None,
        compute_dtype=linear.weight.dtype,
        quant_type="nf4",
    )
    small.weight = bnb.nn.Params4bit(linear.weight.data, requires_grad=False, quant_type="nf4")
    if linear.bias is not None:
        small.bias = linear.bias
    return small


def _vendor() -> Any:  # noqa: ANN401 - optional, and large
    try:
        return import_module("bitsandbytes")
    except ImportError as error:
        raise MissingExtra(
            "4-bit weights need bitsandbytes, which is not installed: pip install bitsandbytes"
        ) from error
