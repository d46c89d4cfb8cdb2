"""The table of all routes, and the OpenAPI document generated from it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from omoide.server import (
    exchange_routes,
    fact_routes,
    import_routes,
    inspection_routes,
    job_routes,
    preset_routes,
    probes,
    proxy,
    read_routes,
    write_routes,
)
from omoide.server.endpoint import Parameter, RouteCall, RouteSpec
from omoide.server.problems import encoded
from omoide.server.protocols import completions, messages, ollama, responses
from omoide.server.shapes import SHAPES
from omoide.server.shapes.builders import ref
from omoide.version import __version__

if TYPE_CHECKING:
    from omoide.server.shapes.builders import Shape

_TEXT = {"type": "string", "maxLength": 256, "pattern": "^[ -~]*$"}
_HEADERS: dict[str, tuple[str, Shape]] = {
    "Idempotency-Key": ("A write with the same key and body is done once.", _TEXT),
    "X-Omoide-User": ("Whose memory; takes precedence over `user`.", _TEXT),
    "X-Omoide-Session": (
        "The caller's key for the session. Without it, sessions are split by idle time.",
        _TEXT,
    ),
    "X-Omoide-Memory": (
        "`off` forwards this chat unchanged and records nothing.",
        {"type": "string", "enum": ["on", "off"]},
    ),
}
_ERRORS = {
    400: "The body is not JSON, or no user is named.",
    401: "The API key is missing or invalid.",
    403: "The API key lacks a scope.",
    404: "Not found.",
    405: "Method not allowed.",
    408: "The body did not arrive in time.",
    409: "It conflicts with stored data, or the first request is still running.",
    413: "The body is too large.",
    415: "The content type must be application/json.",
    422: "A field is invalid.",
    429: "Too many requests; see Retry-After.",
    500: "Internal error.",
    502: "The model or the upstream failed.",
    503: "The database is not available.",
    504: "The model or the upstream did not answer in time.",
    507: "The disk is full.",
}
_PASSED_ERROR = "An error of the upstream or of this server, in the protocol's format."
_ERROR_SHAPES = {"openai": "OpenAIError", "anthropic": "AnthropicError", "ollama": "OllamaError"}
_PATH_ID: Shape = {"type": "string", "maxLength": 128, "pattern": "^[A-Za-z0-9_-]{1,128}$"}


async def openapi(call: RouteCall) -> Response:
    """The OpenAPI document."""
    del call
    return Response(encoded(document()), media_type="application/json")


ROUTES: tuple[RouteSpec, ...] = (
    *proxy.ROUTES,
    *responses.ROUTES,
    *completions.ROUTES,
    *messages.ROUTES,
    *ollama.ROUTES,
    *write_routes.ROUTES,
    *exchange_routes.ROUTES,
    *preset_routes.ROUTES,
    *job_routes.ROUTES,
    *read_routes.ROUTES,
    *fact_routes.ROUTES,
    *inspection_routes.ROUTES,
    *import_routes.ROUTES,
    *probes.ROUTES,
    RouteSpec(
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


def _operation(row: RouteSpec) -> dict[str, Any]:
    parameters = [_in_path(name) for name in re.findall(r"{(\w+)}", row.path)]
    parameters += [_parameter(parameter) for parameter in row.parameters]
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


def _responses(row: RouteSpec) -> dict[str, Any]:
    media = {row.answer: ""} if "/" in row.answer else {"application/json": row.answer}
    content = {
        kind: {"schema": ref(shape) if shape else {"type": "string"}}
        for kind, shape in {**media, **row.also}.items()
    }
    responses: dict[str, Any] = {str(row.status): {"description": "Success.", "content": content}}
    for status in _fails(row):
        responses[str(status)] = _error(row, _ERRORS[status])
    if row.foreign:
        responses["default"] = _error(row, _PASSED_ERROR)
    if row.path == "/readyz":
        responses["503"] = {"description": _ERRORS[503], "content": content}
    return responses


def _fails(row: RouteSpec) -> list[int]:
    """The error statuses that a route can return."""
    common = [405, 500]
    if row.needs is not None:
        common += [401, 403, 429]
    if row.user or row.query or row.takes:
        common += [422, 503]
    if row.user or row.takes:
        common += [400]
    if row.takes:
        common += [408, 413, 415, 507]
    return sorted({*common, *row.fails})


def _error(row: RouteSpec, about: str) -> dict[str, Any]:
    kind = "application/json" if row.foreign else "application/problem+json"
    shape = _ERROR_SHAPES.get(row.tag, "Problem")
    return {"description": about, "content": {kind: {"schema": ref(shape)}}}


def _in_path(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": _PATH_ID}


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
