"""Logs as one JSON object a line, without anyone's words.

An error is logged by its kind and the places it passed; its message may quote what a user said,
so it stays out.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from pathlib import PurePath
from typing import IO

_FIELDS = (
    "request",
    "method",
    "route",
    "status",
    "ms",
    "tenant",
    "key",
    "memory",
    "reason",
    "count",
    "address",
)


class JsonLines(logging.Formatter):
    """A record as JSON: when, what, and those of our own fields that were given."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        line |= {name: getattr(record, name) for name in _FIELDS if hasattr(record, name)}
        if record.exc_info and record.exc_info[0]:
            line["error"] = record.exc_info[0].__name__
            frames = traceback.extract_tb(record.exc_info[2])[-6:]
            line["at"] = [f"{PurePath(f.filename).name}:{f.lineno} {f.name}" for f in frames]
        return json.dumps(line, ensure_ascii=False)


def configure(level: str = "info", stream: IO[str] | None = None) -> None:
    """Send omoide's and uvicorn's logs to stderr as JSON lines. Only the command does this."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("omoide", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(level.upper())
        logger.propagate = False
