"""Public data sets: one loader each, to the form its authors published.

A loader takes the folder a person gave with `--data` (either the data set's own folder, or one
that holds folders of several), and gives frozen values of `shapes`. No data set is part of this
project; every `SOURCE` carries the licence, which is to be shown before the data are used.
"""

from __future__ import annotations

from omoide.evals.data import (
    carecall,
    dialogsum,
    dulemon,
    japanese_daily_dialogue,
    locomo,
    longmemeval,
    memochat,
    memorybank,
    msc,
    real_persona_chat,
    synthetic_persona_chat,
)
from omoide.evals.data.shapes import Dialogue, Line, Question, Session
from omoide.evals.data.source import Source

SOURCES: dict[str, Source] = {
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
    )
}
"""Every data set by the name of its folder."""

__all__ = ["SOURCES", "Dialogue", "Line", "Question", "Session", "Source"]
