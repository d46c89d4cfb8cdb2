"""One row of the table of routes, and one call of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from omoide.server.problems import Problem
from omoide.server.shapes.words import MOST, NAME

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from starlette.datastructures import Headers
    from starlette.responses import Response

    from omoide.engine import Memory
    from omoide.server.access import Caller
    from omoide.server.keys import Scope
    from omoide.server.lately import Lately
    from omoide.server.metrics import Metrics
    from omoide.server.remembering import Remembering
    from omoide.server.shapes.words import Shape
    from omoide.server.tenants import Tenants
    from omoide.server.upstream import Upstream

    Handler = Callable[["Call"], Awaitable[Response]]
    """What answers a call."""


@dataclass(frozen=True, kw_only=True)
class Desk:
    """What handlers work with besides the call: the same for every call of one server."""

    tenants: Tenants
    upstream: Upstream
    metrics: Metrics
    default_user: str | None
    forget: Callable[[str, str], None]
    """Drop the answers kept for a user of a tenant."""
    lately: Lately


@dataclass(frozen=True, kw_only=True)
class Call:
    """A request that was let in and is well formed."""

    desk: Desk
    caller: Caller
    user: str
    """Empty where the row names no user."""
    query: Mapping[str, Any]
    body: dict[str, Any]
    raw: bytes
    raw_query: str
    headers: Headers

    @property
    def memory(self) -> Memory:
        """The memory of the caller's tenant."""
        return self.desk.tenants.of(self.caller.tenant).memory

    @property
    def remembering(self) -> Remembering:
        """The exchanges of the caller's tenant."""
        return self.desk.tenants.of(self.caller.tenant).remembering

    def seed(self) -> str | None:
        """The caller's idempotency key."""
        return in_header(self.headers, "idempotency-key")


def in_header(headers: Headers, name: str) -> str | None:
    """A name given in one of our headers; an empty one counts as not given. Beyond ASCII no two
    programs agree on what a header says, so that is refused rather than guessed at."""
    value = headers.get(name)
    if value and not (value.isascii() and value.isprintable() and len(value) <= 256):
        raise Problem(422, "invalid", f"{name} must be printable ASCII, of at most 256", param=name)
    return value or None


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A query parameter."""

    name: str
    shape: Shape
    about: str
    many: bool = False


LIMIT = Parameter(
    name="limit",
    shape={"type": "integer", "minimum": 1, "maximum": 1000, "default": 100},
    about="Most items on the page.",
)
CURSOR = Parameter(
    name="cursor",
    shape={"type": "string", "maxLength": 64, "pattern": "^[0-9]{1,18}$"},
    about="`next` of the page before.",
)
USER = Parameter(name="user", shape=NAME, about="Whose memory.")
SESSION = Parameter(
    name="session",
    shape={"type": "integer", "minimum": 1, "maximum": MOST},
    about="A session's number.",
)


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """A route: what it takes, what it gives, who may."""

    method: str
    path: str
    handler: Handler
    about: str
    needs: frozenset[Scope] | None
    """Scopes of a key, all of them; None lets everyone in."""
    answer: str
    """The shape of the answer; or a media type, if it is not JSON."""
    tag: str = "rest"
    status: int = 200
    takes: str = ""
    """The shape of the body."""
    query: tuple[Parameter, ...] = ()
    user: bool = True
    """Whether it is about one user, named by `user` or `X-Omoide-User`."""
    headers: tuple[str, ...] = ()
    """Request headers it heeds besides."""
    fails: tuple[int, ...] = ()
    """Statuses of errors beyond those that any row can have."""
    also: Mapping[str, str] = field(default_factory=dict)
    """Other media types of its answer, with their shapes."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """All query parameters; `/v1` passes on whatever comes."""
        return (*self.query, USER) if self.user and self.tag != "openai" else self.query
