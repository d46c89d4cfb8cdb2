"""Who gets in: keys, scopes, tenants, limits, and names that only look local."""

from __future__ import annotations

import json
import re
import stat
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from click.testing import CliRunner

from omoide import server
from omoide.cli.main import cli
from omoide.cli.scope import Outside
from omoide.domain import Speaker
from omoide.engine.messages import Utterance
from omoide.errors import BadInput, StoreError
from omoide.mechanisms.facts.repeats import fact_id
from omoide.server.access import RateLimiter
from omoide.server.keys import ApiKeys, Scope
from omoide.server.options import Options, check_address, is_loopback
from omoide.server.routes import ROUTES
from omoide.testing import FrozenClock

from .serving import M1, Bench, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import httpx

    from omoide.server.endpoint import RouteSpec

NOW = FrozenClock().now()
FACT = fact_id(1, "user", M1)
"""The fact of the others."""
BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": [{"role": "user", "content": "My cat?"}]},
    "/v1/embeddings": {"input": "x"},
    "/v1/responses": {"input": "My cat?"},
    "/v1/conversations": {},
    "/v1/conversations/{conversation_id}/items": {"items": []},
    "/v1/completions": {"prompt": "My cat?"},
    "/v1/messages": {"messages": [{"role": "user", "content": "My cat?"}], "max_tokens": 9},
    "/v1/messages/count_tokens": {"messages": [{"role": "user", "content": "My cat?"}]},
    "/api/chat": {"model": "m", "messages": [{"role": "user", "content": "My cat?"}]},
    "/api/generate": {"model": "m", "prompt": "My cat?"},
    "/api/embed": {"model": "m", "input": "x"},
    "/api/turns": {"turns": [{"speaker": "user", "text": "My cat?"}]},
    "/api/recall": {"query": "cat Miso"},
    "/api/reply": {"text": "My cat?"},
    "/api/sessions/end": {},
    "/api/jobs/retry": {},
    "/api/memory/rollback": {"version": 0},
    "/api/memory/amend": {"sentence": "The user is here.", "text": "The user is there."},
    "/api/explain": {"text": "cat Miso"},
    "/api/memory/tool": {"command": "view", "path": "/memories"},
    "/api/demo": {},
    "/api/presets": {"preset": "hou2024"},
    "/api/erase": {"all": True},
    "/api/facts": {"id": FACT, "pinned": True},
    "/api/facts/correct": {"id": FACT, "text": "The user is there."},
    "/api/context": {"text": "My cat?"},
    "/api/exchanges": {"text": "My cat?"},
    "/api/exchanges/finish": {"turn": "0" * 32, "text": "I see."},
    "/api/jobs/run": {},
    "/api/sessions/end-idle": {},
    "/api/events/calibrate": {},
    "/api/import/conversations": {
        "digest": False,
        "conversations": [
            {"key": "c", "messages": [{"id": "m", "speaker": "user", "text": "I fly to Kyoto."}]}
        ],
    },
    "/api/import/memories": {
        "source": "mem0",
        "facts": [{"id": "f", "text": "The user lives in Bonn."}],
        "kept": [{"key": "k", "text": "{}", "what": "a relation"}],
    },
    "/api/restore": {
        "records": [{"kind": "header", "format": "omoide", "schema": 3, "user": "x", "records": {}}]
    },
    "/api/jobs/digest": {"session": 1},
    "/api/jobs/embed": {},
    "/api/notes": {"kind": "app.taste", "key": "colour", "text": "green"},
    "/api/memory/files/restore": {"path": "/memories/notes.md", "version": 1},
    "/api/notes/remove": {"kind": "app.taste"},
    "/api/receipts/check": {
        "format": 1,
        "id": "r",
        "time": NOW.isoformat(),
        "tenant": "theirs",
        "user": "ana",
        "scope": "user",
        "removed": {},
        "searched": {},
        "found": [],
        "pending": False,
        "written_by": "omoide",
        "signature": "0" * 64,
    },
    "/api/sessions": {"session": 1, "title": "Cats"},
    "/api/import": {
        "digest": False,
        "conversations": [
            {
                "uuid": "c1",
                "name": "A trip",
                "chat_messages": [{"uuid": "m1", "sender": "human", "text": "I fly to Kyoto."}],
            }
        ],
    },
}
GUARDED = [row for row in ROUTES if row.needs is not None]


