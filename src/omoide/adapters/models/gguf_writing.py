"""Small GGUF files, written: a head of texts and numbers, and matrices in 16 or 8 bits."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

F16, Q8_0 = 1, 8
"""ggml's own numbers for how a tensor's numbers are stored."""
BLOCK = 32
"""Numbers that share a scale in Q8_0; rows must be so many times something long."""
_ALIGN = 32


@dataclass(frozen=True, kw_only=True)
class Tensor:
    """A matrix as it will lie in the file."""

    name: str
    rows: int
    columns: int
    kind: int
    data: bytes


def halved(name: str, matrix: Matrix) -> Tensor:
    """The matrix in 16 bits a number."""
    rows, columns = matrix.shape
    data = matrix.astype("<f2").tobytes()
    return Tensor(name=name, rows=rows, columns=columns, kind=F16, data=data)


def quartered(name: str, matrix: Matrix) -> Tensor:
    """The matrix in 8 bits a number and one scale for 32 of them; in 16 bits where its rows are
    not made of such blocks."""
    rows, columns = matrix.shape
    if columns % BLOCK:
        return halved(name, matrix)
    blocks = matrix.astype(np.float32).reshape(-1, BLOCK)
    scales = np.abs(blocks).max(axis=1, keepdims=True) / np.float32(127)
    whole = np.divide(blocks, scales, out=np.zeros_like(blocks), where=scales > 0)
    away = np.trunc(whole + np.copysign(np.float32(0.5), whole))  # halves away from zero, as ggml
    packed = np.empty((len(blocks), 2 + BLOCK), np.uint8)
    packed[:, :2] = scales.astype("<f2").view(np.uint8)
    packed[:, 2:] = away.astype(np.int8).view(np.uint8)
    return Tensor(name=name, rows=rows, columns=columns, kind=Q8_0, data=packed.tobytes())


def write_gguf(path: Path, values: Mapping[str, str | float], tensors: Sequence[Tensor]) -> None:
    """Write the file, whole or not at all. Numbers among the values become 32-bit floats."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(values))
    for key, value in values.items():
        kind = struct.pack("<I", 8) + _text(value) if isinstance(value, str) else None
        head += _text(key) + (kind or struct.pack("<If", 6, value))
    offset = 0
    for tensor in tensors:
        shape = (tensor.columns, tensor.rows)  # the fastest-moving dimension first
        head += _text(tensor.name) + struct.pack("<I2QIQ", 2, *shape, tensor.kind, offset)
        offset += _padded(len(tensor.data))
    part = path.with_name(path.name + ".part")
    with part.open("wb") as file:
        file.write(head.ljust(_padded(len(head)), b"\0"))
        for tensor in tensors:
            file.write(tensor.data.ljust(_padded(len(tensor.data)), b"\0"))
    part.replace(path)


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _padded(length: int) -> int:
    return -(-length // _ALIGN) * _ALIGN
