"""Presets: each paper's method, and ours, by one name (`OMOIDE_PRESET`, `--as NAME`).

Explicit settings count more than a preset's. Adding one: a `Preset` here, a run in
`tests/unit/test_presets.py`, and `python tools/preset_table.py` for the page.
"""

from __future__ import annotations

from omoide.presets.baselines import GENERATIVE_AGENTS, MEMOCHAT, MEMORYBANK
from omoide.presets.own import OMOIDE
from omoide.presets.papers import HOU2024, TANIGUCHI2025, WANG2023
from omoide.presets.preset import Departure, Number, Preset, written

__all__ = ["DEFAULT", "PRESETS", "Departure", "Number", "Preset", "written"]

DEFAULT = OMOIDE.name

PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        OMOIDE,
        WANG2023,
        HOU2024,
        TANIGUCHI2025,
        MEMOCHAT,
        MEMORYBANK,
        GENERATIVE_AGENTS,
    )
}
