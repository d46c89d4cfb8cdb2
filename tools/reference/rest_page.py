"""docs/reference/rest.md: every route of the server, from its table of routes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from markdown_text import MADE, field_docs, table

from omoide.server.endpoint import FOREIGN, RouteSpec
from omoide.server.keys import Scope
from omoide.server.routes import ROUTES
from omoide.server.shapes import SHAPES
from omoide.server.shapes.builders import MAX_INTEGER

if TYPE_CHECKING:
    from collections.abc import Iterator

TITLES = {
    "openai": "OpenAI's protocols",
    "anthropic": "Anthropic's protocol",
    "ollama": "Ollama's protocol",
    "operations": "Operations",
}

INTRO = """\
`omoide serve` describes all of this as OpenAPI at `/openapi.json`. A route about one user takes the
name as `?user=` or in the header `X-Omoide-User`. Errors are problem details ([errors](errors.md)).
A scope is what an API key must have; `omoide keys create` says how to choose them.
"""


def rest_page() -> Iterator[str]:
    """Every route, its input and its answer."""
    yield from ("# REST", "", MADE, "", INTRO, "")
    yield from table(
        ["scope", "what it allows"],
        [[f"`{scope}`", field_docs(Scope).get(scope.name, "")] for scope in Scope],
    )
    for row in ROUTES:
        if row.tag == "rest":
            yield from route_part(row)
    for tag, title in TITLES.items():
        if tag in FOREIGN:
            yield from (f"## {title}", "", "See [clients](../clients.md).", "")
        else:
            yield from (f"## {title}", "")
        rows = [row for row in ROUTES if row.tag == tag]
        yield from table(["route", "what it does", "scope"], [route_row(row) for row in rows])
    yield from ("## Shapes", "", "What the bodies and answers above hold.", "")
    named = sorted({shape for row in ROUTES if row.tag not in FOREIGN for shape in shapes_of(row)})
    for name in named:
        fields = SHAPES[name].get("properties", {})
        if fields:
            yield from (f"### {name}", "", *fields_table(name))


def shapes_of(row: RouteSpec) -> set[str]:
    """The shapes of a route's answer, and those within them."""
    waiting, found = [row.answer, row.takes, *row.also.values()], set()
    while waiting:
        name = waiting.pop()
        if name in found or name not in SHAPES:
            continue
        found.add(name)
        waiting += re.findall(r"#/components/schemas/(\w+)", str(SHAPES[name]))
    return found


def route_row(row: RouteSpec) -> list[str]:
    """A route in one line."""
    return [f"`{row.method} {row.path}`", row.about, scopes(row)]


def scopes(row: RouteSpec) -> str:
    """The scopes that a route needs."""
    return "none" if row.needs is None else ", ".join(f"`{s}`" for s in sorted(row.needs))


def route_part(row: RouteSpec) -> Iterator[str]:
    """A route with its parameters, its body and its answer."""
    yield from (f"## {row.method} {row.path}", "", f"{row.about}. Scope: {scopes(row)}.", "")
    rows = [[f"`?{p.name}`", kind_of(p.shape), p.about] for p in row.parameters if p.name != "user"]
    if rows:
        yield from table(["parameter", "type", "meaning"], rows)
    if row.takes:
        yield from ("The body:", "", *fields_table(row.takes))
    answer = f"[{row.answer}](#{row.answer.lower()})" if row.answer in SHAPES else row.answer
    yield from (f"Answers {row.status} with {answer}.", "")


def fields_table(name: str) -> list[str]:
    """The fields of a shape."""
    required = SHAPES[name].get("required", ())
    rows = []
    for field, shape in SHAPES[name].get("properties", {}).items():
        mark = " (required)" if field in required else ""
        rows.append([f"`{field}`{mark}", kind_of(shape), shape.get("description", "")])
    return table(["field", "type", "meaning"], rows)


def kind_of(shape: Any) -> str:  # noqa: ANN401 - a piece of JSON Schema
    """A JSON schema in a few words."""
    if "$ref" in shape:
        name = shape["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "enum" in shape:
        return " or ".join(f"`{value}`" for value in shape["enum"])
    kinds = shape.get("type", "anything")
    kind = kinds if isinstance(kinds, str) else " or ".join(kinds)
    if kind == "array":
        return f"list of {kind_of(shape.get('items', {}))}"
    limits = [
        f"{w} {shape[k]:,}"
        for k, w in (("minimum", "from"), ("maximum", "to"))
        if shape.get(k, MAX_INTEGER) != MAX_INTEGER
    ]
    if shape.get("format") == "date-time":
        kind = kind.replace("string", "time")
    return " ".join([kind, *limits])
