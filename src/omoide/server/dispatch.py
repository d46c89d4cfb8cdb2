"""Authenticates and validates every request, calls its handler, and turns what the handler raises
into an error response in the format of the route's protocol."""

from __future__ import annotations

import asyncio
import json
import logging
import math
from typing import TYPE_CHECKING, Any

from omoide.domain.text import normal_name
from omoide.errors import OmoideError
from omoide.server.access import EVERYTHING, Caller
from omoide.server.endpoint import RouteCall, in_header
from omoide.server.problems import HttpProblem, answer, problem_of
from omoide.server.schema import check, from_query
from omoide.server.shapes import SHAPES

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from omoide.server.access import Access
    from omoide.server.endpoint import HandlerContext, RouteSpec
    from omoide.server.idempotency import ReplayCache
    from omoide.server.options import Options

log = logging.getLogger(__name__)


class Dispatcher:
    """Sends valid requests to the handlers of their routes."""

    def __init__(
        self, context: HandlerContext, access: Access, options: Options, replays: ReplayCache
    ) -> None:
        self._context = context
        self._access = access
        self._options = options
        self._replays = replays

    def at(self, rows: Sequence[RouteSpec]) -> Callable[[Request], Awaitable[Response]]:
        """The endpoint function for one path and all its methods."""
        by_method = {row.method: row for row in rows}
        if "GET" in by_method:
            by_method.setdefault("HEAD", by_method["GET"])

        async def enter(request: Request) -> Response:
            row = by_method[request.method]
            request.state.route = row.path
            try:
                return await self._handle(row, request)
            except OmoideError as error:
                problem = problem_of(error)
            except HttpProblem as error:
                problem = error
            if problem.status >= 500:
                log.warning("request failed", extra={"route": row.path, "reason": problem.slug})
            return answer(problem, path=row.path)

        return enter

    async def _handle(self, row: RouteSpec, request: Request) -> Response:
        call = await self._call(row, request)
        if row.method in ("GET", "DELETE") or (seed := call.seed()) is None:
            return await row.handler(call)
        return await self._replays.run_once(row, seed, call)

    async def _call(self, row: RouteSpec, request: Request) -> RouteCall:
        caller = (
            Caller(tenant="", scopes=EVERYTHING)
            if row.needs is None
            else await self._access.admit(request.headers, row.needs)
        )
        request.state.caller = caller
        query = self._query(row, request)
        raw = await self._read(request) if row.method in ("POST", "PATCH") else b""
        body = self._body(row, request, raw)
        return RouteCall(
            context=self._context,
            caller=caller,
            user=self._user(row, request, caller, query, body) if row.user else "",
            query=query,
            body=body,
            raw=raw,
            raw_query=request.url.query,
            headers=request.headers,
            route=row.path,
            path=request.path_params,
        )

    def _query(self, row: RouteSpec, request: Request) -> Mapping[str, Any]:
        """The validated query parameters. Unknown names are rejected, since they are most likely
        typos; a vendor's protocol may have any."""
        known = {parameter.name: parameter for parameter in row.parameters}
        values: dict[str, Any] = {}
        for name, text in request.query_params.multi_items():
            if name not in known:
                if row.foreign:
                    continue
                names = ", ".join(known) or "none"
                raise HttpProblem(
                    422, "invalid", f"unknown query parameter; expected one of: {names}"
                )
            value = from_query(known[name].shape, text, where=name)
            if known[name].many:
                values.setdefault(name, []).append(value)
            elif name in values:
                raise HttpProblem(422, "invalid", f"{name} may be given only once", param=name)
            else:
                values[name] = value
        return values

    async def _read(self, request: Request) -> bytes:
        """The body. Raises 413 as soon as it is known to be too large."""
        limit = self._options.max_body
        too_large = HttpProblem(413, "too-large", f"the body may have at most {limit:,} bytes")
        length = request.headers.get("content-length", "")
        if length.isdecimal() and int(length) > limit:
            raise too_large
        parts: list[bytes] = []
        size, stream, loop = 0, request.stream(), asyncio.get_running_loop()
        deadline = loop.time() + 10 * self._options.receive
        while True:
            try:
                async with asyncio.timeout_at(min(deadline, loop.time() + self._options.receive)):
                    part = await anext(stream, None)
            except TimeoutError as error:
                raise HttpProblem(
                    408, "request-timeout", "the body did not arrive in time: send it again"
                ) from error
            if part is None:
                return b"".join(parts)
            size += len(part)
            if size > limit:
                raise too_large
            parts.append(part)

    def _body(self, row: RouteSpec, request: Request, raw: bytes) -> dict[str, Any]:
        if not row.takes:
            return {}
        # Other web sites can make a browser send forms and plain text here, but not JSON (CSRF).
        media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media_type != "application/json":
            raise HttpProblem(
                415, "unsupported-media-type", "the content type must be application/json"
            )
        try:
            number = _finite if row.foreign else _number
            text = raw.decode("utf-8-sig", "surrogatepass")  # `loads` would take UTF-16 too
            body: dict[str, Any] = json.loads(text, parse_constant=_refuse, parse_float=number)
        except (ValueError, RecursionError) as error:
            raise HttpProblem(400, "bad-json", "the body must be JSON in UTF-8") from error
        check(SHAPES[row.takes], body, where="", known=SHAPES)
        return body  # every body shape is an object, so `check` ensures this is a dict

    def _user(
        self,
        row: RouteSpec,
        request: Request,
        caller: Caller,
        query: Mapping[str, Any],
        body: Mapping[str, Any],
    ) -> str:
        """The user: from our header, the request's own field, the key's name, or the setting."""
        field, named = "user", query.get("user")
        if row.foreign and row.takes:
            given = {name: _at(body, name) for name in row.user_fields}
            field, named = next(((n, v) for n, v in given.items() if v is not None), (field, None))
        if named is not None and not isinstance(named, str):
            raise HttpProblem(
                422, "invalid", f"{field} must be a string, not {named!r:.40}", param=field
            )
        if named is not None:
            normal_name(named, field)
        user = (
            in_header(request.headers, "x-omoide-user")
            or named
            or (caller.name if self._options.user_from_key else "")
            or self._context.default_user
        )
        if not user:
            fields = " or ".join(f"`{f}`" for f in row.user_fields if row.foreign) or "`user`"
            raise HttpProblem(
                400,
                "no-user",
                f"no user was named, and nothing is remembered under a name that nobody gave: "
                f"give {fields}, or the header X-Omoide-User, or start the server with "
                "--default-user NAME",
                param=row.user_fields[0] if row.user_fields else "X-Omoide-User",
            )
        return normal_name(user, "the user")


def _at(body: Mapping[str, Any], path: str) -> Any:  # noqa: ANN401 - any JSON
    """The value at a dotted path in a body; None if there is none."""
    value: Any = body
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _finite(text: str) -> float:
    """A JSON number. One too large for a float has no place in an answer that repeats it."""
    if math.isinf(value := float(text)):
        raise ValueError(text[:40])
    return value


def _number(text: str) -> float:
    """A JSON number. In JSON Schema 7.0 is an integer, so it becomes one here."""
    value = _finite(text)
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _refuse(constant: str) -> float:
    raise ValueError(constant)
