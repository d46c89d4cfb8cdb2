"""An adapter that peft trained, as a llama.cpp LoRA file (GGUF) for the embedded model.

Both formats are read and written here with numpy alone: whoever has an adapter can convert it
without torch.
"""

from __future__ import annotations

import json
import re
import struct
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from omoide.adapters.models.dense import NAMES, interleaved
from omoide.adapters.models.gguf_writing import halved, quartered, write_gguf
from omoide.errors import BadInput

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.adapters.models.gguf import Contents
    from omoide.adapters.models.gguf_writing import Matrix

    Precision = Literal["f16", "q8_0"]

_PARTS = {name: part for part, name in NAMES.items()}
_TENSOR = re.compile(
    r"base_model\.model\.model\.layers\.(?P<block>\d+)\.(?P<name>[\w.]+)\.lora_(?P<side>[AB])\.weight"
)
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
    kind = str(base.values["general.architecture"])
    heads: dict[str, Any] = {
        "attn_q": base.values[f"{kind}.attention.head_count"],
        "attn_k": base.values[f"{kind}.attention.head_count_kv"],
    }
    stored = quartered if precision == "q8_0" else halved
    written = []
    for name in sorted(tensors):
        found = _TENSOR.fullmatch(name)
        if not found or found["name"] not in _PARTS:
            raise BadInput(f"{folder} adapts {name}, for which llama.cpp has no name here")
        part, matrix = _PARTS[found["name"]], tensors[name]
        if found["side"] == "B" and kind == "llama" and part in heads:
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
