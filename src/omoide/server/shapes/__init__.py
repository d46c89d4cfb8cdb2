"""The shapes of requests and answers, as JSON schemas by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.server.shapes.incoming import INCOMING
from omoide.server.shapes.outgoing import OUTGOING

if TYPE_CHECKING:
    from omoide.server.shapes.words import Shape

SHAPES: dict[str, Shape] = {**INCOMING, **OUTGOING}