def name(row: RouteSpec) -> str:
    """What the case is called."""
    return f"{row.method} {row.path}"


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """A running server."""
    async with serving(tmp_path, options=Options(rate=0)) as bench:
        yield bench


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Bench]:
    """A running server for cases that are all refused, so that none can change it for the next."""
    async with serving(tmp_path_factory.mktemp("shared"), options=Options(rate=0)) as bench:
        yield bench


async def ask(bench: Bench, row: RouteSpec, headers: dict[str, str]) -> httpx.Response:
    """Call a row about ana. What it would have to name in its path does not exist."""
    path = re.sub("{[a-z_]+}", "resp_" + "0" * 48, row.path)
    if not row.takes:
        params = {"user": "ana"} if row.user else {}
        if row.method == "DELETE" and row.path == "/api/facts":
            params["id"] = FACT
        return await bench.client.request(row.method, path, params=params, headers=headers)
    sent = {**headers, "X-Omoide-User": "ana"}
    return await bench.client.request(row.method, path, json=BODIES[row.path], headers=sent)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("row", GUARDED, ids=name)
async def test_every_route_wants_a_key_with_its_scopes(shared: Bench, row: RouteSpec) -> None:
    """No key, a wrong one, a revoked one, and one with all scopes but one that is needed."""
    assert row.needs
    bench = shared
    good = bench.key("t")
    secret = good["Authorization"]
    for bad in ({}, {"Authorization": secret[:-1]}, {"Authorization": f"Basic {secret[7:]}"}):
        refused = await ask(bench, row, bad)
        assert refused.status_code == 401
        assert "Bearer" in refused.headers["www-authenticate"]
    for missing in row.needs:
        rest = [scope for scope in Scope if scope is not missing]
        refused = await ask(bench, row, bench.key("t", *rest))
        assert refused.status_code == 403
        assert missing in refused.text
    bench.keys.revoke(secret.split()[1], at=NOW)
    assert (await ask(bench, row, good)).status_code == 401
    assert bench.upstairs.requests == []


async def test_every_status_is_one_that_the_schema_names(bench: Bench) -> None:
    """Also where what the path or the body names does not exist."""
    described = (await bench.client.get("/openapi.json")).json()["paths"]
    key = bench.key("t")
    for row in ROUTES:
        response = await ask(bench, row, key)
        named = described[row.path][row.method.lower()]["responses"]
        assert str(response.status_code) in named, f"{name(row)}: {response.text}"


async def test_a_route_about_a_user_refuses_to_guess_whom(bench: Bench) -> None:
    """Nobody else's memory is used if nobody is named, and the schema names that refusal, as it
    does for a body that is no JSON."""
    described = (await bench.client.get("/openapi.json")).json()["paths"]
    key = bench.key("t")
    for row in ROUTES:
        path = re.sub("{[a-z_]+}", "resp_" + "0" * 48, row.path)
        if row.takes:
            sent = {**key, "Content-Type": "application/json", "X-Omoide-User": "ana"}
            refused = await bench.client.request(row.method, path, content=b"{", headers=sent)
        elif row.user:
            refused = await bench.client.request(row.method, path, headers=key)
        else:
            continue
        named = described[row.path][row.method.lower()]["responses"]
        assert refused.status_code in (400, 422), name(row)
        assert str(refused.status_code) in named, name(row)


async def test_open_routes_need_no_key(bench: Bench) -> None:
    """A load balancer has none."""
    bench.key()
    for path in ("/healthz", "/readyz", "/openapi.json"):
        assert (await bench.client.get(path)).status_code == 200


async def test_revoking_the_last_key_does_not_open_the_door(bench: Bench) -> None:
    """Nobody is let in rather than everybody."""
    made = bench.keys.create(tenant="t", name="k", scopes=[Scope.READ], at=NOW)
    bench.keys.revoke(made.key.prefix, at=NOW)
    assert (await bench.client.get("/api/users")).status_code == 401


