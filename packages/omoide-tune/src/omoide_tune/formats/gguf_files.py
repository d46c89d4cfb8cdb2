"""Reads and writes GGUF files with the library `gguf`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import gguf
import numpy as np

from omoide.errors import ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Contents:
    """The contents of a GGUF file; tensors are read from the file on demand."""

    values: Mapping[str, Any]
    tensors: tuple[Any, ...]
    """`gguf.ReaderTensor`, each with its name, shape, type and data."""


def read_contents(path: Path) -> Contents:
    """Read a GGUF file. Raises `ModelUnavailable` if it is not one."""
    try:
        config = path.stat()
        return _read(path, config.st_size, config.st_mtime_ns)
    except OSError as error:
        raise ModelUnavailable(f"{path} could not be read: {error}; check the path") from error
    except (ValueError, IndexError, KeyError) as error:
        raise ModelUnavailable(f"{path} is not a complete GGUF file: {error}") from error


@lru_cache(maxsize=4)
def _read(path: Path, size: int, changed: int) -> Contents:
    """The library takes ten seconds for a vocabulary of 150,000, so the result is cached."""
    reader = gguf.GGUFReader(path)
    values = {name: field.contents() for name, field in reader.fields.items()}
    return Contents(values=values, tensors=tuple(reader.tensors))


def dense(tensor: Any) -> Matrix:  # noqa: ANN401 - the library's
    """A tensor's values in 32 bits, the slowest-moving dimension first."""
    numbers = gguf.quants.dequantize(np.asarray(tensor.data), tensor.tensor_type)
    return np.asarray(numbers, np.float32).reshape([int(n) for n in reversed(tensor.shape)])


def write_adapter(
    path: Path,
    matrices: Mapping[str, Matrix],
    *,
    architecture: str,
    alpha: float,
    note: str,
    eight_bits: bool,
) -> None:
    """Write a LoRA file for llama.cpp atomically. A value takes 16 bits; or 8, except in
    matrices whose rows are not made of whole blocks."""
    part = path.with_name(path.name + ".part")
    writer = gguf.GGUFWriter(part, architecture)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", alpha)
    if note:
        writer.add_description(note)
    kind = gguf.GGMLQuantizationType.Q8_0
    block, _ = gguf.GGML_QUANT_SIZES[kind]
    for name, matrix in matrices.items():
        if eight_bits and matrix.shape[1] % block == 0:
            packed = gguf.quants.quantize(np.ascontiguousarray(matrix, np.float32), kind)
            writer.add_tensor(name, packed, raw_dtype=kind)
        else:
            writer.add_tensor(name, np.ascontiguousarray(matrix, np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    part.replace(path)
