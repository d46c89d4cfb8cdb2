"""Converts a peft adapter to a llama.cpp LoRA file (GGUF) for the embedded model, and back.

Uses the libraries gguf and safetensors, so converting an adapter does not need torch.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from safetensors import SafetensorError, deserialize
from safetensors.numpy import save_file

from omoide.errors import BadInput
from omoide_tune.formats.dense import NAMES, deinterleaved, interleaved
from omoide_tune.formats.gguf_files import dense, read_contents, write_adapter

if TYPE_CHECKING:
    from pathlib import Path

    from omoide_tune.formats.gguf_files import Contents, Matrix

    Precision = Literal["f16", "q8_0"]

_PARTS = {name: part for part, name in NAMES.items()}
_TENSOR = re.compile(
    r"base_model\.model\.model\.layers\.(?P<block>\d+)\.(?P<name>[\w.]+)\.lora_(?P<side>[AB])\.weight"
)
_LORA = re.compile(r"blk\.(?P<block>\d+)\.(?P<part>\w+)\.weight\.lora_(?P<side>[ab])")
_STORED = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}


def write_lora(
    folder: Path, path: Path, *, base: Contents, note: str = "", precision: Precision = "f16"
) -> int:
    """Write the adapter in `folder` for the model with the contents `base`; returns its tensor
    count. Raises `BadInput` for an adapter that llama.cpp cannot apply.

    With `q8_0` a value takes 8 bits instead of 16, except in matrices whose row length is not a
    multiple of 32: those of side B if the rank is not.
    """
    try:
        config = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))
        tensors = read_safetensors(folder / "adapter_model.safetensors")
        alpha = float(config["lora_alpha"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{folder} has no peft adapter: {error}") from error
    if config.get("use_dora") or config.get("bias", "none") != "none" or config.get("use_rslora"):
        raise BadInput(f"{folder} is not plain LoRA: llama.cpp takes no DoRA, rsLoRA or biases")
    kind, heads = str(base.values["general.architecture"]), _turned(base)
    written = {}
    for name in sorted(tensors):
        found = _TENSOR.fullmatch(name)
        if not found or found["name"] not in _PARTS:
            raise BadInput(f"{folder} adapts {name}, which has no llama.cpp name here")
        part, matrix = _PARTS[found["name"]], tensors[name]
        if found["side"] == "B" and part in heads:
            matrix = interleaved(matrix, heads[part])
        full = f"blk.{found['block']}.{part}.weight.lora_{found['side'].lower()}"
        written[full] = matrix
    eight_bits = precision == "q8_0"
    write_adapter(path, written, architecture=kind, alpha=alpha, note=note, eight_bits=eight_bits)
    return len(written)


def unpack_lora(path: Path, folder: Path, *, base: Contents) -> int:
    """Convert the LoRA file for the model with the contents `base` to peft's format, to continue
    training; returns its tensor count. Raises `BadInput` for one that was not written here."""
    config = read_contents(path)
    if config.values.get("adapter.type") != "lora" or not config.tensors:
        raise BadInput(f"{path} is not a LoRA file; give one, or a folder that peft wrote")
    heads = _turned(base)
    tensors: dict[str, Matrix] = {}
    for tensor in config.tensors:
        found = _LORA.fullmatch(tensor.name)
        if not found or found["part"] not in NAMES:
            raise BadInput(f"{path} adapts {tensor.name}, which has no peft name here")
        part, side, matrix = found["part"], found["side"].upper(), dense(tensor)
        if side == "B" and part in heads:
            matrix = deinterleaved(matrix, heads[part])
        layer = f"base_model.model.model.layers.{found['block']}.{NAMES[part]}"
        tensors[f"{layer}.lora_{side}.weight"] = matrix
    ranks = {matrix.shape[0] for name, matrix in tensors.items() if ".lora_A." in name}
    adapted = {name.split(".lora_")[0].rsplit(".", 1)[1] for name in tensors}
    settings = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "r": max(ranks),
        "lora_alpha": config.values["adapter.lora.alpha"],
        "target_modules": sorted(adapted),
    }
    folder.mkdir(parents=True, exist_ok=True)
    save_file(
        {name: np.ascontiguousarray(matrix) for name, matrix in tensors.items()},
        folder / "adapter_model.safetensors",
    )
    (folder / "adapter_config.json").write_text(json.dumps(settings, indent=1), encoding="utf-8")
    return len(tensors)


def _turned(base: Contents) -> dict[str, Any]:
    """The parts whose rows llama.cpp orders differently from transformers, with their heads."""
    kind = str(base.values["general.architecture"])
    if kind != "llama":
        return {}
    return {
        "attn_q": base.values[f"{kind}.attention.head_count"],
        "attn_k": base.values[f"{kind}.attention.head_count_kv"],
    }


def read_safetensors(path: Path) -> dict[str, Matrix]:
    """The matrices of a file, as 32-bit floats. Raises `ValueError` or `OSError` if it
    cannot be read. Converts the raw bytes, since numpy has no bfloat16."""
    try:
        found = {}
        for name, one in deserialize(path.read_bytes()):  # type: ignore[no-untyped-call]
            raw = np.frombuffer(one["data"], _STORED[one["dtype"]])
            if one["dtype"] == "BF16":  # the upper half of a 32-bit float
                raw = (raw.astype("<u4") << 16).view("<f4")
            found[name] = raw.astype(np.float32).reshape(one["shape"])
    except (SafetensorError, KeyError) as error:
        raise ValueError(f"{path.name} is not a safetensors file of floats: {error}") from error
    return found
