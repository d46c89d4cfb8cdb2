"""The published JSON schema of the lines of an export."""

from __future__ import annotations

import json
from importlib import resources


def schema() -> dict[str, object]:
    """The schema that every line of an export satisfies."""
    found: dict[str, object] = json.loads(schema_text())
    return found


def schema_text() -> str:
    """The schema as text."""
    return (resources.files("omoide.transfer") / "schema.json").read_text("utf-8")
