"""Logs as JSON lines for programs, or as plain lines for people, without any user's text.

An error is logged as its class and stack frames. Its message is left out, because it may quote what
a user said.
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
    """Formats a log record as JSON: time, event, and our extra fields that are set."""

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


class PlainLines(logging.Formatter):
    """Formats a log record for a terminal: the time, the event, and our fields that are set."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        time = datetime.fromtimestamp(record.created).astimezone().strftime("%H:%M:%S")
        level = "" if record.levelno <= logging.INFO else f"{record.levelname.lower()}: "
        found = {name: value for name in _FIELDS if (value := getattr(record, name, "")) != ""}
        if record.getMessage() == "request":
            first = f"{found.pop('method', '')} {found.pop('route', '')} {found.pop('status', '')}"
            found.pop("request", None)
        else:
            first = record.getMessage()
        if record.exc_info and record.exc_info[0]:
            found["error"] = record.exc_info[0].__name__
        rest = "".join(f"  {name}={value}" for name, value in found.items())
        return f"{time}  {level}{first}{rest}"


def configure(level: str = "info", stream: IO[str] | None = None, *, plain: bool = False) -> None:
    """Send omoide's and uvicorn's logs to stderr: as JSON lines, or plain for people. Only the CLI
    calls this."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(PlainLines() if plain else JsonLines())
    quiet = max(logging.getLevelNamesMapping()[level.upper()], logging.WARNING)
    for name in ("omoide", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        # A person is greeted instead of being told that uvicorn runs.
        logger.setLevel(quiet if plain and name == "uvicorn" else level.upper())
        logger.propagate = False
