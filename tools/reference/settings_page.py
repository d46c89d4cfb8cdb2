"""docs/reference/settings.md: every setting, from `omoide.settings`."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from markdown_text import MADE, field_docs, table

from omoide.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

GROUPS = {
    "preset": "What it starts from",
    "db": "Where it is stored",
    "tenant": "Whose memory",
    "mechanisms": "How it remembers",
    "model": "The model",
    "form": "How the model is asked",
    "partner": "The people",
    "embedder": "Embedder and weights",
    "idle": "Sessions and limits of a model",
    "max_sentences": "How much is remembered and recalled",
    "event_fading": "Events",
    "compression": "Memos",
    "reply_tokens": "Limits of a turn",
    "telemetry": "What other programs are told",
}
"""The heading before a setting."""

INTRO = """\
Every setting is an environment variable, and by its name in lower case a keyword of `omoide.open()`
and `omoide.Settings`: `OMOIDE_RECALL_ITEMS=30` is `omoide.open(recall_items=30)`. A variable that
is not in these tables is an error, because it is most likely misspelt.
"""


def settings_page() -> Iterator[str]:
    """Every field of `Settings`, in its order."""
    about = field_docs(Settings)
    plain = Settings()
    yield from ("# Settings", "", MADE, "", INTRO, "")
    rows: list[list[str]] = []
    for field in dataclasses.fields(Settings):
        if field.name in GROUPS:
            if rows:
                yield from table(["variable", "default", "meaning"], rows)
            rows = []
            yield from (f"## {GROUPS[field.name]}", "")
        default = shown_default(getattr(plain, field.name))
        rows.append([f"`OMOIDE_{field.name.upper()}`", default, about[field.name]])
    yield from table(["variable", "default", "meaning"], rows)


def shown_default(value: object) -> str:
    """A default as it would be written in the environment."""
    if isinstance(value, timedelta):
        return f"`{value / timedelta(minutes=1):g}` (minutes)"
    if isinstance(value, tuple):
        value = ",".join(value)
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    text = str(value).replace(str(Path.home()), "~")
    return f"`{text}`" if text else ""
