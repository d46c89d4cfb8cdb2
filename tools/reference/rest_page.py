"""docs/reference/rest.md: every route of the server, from its OpenAPI document."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markdown_text import MADE, field_docs, table

from omoide.server import Scope, document

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCUMENT = document()
SHAPES = DOCUMENT["components"]["schemas"]
LARGEST = 2**31 - 1
"""The bound of all whole numbers, which need not be named."""
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


@dataclass(frozen=True)
class Route:
    """One operation of the OpenAPI document."""

    name: str
    operation: dict[str, Any]

    @property
    def tag(self) -> str:
        """The group that it belongs to."""
        return str(self.operation["tags"][0])

    @property
    def scopes(self) -> str:
        """The scopes that it needs."""
        named = self.operation.get("x-omoide-scopes")
        return "none" if named is None else ", ".join(f"`{scope}`" for scope in named)

    @property
    def body(self) -> str:
        """The shape that it takes, if any."""
        return shape_named(self.operation.get("requestBody", {}))

    @property
    def answer(self) -> tuple[str, str]:
        """Its status, and the shape or media type of what it answers."""
        status, response = next(iter(self.operation["responses"].items()))
        return status, shape_named(response) or next(iter(response["content"]))

    @property
    def parameters(self) -> list[dict[str, Any]]:
        """Those of the query that are its own."""
        given = self.operation["parameters"]
        return [p for p in given if p["in"] == "query" and p["name"] != "user"]


ROUTES = [
    Route(f"{method.upper()} {path}", operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
]


def shape_named(holder: dict[str, Any]) -> str:
    """The shape of a body or response, if it has one."""
    found = re.search(r"#/components/schemas/(\w+)", str(holder))
    return found.group(1) if found else ""


def rest_page() -> Iterator[str]:
    """Every route, its input and its answer."""
    yield from ("# REST", "", MADE, "", INTRO, "")
    yield from table(
        ["scope", "what it allows"],
        [[f"`{scope}`", field_docs(Scope).get(scope.name, "")] for scope in Scope],
    )
    for route in ROUTES:
        if route.tag not in TITLES:
            yield from route_part(route)
    for tag, title in TITLES.items():
        see = () if tag == "operations" else ("See [clients](../clients.md).", "")
        rows = [[f"`{r.name}`", r.operation["summary"], r.scopes] for r in ROUTES if r.tag == tag]
        yield from (f"## {title}", "", *see)
        yield from table(["route", "what it does", "scope"], rows)
    yield from ("## Shapes", "", "What the bodies and answers above hold.", "")
    for name in shown_shapes():
        about = SHAPES[name].get("description", "")
        yield from (f"### {name}", "", about, "", *fields_table(name))


def shown_shapes() -> list[str]:
    """The shapes of our own routes, and those within them, by name."""
    own = [route for route in ROUTES if route.tag not in TITLES or route.tag == "operations"]
    waiting = [name for route in own for name in (route.body, route.answer[1])]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in SHAPES and name not in found:
            found.add(name)
            waiting += re.findall(r"#/components/schemas/(\w+)", str(SHAPES[name]))
    return sorted(name for name in found if SHAPES[name].get("properties"))


def route_part(route: Route) -> Iterator[str]:
    """A route with its parameters, its body and its answer."""
    summary = route.operation["summary"]
    yield from (f"## {route.name}", "", f"{summary}. Scope: {route.scopes}.", "")
    rows = [[f"`?{p['name']}`", kind_of(p["schema"]), p["description"]] for p in route.parameters]
    if rows:
        yield from table(["parameter", "type", "meaning"], rows)
    if route.body:
        about = SHAPES[route.body].get("description", "")
        yield from (f"The body: {about[:1].lower()}{about[1:]}", "", *fields_table(route.body))
    status, answer = route.answer
    shown = f"[{answer}](#{answer.lower()})" if answer in shown_shapes() else f"`{answer}`"
    yield from (f"Answers {status} with {shown}.", "")


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
    if "anyOf" in shape:
        return " or ".join(kind_of(one) for one in shape["anyOf"])
    if "enum" in shape:
        return " or ".join(f"`{value}`" for value in shape["enum"])
    kinds = shape.get("type", "anything")
    kind = kinds if isinstance(kinds, str) else " or ".join(kinds)
    if kind == "array":
        return f"list of {kind_of(shape.get('items', {}))}"
    limits = [
        f"{w} {shape[k]:,}"
        for k, w in (("minimum", "from"), ("maximum", "to"))
        if shape.get(k, LARGEST) != LARGEST
    ]
    if shape.get("format") == "date-time":
        kind = kind.replace("string", "time")
    return " ".join([kind, *limits])
