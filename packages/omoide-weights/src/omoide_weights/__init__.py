"""Weights that come with omoide: adapters with their manifest, and a sentence encoder."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
"""Where the files lie."""
