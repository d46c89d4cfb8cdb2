"""Every request passes here: who is it, may they, is it small and well formed; and whatever its
handler raises becomes an answer in the words of the route's protocol."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

from omoide.domain.text import checked_name
from omoide.errors import OmoideError
from omoide.server.access import EVERYTHING, Caller
from omoide.server.endpoint import Call, in_header
from omoide.server.problems import Problem, answer, problem_of
from omoide.server.schema import check, from_query
from omoide.server.shapes import SHAPES

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from omoide.server.access import Access
    from omoide.server.endpoint import Desk, Endpoint
    from omoide.server.idempotency import Replays
    from omoide.server.options import Options

log = logging.getLogger(__name__)


class Door:
    """Lets requests through to the handlers of the rows."""

    def __init__(self, desk: Desk, access: Access, options: Options, replays: Replays) -> None:
        self._desk = desk
        self._access = access
        self._options = options
        self._replays = replays

    def at(self, rows: Sequence[Endpoint]) -> Callable[[Request], Awaitable[Response]]:
        """The function for one path, whatever the method."""
        by_method = {row.method: row for row in rows}
        if "GET" in by_method:
            by_method.setdefault("HEAD", by_method["GET"])

        async def enter(request: Request) -> Response:
            row = by_method[request.method]
            try:
                return await self._through(row, request)
            except OmoideError as error:
                problem = problem_of(error)
            except Problem as error:
                problem = error
            if problem.status >= 500:
                log.warning("request failed", extra={"route": row.path, "reason": problem.slug})
            return answer(problem, path=row.path)

        return enter

    async def _through(self, row: Endpoint, request: Request) -> Response:
        call = await self._call(row, request)
        if row.method == "GET" or (seed := call.seed()) is None:
            return await row.handler(call)
        place = (call.caller.tenant, call.user, row.path, seed)
        return await self._replays.once(place, call, row.handler)

    async def _call(self, row: Endpoint, request: Request) -> Call:
        caller = (
            Caller(tenant="", scopes=EVERYTHING)
            if row.needs is None
            else self._access.admit(request.headers, row.needs)
        )
        request.state.caller = caller
        query = self._query(row, request)
        raw = await self._read(request) if row.method == "POST" else b""
        body = self._body(row, request, raw)
        return Call(
            desk=self._desk,
            caller=caller,
            user=self._user(row, request, query, body) if row.user else "",
            query=query,
            body=body,
            raw=raw,
            raw_query=request.url.query,
            headers=request.headers,
        )

    def _query(self, row: Endpoint, request: Request) -> Mapping[str, Any]:
        """The query parameters, checked. A name that the row does not know is most likely a
        misspelt one, so it is refused; `/v1` passes them on."""
        if row.tag == "openai":
            return {}
        known = {parameter.name: parameter for parameter in row.parameters}
        given: dict[str, Any] = {}
        for name, text in request.query_params.multi_items():
            if name not in known:
                names = ", ".join(known) or "none"
                raise Problem(422, "invalid", f"unknown query parameter; there are: {names}")
            value = from_query(known[name].shape, text, where=name)
            if known[name].many:
                given.setdefault(name, []).append(value)
            elif name in given:
                raise Problem(422, "invalid", f"{name} must be given once", param=name)
            else:
                given[name] = value
        return given

    async def _read(self, request: Request) -> bytes:
        """The body, or 413 as soon as it is known to be too long."""
        limit = self._options.max_body
        too_long = Problem(413, "too-large", f"a request may have {limit:,} bytes")
        length = request.headers.get("content-length", "")
        if length.isdecimal() and int(length) > limit:
            raise too_long
        parts, size = [], 0
        async for part in request.stream():
            size += len(part)
            if size > limit:
                raise too_long
            parts.append(part)
        return b"".join(parts)

    def _body(self, row: Endpoint, request: Request, raw: bytes) -> dict[str, Any]:
        if not row.takes:
            return {}
        # A page elsewhere on the web can send forms and plain text here, but not this.
        media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media_type != "application/json":
            raise Problem(415, "unsupported-media-type", "send application/json")
        try:
            number = float if row.tag == "openai" else _number
            body: dict[str, Any] = json.loads(raw, parse_constant=_refuse, parse_float=number)
        except (ValueError, RecursionError) as error:
            raise Problem(400, "bad-json", "the body is not JSON in UTF-8") from error
        check(SHAPES[row.takes], body, where="", known=SHAPES)
        return body  # an object, as every shape of a body is

    def _user(
        self, row: Endpoint, request: Request, query: Mapping[str, Any], body: Mapping[str, Any]
    ) -> str:
        given = body.get("user") if row.tag == "openai" else query.get("user")
        if given is not None:
            checked_name(given, "the user")
        user = in_header(request.headers, "x-omoide-user") or given or self._desk.default_user
        if not user:
            raise Problem(
                400,
                "no-user",
                "whose memory? Give `user`, or the header X-Omoide-User",
                param="user",
            )
        return checked_name(user, "the user")


def _number(text: str) -> float:
    """A number of JSON: 7.0 is a whole one to it."""
    value = float(text)
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _refuse(constant: str) -> float:
    raise ValueError(constant)
