"""Writes the server's OpenAPI document to a file, for making clients."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from omoide.server import document


def main() -> None:
    """Write it to the file named."""
    Path(sys.argv[1]).write_text(json.dumps(document(), indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
