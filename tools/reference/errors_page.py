"""docs/reference/errors.md: every error and what to do, from `omoide.errors` and the server."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING

from markdown_text import MADE, table

from omoide import errors, server
from omoide.server import problem_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    ErrorClass = type[errors.OmoideError]

INTRO = """\
All errors derive from `omoide.OmoideError`. The terminal shows the message alone and exits with 1.
The server answers with the HTTP status named here, and with the class as `type`, such as
`urn:omoide:problem:store-locked`. A vendor's protocol has its own format, and 400 instead of 422.

A chat is not stopped by an error of memory: it goes on, and `X-Omoide-Status: degraded` says why.
"""


def errors_page() -> Iterator[str]:
    """Every error class with what to do, and the server's own errors."""
    yield from ("# Errors, and what to do", "", MADE, "", INTRO, "")
    for cls, depth in tree(errors.OmoideError):
        yield from error_part(cls, depth)
    yield from ("## Errors of the server alone", "")
    yield from table(["type", "HTTP", "message"], responses())


def tree(cls: ErrorClass, depth: int = 0) -> Iterator[tuple[ErrorClass, int]]:
    """A class and all below it, in the order of the file."""
    yield cls, depth
    for below in cls.__subclasses__():
        if below.__module__ == errors.__name__:
            yield from tree(below, depth + 1)


def error_part(cls: ErrorClass, depth: int) -> Iterator[str]:
    """A class with its meaning, the advice of its docstring, and its HTTP status."""
    about, _, advice = (inspect.getdoc(cls) or "").partition("What to do: ")
    if not advice:
        raise ValueError(f"the docstring of {cls.__name__} does not end with 'What to do: …'")
    problem = problem_of(cls("x"))
    yield from (f"{'##' if depth < 2 else '###'} {cls.__name__}", "")
    yield from (f"{about.strip()} HTTP {problem.status}, `{problem.slug}`.", "")
    yield from (f"**What to do:** {advice}", "")


def responses() -> list[list[str]]:
    """The error responses that the server makes itself, as written in its code."""
    found = set()
    for file in sorted(Path(server.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "HttpProblem":
                texts = [literal(argument) for argument in node.args[:3]]
                if len(texts) == 3 and texts[0].isdigit() and re.fullmatch(r"[a-z-]+", texts[1]):
                    found.add((texts[1], texts[0], texts[2]))
    return [[f"`{slug}`", status, text] for slug, status, text in sorted(found)]


def literal(node: ast.expr) -> str:
    """A literal as text; what is put into it at run time is shown as …"""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(literal(part) for part in node.values)
    return "…"
