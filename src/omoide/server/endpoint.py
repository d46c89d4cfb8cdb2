"""A route of the API, and one call to it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from omoide.domain import Owner
from omoide.errors import StoreLocked
from omoide.server.problems import HttpProblem
from omoide.server.shapes.builders import MAX_INTEGER, NAME

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from starlette.datastructures import Headers
    from starlette.responses import Response

    from omoide.engine.memory import Memory
    from omoide.engine.runtime import Runtime
    from omoide.server.access import Caller
    from omoide.server.keys import Scope
    from omoide.server.latest_replies import LatestReplies
    from omoide.server.metrics import Metrics
    from omoide.server.shapes.builders import Shape
    from omoide.server.upstream import Upstream

    Handler = Callable[["RouteCall"], Awaitable[Response]]
    """Answers a call."""

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class HandlerContext:
    """What handlers use besides the call; shared by all calls of a server."""

    runtime: Runtime
    upstream: Upstream
    metrics: Metrics
    default_user: str | None
    store: bool
    """Whether responses and threads may be stored."""
    patience: float
    """Seconds that memory may delay a chat."""
    forget: Callable[[str, str], None]
    """Drop the cached responses of a tenant's user."""
    latest_replies: LatestReplies


@dataclass(frozen=True, kw_only=True)
class RouteCall:
    """An authenticated and validated request."""

    context: HandlerContext
    caller: Caller
    user: str
    """Empty if the route is not about one user."""
    query: Mapping[str, Any]
    body: dict[str, Any]
    raw: bytes
    raw_query: str
    headers: Headers
    route: str = ""
    """The path of its route."""
    path: Mapping[str, str] = field(default_factory=dict)
    """The parameters in the path."""

    @property
    def memory(self) -> Memory:
        """The memory of the caller's tenant."""
        return self.context.runtime.memory(self.caller.tenant)

    async def erasure_mark(self) -> str:
        """The user's erasure mark: what was cached under another one may quote what was erased."""
        owner = Owner(tenant=self.caller.tenant, user=self.user)
        reading = self.context.runtime.store.archive.erasure_mark(owner)
        return await in_time(reading, patience=self.context.patience)

    def seed(self) -> str | None:
        """The caller's idempotency key."""
        return in_header(self.headers, "idempotency-key")


async def in_time(reading: Awaitable[T], *, patience: float) -> T:
    """What is read from the store. Raises `StoreLocked` if that takes longer than `patience`
    seconds."""
    try:
        async with asyncio.timeout(patience):
            return await reading
    except TimeoutError as error:
        raise StoreLocked(
            f"the database did not answer within {patience:g} s; try again"
        ) from error


def in_header(headers: Headers, name: str) -> str | None:
    """A name from one of our headers; None if missing or empty. Non-ASCII values are rejected,
    because programs disagree on their encoding."""
    value = headers.get(name)
    if value and not (value.isascii() and value.isprintable() and len(value) <= 256):
        raise HttpProblem(
            422, "invalid", f"{name} must be at most 256 characters of printable ASCII", param=name
        )
    return value or None


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A query parameter."""

    name: str
    shape: Shape
    about: str
    many: bool = False


FOREIGN = frozenset({"openai", "anthropic", "ollama"})
"""The tags of protocols that are not our own."""

LIMIT = Parameter(
    name="limit",
    shape={"type": "integer", "minimum": 1, "maximum": 1000, "default": 100},
    about="Maximum number of items on the page.",
)
CURSOR = Parameter(
    name="cursor",
    shape={"type": "string", "maxLength": 64, "pattern": "^[0-9]{1,18}$"},
    about="`next` of the previous page.",
)
USER = Parameter(name="user", shape=NAME, about="Whose memory.")
SESSION = Parameter(
    name="session",
    shape={"type": "integer", "minimum": 1, "maximum": MAX_INTEGER},
    about="A session's number.",
)


@dataclass(frozen=True, kw_only=True)
class RouteSpec:
    """A route: its input, its output, and the scopes it needs."""

    method: str
    path: str
    handler: Handler
    about: str
    needs: frozenset[Scope] | None
    """Scopes that the API key must have; None admits everyone."""
    answer: str
    """The shape of the response, or a media type if it is not JSON."""
    tag: str = "rest"
    """The group in the OpenAPI document. That of a client's protocol decides how errors look."""
    status: int = 200
    takes: str = ""
    """The shape of the request body."""
    query: tuple[Parameter, ...] = ()
    user: bool = True
    """Whether it is about one user, named by `user` or `X-Omoide-User`."""
    user_fields: tuple[str, ...] = ("user",)
    """Where a body of a client's protocol may name the user; the first that does counts."""
    headers: tuple[str, ...] = ()
    """Other request headers that it reads."""
    fails: tuple[int, ...] = ()
    """Error statuses beyond those that any route can return."""
    quotes: bool = True
    """Whether the response may quote the user, so that it must not outlive an erasure."""
    also: Mapping[str, str] = field(default_factory=dict)
    """Other media types of the response, with their shapes."""

    @property
    def foreign(self) -> bool:
        """Whether its protocol is a vendor's, so that its query and body may hold anything."""
        return self.tag in FOREIGN

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """All query parameters. A vendor's protocol may have any; only a GET of it names the user
        there, having no body."""
        return (*self.query, USER) if self.user and self._names_user else self.query

    @property
    def _names_user(self) -> bool:
        return not self.foreign or not self.takes
