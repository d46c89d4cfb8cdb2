"""Starting a server: where chats go, what it says of its address, and why it cannot listen."""

from __future__ import annotations

import errno
import socket
from typing import TYPE_CHECKING, cast

import httpx
import pytest
import uvicorn

from omoide.errors import BadInput
from omoide.server.embedded import EngineUpstream
from omoide.server.problems import HttpProblem
from omoide.server.run import _AnnouncingServer, _cannot_listen, upstream_of
from omoide.server.upstream import (
    HttpUpstream,
    UpstreamRequest,
    forwarded,
    forwarded_query,
    returned,
)
from omoide.settings import Settings

if TYPE_CHECKING:
    from types import SimpleNamespace

    from starlette.datastructures import Headers
    from starlette.types import Receive, Scope, Send

    from omoide.engine.runtime import Runtime
    from omoide.server.greeting import Greeting


class Greeted:
    """Notes the address that it is to tell."""

    def text(self, address: str) -> str:
        """The greeting."""
        return f"at {address}"


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers nothing."""
    del receive, send
    assert scope


def configured(host: str, port: int) -> uvicorn.Config:
    """A server of nothing."""
    return uvicorn.Config(app, host=host, port=port, lifespan="off", log_config=None)


async def greeted(config: uvicorn.Config) -> None:
    """Start a server, and stop it at once."""
    server = _AnnouncingServer(config, cast("Greeting", Greeted()))
    server.should_exit = True
    await server.serve()
    for listening in server.servers:
        listening.close()


async def test_a_server_tells_where_it_listens(capsys: pytest.CaptureFixture[str]) -> None:
    """With the port that it was given, if it asked for any."""
    await greeted(configured("127.0.0.1", 0))
    told = capsys.readouterr().err.split()
    host, port = told[1].removeprefix("http://").split(":")
    assert (told[0], host) == ("at", "127.0.0.1")
    assert int(port) > 1023


async def test_a_taken_port_is_told_with_another() -> None:
    """As an error of ours, not as uvicorn's exit."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(BadInput, match=f"port {port} of .* is taken.*--port {port + 1},"):
            await greeted(configured("127.0.0.1", port))


def test_why_nothing_can_listen() -> None:
    """What to do depends on the reason."""
    config = configured("127.0.0.1", 80)
    reasons = {errno.EADDRINUSE: "is taken", errno.EACCES: "below 1024", errno.EIO: "cannot listen"}
    for number, words in reasons.items():
        assert words in str(_cannot_listen(config, OSError(number, "why")))


def runtime(settings: Settings) -> Runtime:
    """What `upstream_of` reads of a runtime."""
    from types import SimpleNamespace as Parts

    parts: SimpleNamespace = Parts(settings=settings, model=object(), embedder=None)
    return cast("Runtime", parts)


async def test_chats_go_to_an_endpoint_or_to_the_model_of_the_memory() -> None:
    """A name that is neither is told from a URL."""
    settings = Settings(model="tiny", api_key="k", timeout=7.0)
    endpoint = upstream_of("http://127.0.0.1:9/v1#m", runtime(settings))
    assert isinstance(endpoint, HttpUpstream)
    assert (endpoint.model, endpoint._wait, endpoint._key) == ("m", 7.0, "k")
    await endpoint.close()
    assert isinstance(upstream_of("tiny", runtime(settings)), EngineUpstream)
    with pytest.raises(BadInput, match="is not a URL"):
        upstream_of("other", runtime(settings))


@pytest.mark.parametrize(
    "address", ["ftp://u:SECRET@h", "http://u:SECRET@[::1/v1", "http://h:S/v1"]
)
def test_an_impossible_upstream_is_refused_without_its_password(address: str) -> None:
    """What is printed may be read by others."""
    with pytest.raises(BadInput, match="is not a URL") as refused:
        upstream_of(address, runtime(Settings(model="tiny")))
    assert "SECRET" not in str(refused.value)


@pytest.mark.parametrize(
    ("protocol", "key", "sent"),
    [
        ("", "", "Basic YW5uOnMzOiB0"),
        ("ollama+", "", "Basic YW5uOnMzOiB0"),
        ("anthropic+", "k", "Basic YW5uOnMzOiB0"),
        ("", "k", "Bearer k"),
        ("responses+", "k", "Bearer k"),
    ],
)
async def test_the_password_of_an_address_is_sent(protocol: str, key: str, sent: str) -> None:
    """As by the library's own calls: a key in the same header comes first, and what the client sent
    does not take its place."""
    asked: list[httpx.Request] = []

    def note(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, json={})

    upstream = HttpUpstream(
        f"{protocol}http://ann:s3%3A%20t@desk/v1", api_key=key, transport=httpx.MockTransport(note)
    )
    body = b'{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}'
    forward = UpstreamRequest(
        method="POST",
        path="/chat/completions",
        body=body,
        headers={"authorization": "Bearer a client's"},
    )
    async with upstream.send(forward):
        pass
    assert asked[0].headers["authorization"] == sent


def test_headers_that_pass_in_each_direction() -> None:
    """Neither keys of ours nor what is about one connection; a client's own key only if it is
    wanted."""
    sent = {
        "authorization": "Bearer x",
        "accept": "*/*",
        "cookie": "c",
        "x-omoide-user": "ana",
        "x-forwarded-for": "1.2.3.4",
        "x-api-key": "omo_secret",
        "api-key": "omo_secret",
        "x-goog-api-key": "Bearer omo_secret",
        "x-request-id": "7",
        "host": "h",
    }
    headers = cast("Headers", sent)
    assert forwarded(headers, keep_authorization=False) == {"accept": "*/*", "x-request-id": "7"}
    assert forwarded(headers, keep_authorization=True).keys() == {
        "authorization",
        "accept",
        "x-request-id",
    }
    theirs = cast("Headers", {"x-api-key": "sk-theirs"})
    assert forwarded(theirs, keep_authorization=False) == theirs
    assert forwarded_query("key=omo_secret&a=1&b=%6fmo_x&c=omo") == "a=1&c=omo"
    answered = {"Content-Type": "a/b", "Set-Cookie": "c", "X-Omoide-Memory": "1", "Date": "d"}
    assert returned(answered) == {"content-type": "a/b"}


@pytest.mark.parametrize("error", [httpx.ConnectError, httpx.ReadError])
async def test_what_kind_of_error_an_upstream_had_is_told(error: type[httpx.HTTPError]) -> None:
    """Its name alone: a message may have the URL with a password."""

    def fail(request: httpx.Request) -> httpx.Response:
        raise error("http://user:secret@host")

    upstream = HttpUpstream("http://127.0.0.1:9/v1", transport=httpx.MockTransport(fail))
    with pytest.raises(HttpProblem) as raised:
        async with upstream.send(UpstreamRequest(method="GET", path="/models")):
            pass
    assert raised.value.status == 502
    assert raised.value.detail.endswith(error.__name__)
    assert "secret" not in raised.value.detail
    await upstream.close()
