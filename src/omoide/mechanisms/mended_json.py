"""JSON as models write it, made into JSON."""

from __future__ import annotations

import re

_NO_JSON = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[]}])|//[^\n]*|\bNone\b', re.DOTALL)
"""A string, and what JSON does not allow outside of one."""


def mended(answer: str) -> str:
    """Without the commas before a closing bracket and the comments that JSON does not allow, and
    with its word for nothing. Strings stay as they are."""

    def mend(found: re.Match[str]) -> str:
        part = found.group()
        return part if part[0] == '"' else "null" if part == "None" else ""

    return _NO_JSON.sub(mend, answer)
