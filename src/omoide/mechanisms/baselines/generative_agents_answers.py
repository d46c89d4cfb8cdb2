"""The schemas of Generative Agents' model calls, and the parsers of their answers."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from omoide.errors import BadReply

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

INSIGHTS = 5
"""Maximum number of insights per reflection."""
INSIGHT_CHARS = 240
"""Maximum length of each."""


def numbered(texts: Sequence[str]) -> str:
    """One text per line, numbered from 1."""
    return "\n".join(f"{i}. {text}" for i, text in enumerate(texts, start=1))


def ratings_schema(n: int) -> Mapping[str, object]:
    """The JSON schema of `n` ratings."""
    rating = {"type": "integer", "minimum": 1, "maximum": 10}
    listed = {"type": "array", "items": rating, "minItems": n, "maxItems": n}
    return {"type": "object", "properties": {"ratings": listed}, "required": ["ratings"]}


INSIGHTS_SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "insights": {
            "type": "array",
            "maxItems": INSIGHTS,
            "items": {
                "type": "object",
                "properties": {
                    "text": {"type": "string", "minLength": 4, "maxLength": INSIGHT_CHARS},
                    "because": {"type": "array", "items": {"type": "integer"}, "maxItems": 8},
                },
                "required": ["text", "because"],
            },
        }
    },
    "required": ["insights"],
}


def read_ratings(text: str, n: int) -> list[int]:
    """Parse `n` integers from 1 to 10. Raises `BadReply` for anything else."""
    inside = re.search(r"\[([^\[\]]*)\]", text)
    figures = re.findall(r"[0-9]+", inside.group(1) if inside else "")
    numbers = [int(digits[:4]) for digits in figures]
    if len(numbers) != n or not all(1 <= number <= 10 for number in numbers):
        raise BadReply(f"wanted {n} ratings from 1 to 10, got {text[:80]!r}")
    return numbers


def read_insights(text: str, known: int) -> list[tuple[str, list[int]]]:
    """Parse insights with the numbers, from 1 to `known`, of the statements they follow from.
    Raises `BadReply` if no insight names any."""
    start, end = text.find("{"), text.rfind("}")
    try:
        items = json.loads(text[start : end + 1], strict=False)["insights"]
        insights = [
            (
                " ".join(str(item["text"]).split()),
                [int(n) for n in item.get("because", []) if 1 <= int(n) <= known],
            )
            for item in items
        ]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadReply(f"wanted insights as JSON, got {text[:80]!r}") from error
    grounded = [(insight, because) for insight, because in insights if insight and because]
    if not grounded:
        raise BadReply(f"wanted insights with statement numbers, got {text[:80]!r}")
    return grounded