async def test_a_web_page_cannot_reach_a_keyless_server_by_a_name_of_its_own(bench: Bench) -> None:
    """DNS rebinding: the browser thinks it talks to evil.example."""
    for host, status in (
        ("evil.example", 403),
        ("evil.example:8377", 403),
        ("localhost:8377", 200),
        ("[::1]:8377", 200),
        ("127.0.0.1", 200),
    ):
        response = await bench.client.get("/api/users", headers={"Host": host})
        assert response.status_code == status, host


async def test_a_form_cannot_write(bench: Bench) -> None:
    """A page may send plain text across origins without asking; that is not taken."""
    response = await bench.client.post(
        "/api/erase?user=ana", content=b'{"all":true}', headers={"Content-Type": "text/plain"}
    )
    assert response.status_code == 415


async def test_cors_is_off_unless_an_origin_is_named(tmp_path: Path, bench: Bench) -> None:
    """A page elsewhere is told nothing; a named one may read our headers."""
    origin = {"Origin": "https://app.example"}
    assert (
        "access-control-allow-origin"
        not in (await bench.client.get("/healthz", headers=origin)).headers
    )
    async with serving(tmp_path, options=Options(cors=("https://app.example",))) as open_:
        told = (await open_.client.get("/healthz", headers=origin)).headers
        assert told["access-control-allow-origin"] == "https://app.example"
        assert "X-Omoide-Recalled" in told["access-control-expose-headers"]
        other = await open_.client.get("/healthz", headers={"Origin": "https://evil.example"})
        assert "access-control-allow-origin" not in other.headers


async def test_each_key_has_its_own_rate(tmp_path: Path) -> None:
    """A tenth of a minute's worth at once; then 429, with how long to wait."""
    async with serving(tmp_path, options=Options(rate=20)) as bench:
        first, second = bench.key("a"), bench.key("b")
        codes = [(await bench.client.get("/api/users", headers=first)).status_code for _ in "123"]
        assert codes == [200, 200, 429]
        refused = await bench.client.get("/v1/models", headers=first)
        assert refused.status_code == 429
        assert refused.json()["error"]["type"] == "rate_limit_error"
        assert 1 <= int(refused.headers["retry-after"]) <= 3
        assert (await bench.client.get("/api/users", headers=second)).status_code == 200


def test_a_bucket_fills_again() -> None:
    """Steadily, up to its size."""
    time = [0.0]
    buckets = RateLimiter(60, now=lambda: time[0])
    assert [buckets.try_acquire("k") for _ in range(7)] == [0] * 6 + [1]
    time[0] = 2.0
    assert [buckets.try_acquire("k") for _ in range(3)] == [0, 0, 1]
    time[0] = 1000.0
    assert [buckets.try_acquire("k") for _ in range(7)] == [0] * 6 + [1]


async def test_too_large_a_request_is_refused(tmp_path: Path) -> None:
    """By its header, or as soon as too much has come."""

    async def drops() -> AsyncIterator[bytes]:
        for _ in range(9):
            yield b"x" * 50

    headers = {"Content-Type": "application/json"}
    async with serving(tmp_path, options=Options(max_body=100)) as bench:
        told = await bench.client.post("/api/turns", content=b"x" * 101, headers=headers)
        untold = await bench.client.post("/v1/embeddings", content=drops(), headers=headers)
    assert (told.status_code, untold.status_code) == (413, 413)
    assert told.headers["content-type"] == "application/problem+json"
    assert "error" in untold.json()


def test_a_key_is_kept_as_a_hash_and_shown_by_its_prefix(tmp_path: Path) -> None:
    """The file holds nothing that opens the door, and is its owner's alone."""
    path = tmp_path / "keys"
    keys = ApiKeys(path)
    made = keys.create(tenant="t", name="phone", scopes=[Scope.READ], at=NOW)
    assert made.secret.startswith(f"{made.key.prefix}_")
    secret = made.secret.removeprefix(f"{made.key.prefix}_")  # which may hold a "_" itself
    assert len(secret) > 40
    assert secret.encode() not in path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert ApiKeys(path).find(made.secret) == made.key
    assert ApiKeys(path).find(made.secret.replace("omo_", "omo_0")) is None
    assert repr(made.key).count(made.secret) == 0


