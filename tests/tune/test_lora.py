"""LoRA files, read back: what was shipped can be gone on from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omoide.errors import BadInput
from omoide_tune.formats.gguf_files import read_contents
from omoide_tune.formats.lora import read_safetensors, unpack_lora, write_lora
from tests.adapters import peft_folder
from tests.tiny import tiny_model

if TYPE_CHECKING:
    from pathlib import Path

    from omoide_tune.formats.lora import Precision

pytestmark = [pytest.mark.model, pytest.mark.heavy]
"""Reading the model's file takes seconds of CPU: gguf reads 49,000 words one by one."""


@pytest.mark.parametrize(("precision", "off"), [("f16", 1e-3), ("q8_0", 2e-2)])
def test_a_file_becomes_the_folder_it_was_made_of(
    tmp_path: Path, precision: Precision, off: float
) -> None:
    """Names, rank, α and numbers, but for what rounding took; written again, the same file."""
    base = read_contents(tiny_model())
    first, file = peft_folder(tmp_path / "first"), tmp_path / "adapter.gguf"
    count = write_lora(first, file, base=base, precision=precision)
    assert unpack_lora(file, tmp_path / "back", base=base) == count
    one, other = (
        read_safetensors(tmp_path / name / "adapter_model.safetensors")
        for name in ("first", "back")
    )
    assert one.keys() == other.keys()
    for name, matrix in one.items():
        assert np.abs(matrix - other[name]).max() <= off * np.abs(matrix).max()
    told = json.loads((tmp_path / "back" / "adapter_config.json").read_text())
    assert (told["r"], told["lora_alpha"]) == (8, 16)
    assert told["target_modules"] == ["down_proj", "gate_proj", "q_proj"]
    again = tmp_path / "again.gguf"
    write_lora(tmp_path / "back", again, base=base, precision=precision)
    assert again.read_bytes() == file.read_bytes()


def test_what_is_no_lora_file_is_refused(tmp_path: Path) -> None:
    """A model is not one."""
    with pytest.raises(BadInput, match="is not a LoRA file"):
        unpack_lora(tiny_model(), tmp_path, base=read_contents(tiny_model()))
