"""JSON schemas of requests and responses, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.server.shapes.exchanges import EXCHANGES
from omoide.server.shapes.imports import IMPORTS
from omoide.server.shapes.incoming import INCOMING
from omoide.server.shapes.meanings import with_meanings
from omoide.server.shapes.outgoing import OUTGOING
from omoide.server.shapes.protocols import PROTOCOLS
from omoide.server.shapes.results import RESULTS

if TYPE_CHECKING:
    from omoide.server.shapes.builders import Shape

SHAPES: dict[str, Shape] = {
    **with_meanings(INCOMING),
    **OUTGOING,
    **RESULTS,
    **EXCHANGES,
    **IMPORTS,
    **PROTOCOLS,
}
