"""An adapter that peft trained, as a llama.cpp LoRA file (GGUF) for the embedded model."""

from __future__ import annotations

import json
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from omoide.adapters.models.dense import NAMES, interleaved
from omoide.errors import BadInput, MissingExtra

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.adapters.models.gguf import Contents

_PARTS = {name: part for part, name in NAMES.items()}
_TENSOR = re.compile(
    r"base_model\.model\.model\.layers\.(?P<block>\d+)\.(?P<name>[\w.]+)\.lora_(?P<side>[AB])\.weight"
)


def write_lora(folder: Path, path: Path, *, base: Contents, note: str = "") -> int:
    """Write the adapter in `folder` for the model whose contents are `base`; how many tensors it
    has, each number in 16 bits. Raises `BadInput` for an adapter that llama.cpp cannot apply."""
    gguf, safetensors = _vendor("gguf"), _vendor("safetensors.numpy")
    try:
        told = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))
        tensors = safetensors.load_file(folder / "adapter_model.safetensors")
    except (OSError, ValueError) as error:
        raise BadInput(f"{folder} holds no adapter as peft writes it: {error}") from error
    if told.get("use_dora") or told.get("bias", "none") != "none" or told.get("use_rslora"):
        raise BadInput(f"{folder} is not plain LoRA: llama.cpp takes no DoRA, rsLoRA or biases")
    kind = str(base.values["general.architecture"])
    heads: dict[str, Any] = {
        "attn_q": base.values[f"{kind}.attention.head_count"],
        "attn_k": base.values[f"{kind}.attention.head_count_kv"],
    }
    writer = gguf.GGUFWriter(path, kind)
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", float(told["lora_alpha"]))
    if note:
        writer.add_description(note)
    for name in sorted(tensors):
        found = _TENSOR.fullmatch(name)
        if not found or found["name"] not in _PARTS:
            raise BadInput(f"{folder} adapts {name}, for which llama.cpp has no name here")
        part, matrix = _PARTS[found["name"]], tensors[name].astype("float16")
        if found["side"] == "B" and kind == "llama" and part in heads:
            matrix = interleaved(matrix, heads[part])
        writer.add_tensor(
            f"blk.{found['block']}.{part}.weight.lora_{found['side'].lower()}", matrix
        )
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return len(tensors)


def _vendor(name: str) -> Any:  # noqa: ANN401 - optional
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(
            f"writing an adapter needs {name}, which is not installed: pip install omoide[tune]"
        ) from error