def test_a_revoked_key_counts_no_more_for_whoever_has_the_file_open(tmp_path: Path) -> None:
    """The command and the server are two processes."""
    server, command = ApiKeys(tmp_path / "keys"), ApiKeys(tmp_path / "keys")
    made = command.create(tenant="t", name="k", scopes=[Scope.READ], at=NOW)
    assert server.find(made.secret)
    command.revoke(made.key.prefix, at=NOW)
    assert server.find(made.secret) is None
    with pytest.raises(BadInput, match="no key"):
        command.revoke("omo_0000000000", at=NOW)


def test_a_damaged_key_file_lets_nobody_in(tmp_path: Path) -> None:
    """It is an error, not an empty list."""
    (tmp_path / "keys").write_bytes(b"not a database, but long enough to be one" * 100)
    with pytest.raises(StoreError):
        ApiKeys(tmp_path / "keys").any()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "my-laptop", ""])  # noqa: S104
def test_an_open_address_without_keys_is_refused(tmp_path: Path, host: str) -> None:
    """With what to do about it."""
    keys = ApiKeys(tmp_path / "keys")
    with pytest.raises(BadInput, match="omoide keys create"):
        check_address(Options(host=host), keys)
    keys.create(tenant="t", name="k", scopes=[Scope.READ], at=NOW)
    check_address(Options(host=host), keys)


def test_loopback_is_this_machine() -> None:
    """By number or by the one name that cannot lead elsewhere."""
    assert all(map(is_loopback, ("127.0.0.1", "127.8.8.8", "::1", "[::1]", "LOCALHOST")))
    assert not any(map(is_loopback, ("localhost.evil.example", "10.0.0.1", "1")))


def test_keys_are_made_listed_and_revoked_by_command(tmp_path: Path) -> None:
    """The secret is printed once, alone, so that it can be piped."""

    def run(*args: str) -> str:
        result = CliRunner().invoke(
            cli,
            ["--db", str(tmp_path / "m.sqlite"), *args],
            obj=Outside(open=None, clock=FrozenClock()),  # type: ignore[arg-type]
        )
        assert result.exit_code == 0, result.output
        return result.stdout

    assert "There are no keys" in run("keys", "list")
    secret = run("--tenant", "acme", "keys", "create", "phone", "--scope", "read").strip()
    key = ApiKeys.for_file(tmp_path / "m.sqlite").find(secret)
    assert key
    assert (key.tenant, key.scopes) == ("acme", frozenset({Scope.READ}))
    listed = run("keys", "list")
    assert key.prefix in listed
    assert secret not in listed
    assert "revoked" in run("keys", "revoke", key.prefix)
    assert json.loads(run("keys", "list", "--json"))[0]["revoked"]


def test_serving_an_open_address_without_keys_is_refused(tmp_path: Path) -> None:
    """The command says so on one line and opens nothing."""
    db = tmp_path / "m.sqlite"
    result = CliRunner().invoke(cli, ["--db", str(db), "serve", "--host", "0.0.0.0"])  # noqa: S104
    assert result.exit_code == 1
    assert "omoide keys create" in result.stderr
    assert not db.exists()


async def test_a_tenants_background_work_is_its_own(bench: Bench) -> None:
    """Both digest with the one model, each into its own memory."""
    for tenant in ("a", "b"):
        memory = bench.memory(tenant)
        said = [Utterance(speaker=Speaker.USER, text=f"I live in {tenant}town with my cat.")]
        await memory.record("ana", said)
        bench.iterator.answers.append(f"The user lives in {tenant}town with a cat.")
        await memory.end_session("ana")
        await memory.run_jobs()
    texts = [(await bench.memory(tenant).summary("ana")).text for tenant in ("a", "b")]
    assert texts == ["The user lives in atown with a cat.", "The user lives in btown with a cat."]


def test_every_public_name_of_the_server_can_be_imported() -> None:
    """The names are imported late, by a table that must not miss any."""
    assert all(getattr(server, name).__name__ == name for name in server.__all__)
