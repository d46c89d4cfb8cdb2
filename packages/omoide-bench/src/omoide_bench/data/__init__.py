"""Public data sets: one loader each, for the format its authors published.

A loader takes the folder from `--data` (the data set's own folder, or one with folders of several)
and returns frozen values of `shapes`. No data set is part of this project. Every `SOURCE` carries
the licence, which must be shown before the data are used.
"""

from __future__ import annotations

from omoide_bench.data import (
    beam,
    carecall,
    dialogsum,
    dulemon,
    japanese_daily_dialogue,
    locomo,
    longmemeval,
    memdaily,
    memochat,
    memorybank,
    msc,
    msc_self_instruct,
    personamem,
    real_persona_chat,
    synthetic_persona_chat,
)
from omoide_bench.data.shapes import DatasetLine, DatasetQuestion, DatasetSession, Dialogue
from omoide_bench.data.source import DatasetSource

SOURCES: dict[str, DatasetSource] = {
    module.SOURCE.name: module.SOURCE
    for module in (
        msc,
        carecall,
        locomo,
        longmemeval,
        memochat,
        memorybank,
        dialogsum,
        japanese_daily_dialogue,
        real_persona_chat,
        synthetic_persona_chat,
        dulemon,
        beam,
        memdaily,
        personamem,
        msc_self_instruct,
    )
}
"""Every data set, by the name of its folder."""

__all__ = [
    "SOURCES",
    "DatasetLine",
    "DatasetQuestion",
    "DatasetSession",
    "DatasetSource",
    "Dialogue",
]
