"""An adapter that peft trained, as a llama.cpp LoRA file (GGUF) for the embedded model; and back.

Both formats are read and written here with numpy alone: whoever has an adapter can convert it
without torch.
"""

from __future__ import annotations

import json
import re
import struct
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from omoide.adapters.models.dense import NAMES, apart, interleaved
from omoide.adapters.models.gguf import read_contents
from omoide.adapters.models.gguf_writing import BLOCK, F16, Q8_0, halved, quartered, write_gguf
from omoide.errors import BadInput

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.adapters.models.gguf import Contents, TensorPlace
    from omoide.adapters.models.gguf_writing import Matrix

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
    """Write the adapter in `folder` for the model whose contents are `base`; how many tensors it
    has. Raises `BadInput` for an adapter that llama.cpp cannot apply.

    With `q8_0` a number takes 8 bits and not 16, but for matrices whose rows are not a multiple
    of 32 long: those of side B where the rank is not.
    """
    try:
        told = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))
        tensors = read_safetensors(folder / "adapter_model.safetensors")
        alpha = float(told["lora_alpha"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{folder} holds no adapter as peft writes it: {error}") from error
    if told.get("use_dora") or told.get("bias", "none") != "none" or told.get("use_rslora"):
        raise BadInput(f"{folder} is not plain LoRA: llama.cpp takes no DoRA, rsLoRA or biases")
    kind, heads = str(base.values["general.architecture"]), _turned(base)
    stored = quartered if precision == "q8_0" else halved
    written = []
    for name in sorted(tensors):
        found = _TENSOR.fullmatch(name)
        if not found or found["name"] not in _PARTS:
            raise BadInput(f"{folder} adapts {name}, for which llama.cpp has no name here")
        part, matrix = _PARTS[found["name"]], tensors[name]
        if found["side"] == "B" and part in heads:
            matrix = interleaved(matrix, heads[part])
        full = f"blk.{found['block']}.{part}.weight.lora_{found['side'].lower()}"
        written.append(stored(full, matrix))
    values: dict[str, str | float] = {
        "general.architecture": kind,
        "general.type": "adapter",
        "adapter.type": "lora",
        "adapter.lora.alpha": alpha,
    }
    write_gguf(path, values | ({"general.description": note} if note else {}), written)
    return len(written)


def unpack_lora(path: Path, folder: Path, *, base: Contents) -> int:
    """Write the LoRA file for the model of contents `base` as peft has it, to go on training from;
    how many tensors it has. Raises `BadInput` for one that was not written here."""
    told = read_contents(path)
    if told.values.get("adapter.type") != "lora" or not told.tensors:
        raise BadInput(f"{path} is no LoRA file; give one, or a folder that peft wrote")
    data, heads = path.read_bytes(), _turned(base)
    tensors: dict[str, Matrix] = {}
    for place in told.tensors:
        found = _LORA.fullmatch(place.name)
        if not found or found["part"] not in NAMES:
            raise BadInput(f"{path} adapts {place.name}, for which peft has no name here")
        part, side, matrix = found["part"], found["side"].upper(), _matrix(data, place)
        if side == "B" and part in heads:
            matrix = apart(matrix, heads[part])
        layer = f"base_model.model.model.layers.{found['block']}.{NAMES[part]}"
        tensors[f"{layer}.lora_{side}.weight"] = matrix
    ranks = {matrix.shape[0] for name, matrix in tensors.items() if ".lora_A." in name}
    adapted = {name.split(".lora_")[0].rsplit(".", 1)[1] for name in tensors}
    settings = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "r": max(ranks),
        "lora_alpha": told.values["adapter.lora.alpha"],
        "target_modules": sorted(adapted),
    }
    folder.mkdir(parents=True, exist_ok=True)
    _write_safetensors(folder / "adapter_model.safetensors", tensors)
    (folder / "adapter_config.json").write_text(json.dumps(settings, indent=1), encoding="utf-8")
    return len(tensors)


def _turned(base: Contents) -> dict[str, Any]:
    """The parts whose rows llama.cpp has in another order than transformers, and their heads."""
    kind = str(base.values["general.architecture"])
    if kind != "llama":
        return {}
    return {
        "attn_q": base.values[f"{kind}.attention.head_count"],
        "attn_k": base.values[f"{kind}.attention.head_count_kv"],
    }


def _matrix(data: bytes, place: TensorPlace) -> Matrix:
    """A tensor of the file in 32 bits."""
    columns, rows = place.shape
    if place.kind == F16:
        halves = np.frombuffer(data, "<f2", rows * columns, place.offset)
        return halves.astype(np.float32).reshape(rows, columns)
    if place.kind != Q8_0:
        raise BadInput(f"{place.name} is stored as type {place.kind}; wanted f16 or q8_0")
    blocks = rows * columns // BLOCK
    packed = np.frombuffer(data, np.uint8, blocks * (2 + BLOCK), place.offset)
    packed = packed.reshape(blocks, 2 + BLOCK)
    scales = packed[:, :2].copy().view("<f2").astype(np.float32)
    return (packed[:, 2:].view(np.int8).astype(np.float32) * scales).reshape(rows, columns)


def _write_safetensors(path: Path, tensors: dict[str, Matrix]) -> None:
    head, reached = dict[str, object](), 0
    for name, matrix in tensors.items():
        ends = reached + 4 * matrix.size
        head[name] = {
            "dtype": "F32",
            "shape": list(matrix.shape),
            "data_offsets": [reached, ends],
        }
        reached = ends
    told = json.dumps(head).encode()
    told = told.ljust(-(-len(told) // 8) * 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(told)) + told)
        for matrix in tensors.values():
            file.write(np.ascontiguousarray(matrix, "<f4").tobytes())


def read_safetensors(path: Path) -> dict[str, Matrix]:
    """The matrices of a file, as 32-bit floats. Raises `ValueError` or `OSError` for one that
    cannot be read."""
    data = path.read_bytes()
    try:
        (length,) = struct.unpack_from("<Q", data)
        head = json.loads(data[8 : 8 + length])
        found = {}
        for name, one in head.items():
            if name != "__metadata__":
                first, last = one["data_offsets"]
                raw = np.frombuffer(
                    data[8 + length + first : 8 + length + last], _STORED[one["dtype"]]
                )
                if one["dtype"] == "BF16":  # the upper half of a 32-bit float
                    raw = (raw.astype("<u4") << 16).view("<f4")
                found[name] = raw.astype(np.float32).reshape(one["shape"])
    except (struct.error, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path.name} is not a whole safetensors file: {error!r}") from error
    return found
