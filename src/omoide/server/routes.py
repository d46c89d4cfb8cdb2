"""The one table of routes, and the OpenAPI document that is made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from omoide.server import looking, probes, proxy, reads, writes
from omoide.server.endpoint import Call, Endpoint, Parameter
from omoide.server.problems import encoded
from omoide.server.shapes import SHAPES
from omoide.server.shapes.words import ref
from omoide.version import __version__

if TYPE_CHECKING:
    from omoide.server.shapes.words import Shape

_TEXT = {"type": "string", "maxLength": 256, "pattern": "^[ -~]*$"}
_HEADERS: dict[str, tuple[str, Shape]] = {
    "Idempotency-Key": ("A write with the same key and body is done once.", _TEXT),
    "X-Omoide-User": ("Whose memory; goes before `user`.", _TEXT),
    "X-Omoide-Session": ("The caller's own name for the session; else by idle time.", _TEXT),
    "X-Omoide-Memory": (
        "`off` forwards this chat as it is and records nothing.",
        {"type": "string", "enum": ["on", "off"]},
    ),
}
_ERRORS = {
    400: "The body is not JSON, or nobody is named.",
    401: "No key, or none that counts.",
    403: "The key lacks a scope.",
    404: "There is no such thing.",
    405: "Not with this method.",
    409: "It contradicts what is there, or is under way.",
    413: "The body is too large.",
    415: "The body must be application/json.",
    422: "A field is not as described.",
    429: "Too many requests; see Retry-After.",
    500: "An error of ours.",
    502: "The model or the upstream failed.",
    503: "The database is not available.",
    504: "The model or the upstream did not answer in time.",
    507: "The disk is full.",
}
_PASSED_ERROR = "An error, of the upstream or ours, in OpenAI's form."


async def openapi(call: Call) -> Response:
    """The document."""
    del call
    return Response(encoded(document()), media_type="application/json")


ROUTES: tuple[Endpoint, ...] = (
    *proxy.ROUTES,
    *writes.ROUTES,
    *reads.ROUTES,
    *looking.ROUTES,
    *probes.ROUTES,
    Endpoint(
        method="GET",
        path="/openapi.json",
        handler=openapi,
        tag="operations",
        about="This document",
        needs=None,
        answer="Passed",
        user=False,
    ),
)


def document() -> dict[str, Any]:
    """The OpenAPI document of `ROUTES`."""
    paths: dict[str, dict[str, Any]] = {}
    for row in ROUTES:
        paths.setdefault(row.path, {})[row.method.lower()] = _operation(row)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "omoide",
            "version": __version__,
            "description": "Long-term memory for conversations with language models.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": SHAPES,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"key": []}],
    }


def _operation(row: Endpoint) -> dict[str, Any]:
    parameters = [_parameter(parameter) for parameter in row.parameters]
    if row.user:
        parameters.append(_header("X-Omoide-User"))
    parameters += [_header(name) for name in row.headers]
    operation: dict[str, Any] = {
        "operationId": row.handler.__name__,
        "summary": row.about,
        "tags": [row.tag],
        "parameters": parameters,
        "responses": _responses(row),
    }
    if row.takes:
        content = {"application/json": {"schema": ref(row.takes)}}
        operation["requestBody"] = {"required": True, "content": content}
    if row.needs is None:
        operation["security"] = []
    else:
        operation["x-omoide-scopes"] = sorted(row.needs)
    return operation


def _responses(row: Endpoint) -> dict[str, Any]:
    media = {row.answer: ""} if "/" in row.answer else {"application/json": row.answer}
    content = {
        kind: {"schema": ref(shape) if shape else {"type": "string"}}
        for kind, shape in {**media, **row.also}.items()
    }
    found: dict[str, Any] = {str(row.status): {"description": "Done.", "content": content}}
    for status in _fails(row):
        found[str(status)] = _error(row, _ERRORS[status])
    if row.tag == "openai":
        found["default"] = _error(row, _PASSED_ERROR)
    if row.path == "/readyz":
        found["503"] = {"description": _ERRORS[503], "content": content}
    return found


def _fails(row: Endpoint) -> list[int]:
    """The statuses of errors that a row can have."""
    common = [405, 500]
    if row.needs is not None:
        common += [401, 403, 429]
    if row.user or row.query or row.takes:
        common += [422, 503]
    if row.user or row.takes:
        common += [400]
    if row.takes:
        common += [413, 415, 507]
    return sorted({*common, *row.fails})


def _error(row: Endpoint, about: str) -> dict[str, Any]:
    openai = row.tag == "openai"
    kind, shape = (
        ("application/json", "OpenAIError") if openai else ("application/problem+json", "Problem")
    )
    return {"description": about, "content": {kind: {"schema": ref(shape)}}}


def _parameter(parameter: Parameter) -> dict[str, Any]:
    shape = parameter.shape
    return {
        "name": parameter.name,
        "in": "query",
        "required": False,
        "description": parameter.about,
        "schema": {"type": "array", "items": shape} if parameter.many else shape,
    }


def _header(name: str) -> dict[str, Any]:
    about, shape = _HEADERS[name]
    return {
        "name": name,
        "in": "header",
        "required": False,
        "description": about,
        "schema": shape,
    }
