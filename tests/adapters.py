"""Adapters of random numbers, for tests: a folder as peft writes it, and the LoRA file of it."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING

import gguf
import numpy as np

from omoide_tune.formats.gguf_files import read_contents
from omoide_tune.formats.lora import write_lora

if TYPE_CHECKING:
    from pathlib import Path

    from omoide_tune.formats.lora import Precision

PARTS = {"self_attn.q_proj": (576, 576), "mlp.gate_proj": (576, 1536), "mlp.down_proj": (1536, 576)}
"""Columns and rows of some projections of SmolLM2 135M."""
BLOCKS = 30


def peft_folder(folder: Path, *, seed: int = 1, rank: int = 8, strength: float = 0.5) -> Path:
    """An adapter that changes what SmolLM2 says, the more the stronger it is."""
    dice = np.random.default_rng(seed)
    tensors = {}
    for block in range(BLOCKS):
        for part, (columns, rows) in PARTS.items():
            name = f"base_model.model.model.layers.{block}.{part}"
            tensors[f"{name}.lora_A.weight"] = dice.standard_normal((rank, columns)) / columns**0.5
            tensors[f"{name}.lora_B.weight"] = dice.standard_normal((rows, rank)) * strength
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "adapter_config.json").write_text(json.dumps({"r": rank, "lora_alpha": 16}))
    head, data = {}, b""
    for name, matrix in tensors.items():
        raw = matrix.astype("<f4").tobytes()
        offsets = [len(data), len(data) + len(raw)]
        head[name] = {"dtype": "F32", "shape": list(matrix.shape), "data_offsets": offsets}
        data += raw
    text = json.dumps(head).encode()
    (folder / "adapter_model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    return folder


def base_file(path: Path) -> Path:
    """A GGUF file with all that converting an adapter needs to know of SmolLM2 135M. Its vocabulary
    is not in it: the library reads 49,000 words one by one, which takes six seconds."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_head_count(9)
    writer.add_head_count_kv(3)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def lora_file(
    folder: Path,
    weights: Path,
    *,
    seed: int = 1,
    rank: int = 8,
    strength: float = 0.5,
    precision: Precision = "f16",
) -> Path:
    """The LoRA file of such an adapter."""
    path = folder / f"random-{seed}-{rank}-{precision}.gguf"
    peft = peft_folder(folder / path.stem, seed=seed, rank=rank, strength=strength)
    write_lora(peft, path, base=read_contents(weights), precision=precision)
    return path
