"""What went wrong, as the protocol of the route wants it said.

REST answers with problem details (RFC 9457); the `/v1` routes with OpenAI's error object, which
is what its clients turn into their exceptions.
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


class Problem(Exception):
    """An answer that is an error. `slug` names its kind, `detail` says what to do."""

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
        """The field that is wrong, if it is one."""


def problem_of(error: errors.OmoideError) -> Problem:
    """One of our errors as an answer."""
    status = next(status for kind, status in _STATUS if isinstance(error, kind))
    headers = {"Retry-After": "1"} if status == 503 else {}
    return Problem(status, slug_of(error), str(error), headers=headers)


def slug_of(error: BaseException) -> str:
    """The name of an error's kind, without any words of its message: `store-locked`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", type(error).__name__).lower()


def answer(problem: Problem, *, path: str) -> Response:
    """The response for a request to `path`."""
    if path.startswith("/v1/"):
        return openai_answer(problem)
    body: dict[str, object] = {
        "type": f"urn:omoide:problem:{problem.slug}",
        "title": problem.slug.replace("-", " ").capitalize(),
        "status": problem.status,
        "detail": problem.detail,
    }
    if problem.param:
        body["field"] = problem.param
    return Response(
        encoded(body),
        status_code=problem.status,
        media_type="application/problem+json",
        headers=problem.headers,
    )


def openai_answer(problem: Problem) -> Response:
    """The same in OpenAI's words, where what cannot be used is a 400."""
    return Response(
        encoded(openai_error(problem)),
        status_code=400 if problem.status == 422 else problem.status,
        media_type="application/json",
        headers=problem.headers,
    )


def openai_error(problem: Problem) -> dict[str, object]:
    """OpenAI's error object."""
    otherwise = "server_error" if problem.status >= 500 else "invalid_request_error"
    kind, code = _OPENAI_TYPES.get(problem.status, (otherwise, None))
    return {
        "error": {
            "message": problem.detail,
            "type": kind,
            "param": problem.param,
            "code": code or problem.slug.replace("-", "_"),
        }
    }


def encoded(value: object) -> bytes:
    """JSON in UTF-8; half a surrogate pair, which no UTF-8 can hold, becomes a question mark."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "replace")
