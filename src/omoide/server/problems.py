"""Errors in the format of the route's protocol.

REST routes answer with problem details (RFC 9457). Those of a vendor's protocol answer with its
error object, which its clients turn into exceptions.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from starlette.responses import Response

from omoide import errors

if TYPE_CHECKING:
    from collections.abc import Mapping

_STATUS: tuple[tuple[type[errors.OmoideError], int], ...] = (
    (errors.NoSuchVersion, 404),
    (errors.NoSuchSession, 404),
    (errors.NoSuchJob, 404),
    (errors.NoSuchFact, 404),
    (errors.BadInput, 422),
    (errors.ConflictingTurn, 409),
    (errors.StaleVersion, 409),
    (errors.StoreFull, 507),
    (errors.StoreError, 503),
    (errors.ContextTooLong, 422),
    (errors.ModelStalled, 504),
    (errors.ModelError, 502),
    (errors.OmoideError, 503),
)
_OPENAI_TYPES = {
    401: ("authentication_error", "invalid_api_key"),
    403: ("permission_error", None),
    404: ("invalid_request_error", "not_found"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
}

_ANTHROPIC_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
}
OLLAMA_PATHS = tuple(
    f"/api/{name}"
    for name in (
        *("chat", "generate", "tags", "embed", "version"),
        *("show", "ps", "pull", "push", "create", "copy", "delete", "embeddings"),
    )
)
"""Paths of Ollama's protocol, those that are not served too: its clients try them."""


class HttpProblem(Exception):
    """An error response. `slug` names its kind, `detail` says what to do."""

    def __init__(
        self,
        status: int,
        slug: str,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        param: str | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.slug = slug
        self.detail = detail
        self.headers = dict(headers or {})
        self.param = param
        """The invalid field, if there is one."""


def problem_of(error: errors.OmoideError) -> HttpProblem:
    """An `OmoideError` as an error response."""
    if isinstance(error, errors.Unconvertible):
        return HttpProblem(400, error.slug, str(error), param=error.param)
    status = next(status for kind, status in _STATUS if isinstance(error, kind))
    headers = {"Retry-After": "1"} if status == 503 else {}
    return HttpProblem(status, slug_of(error), str(error), headers=headers)


def slug_of(error: BaseException) -> str:
    """The error's class as a slug such as `store-locked`, without any text of its message."""
    if isinstance(error, TimeoutError):
        return "timeout"
    return re.sub(r"(?<!^)(?=[A-Z])", "-", type(error).__name__).lower()


def answer(problem: HttpProblem, *, path: str) -> Response:
    """The response for a request to `path`. A vendor's protocols have no 422: it becomes a 400."""
    own = False
    if path.startswith("/v1/messages"):
        body = anthropic_error(problem)
    elif path.startswith("/v1/"):
        body = openai_error(problem)
    elif path in OLLAMA_PATHS:
        body = ollama_error(problem)
    else:
        own, body = True, _details(problem)
    return Response(
        encoded(body),
        status_code=400 if problem.status == 422 and not own else problem.status,
        media_type="application/problem+json" if own else "application/json",
        headers=problem.headers,
    )


def _details(problem: HttpProblem) -> dict[str, object]:
    body: dict[str, object] = {
        "type": f"urn:omoide:problem:{problem.slug}",
        "title": problem.slug.replace("-", " ").capitalize(),
        "status": problem.status,
        "detail": problem.detail,
    }
    if problem.param:
        body["field"] = problem.param
    return body


def anthropic_error(problem: HttpProblem) -> dict[str, object]:
    """Anthropic's error object."""
    default = "api_error" if problem.status >= 500 else "invalid_request_error"
    error: dict[str, object] = {
        "type": _ANTHROPIC_TYPES.get(problem.status, default),
        "message": problem.detail,
    }
    if problem.slug.startswith("thread-"):  # clients recover from these by their codes
        error["details"] = {"error_code": problem.slug.replace("-", "_")}
    return {"type": "error", "error": error}


def ollama_error(problem: HttpProblem) -> dict[str, object]:
    """Ollama's error object."""
    return {"error": problem.detail}


def openai_error(problem: HttpProblem) -> dict[str, object]:
    """OpenAI's error object."""
    default = "server_error" if problem.status >= 500 else "invalid_request_error"
    kind, code = _OPENAI_TYPES.get(problem.status, (default, None))
    return {
        "error": {
            "message": problem.detail,
            "type": kind,
            "param": problem.param,
            "code": code or problem.slug.replace("-", "_"),
        }
    }


def encoded(value: object) -> bytes:
    """JSON in UTF-8. An unpaired surrogate, which UTF-8 cannot encode, becomes a question mark."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "replace")
