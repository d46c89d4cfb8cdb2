"""Which scopes each route needs, by hand: the table under test must not vouch for itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omoide.server.keys import ApiKeys, Scope
from omoide.server.options import Options
from omoide.server.routes import ROUTES

from .serving import serving

if TYPE_CHECKING:
    from pathlib import Path

SCOPES = {
    "POST /v1/chat/completions": "read write",
    "GET /v1/models": "read",
    "POST /v1/embeddings": "write",
    "POST /v1/responses": "read write",
    "GET /v1/responses/{response_id}": "read",
    "DELETE /v1/responses/{response_id}": "write",
    "GET /v1/responses/{response_id}/input_items": "read",
    "POST /v1/conversations": "write",
    "GET /v1/conversations/{conversation_id}": "read",
    "DELETE /v1/conversations/{conversation_id}": "write",
    "GET /v1/conversations/{conversation_id}/items": "read",
    "POST /v1/conversations/{conversation_id}/items": "write",
    "POST /v1/completions": "read write",
    "POST /v1/messages": "read write",
    "POST /v1/messages/count_tokens": "read",
    "POST /api/chat": "read write",
    "POST /api/generate": "read write",
    "GET /api/tags": "read",
    "POST /api/embed": "write",
    "GET /api/version": "",
    "POST /api/turns": "write",
    "POST /api/recall": "read",
    "POST /api/reply": "read write",
    "POST /api/sessions/end": "write",
    "POST /api/jobs/retry": "write",
    "POST /api/memory/rollback": "write",
    "POST /api/memory/amend": "write",
    "POST /api/memory/tool": "read write",
    "POST /api/demo": "write",
    "POST /api/erase": "admin",
    "POST /api/context": "read",
    "POST /api/exchanges": "read write",
    "POST /api/exchanges/finish": "write",
    "POST /api/jobs/run": "write",
    "POST /api/jobs/digest": "write",
    "POST /api/jobs/embed": "write",
    "GET /api/memory/files": "read",
    "POST /api/memory/files/restore": "read write",
    "GET /api/notes": "read",
    "POST /api/notes": "write",
    "POST /api/notes/remove": "write",
    "GET /api/calls": "read",
    "POST /api/receipts/check": "read",
    "GET /api/turns": "read",
    "GET /api/sessions": "read",
    "PATCH /api/sessions": "write",
    "POST /api/import": "write",
    "POST /api/import/conversations": "write",
    "POST /api/import/memories": "write",
    "POST /api/restore": "admin",
    "POST /api/sessions/end-idle": "write",
    "POST /api/events/calibrate": "write",
    "GET /api/memory": "read",
    "GET /api/memory/versions": "read",
    "GET /api/memory/diff": "read",
    "GET /api/memory/why": "read",
    "GET /api/memory/rejected": "read",
    "GET /api/export": "read",
    "GET /api/cost": "read",
    "GET /api/jobs": "read",
    "GET /api/users": "read",
    "GET /api/about": "read",
    "GET /api/presets": "read",
    "PATCH /api/presets": "write",
    "GET /api/sessions/latest": "read",
    "GET /api/memos": "read",
    "GET /api/events": "read",
    "GET /api/events/curves": "read",
    "GET /api/latest": "read",
    "POST /api/explain": "read",
    "GET /api/facts": "read",
    "GET /api/facts/timeline": "read",
    "PATCH /api/facts": "write",
    "POST /api/facts/correct": "write",
    "DELETE /api/facts": "admin",
    "GET /healthz": "",
    "GET /readyz": "",
    "GET /metrics": "admin",
    "GET /openapi.json": "",
}
"""The scopes of an API key that each route asks for; none for those that anyone may call."""


def test_every_route_needs_the_scopes_that_it_should() -> None:
    """A new route has to be put into the table, by someone who thought about it."""
    assert {
        f"{row.method} {row.path}": " ".join(sorted(row.needs or ())) for row in ROUTES
    } == SCOPES


@pytest.mark.parametrize(
    ("method", "path", "scopes", "status"),
    [
        ("POST", "/api/erase", (Scope.READ, Scope.WRITE), 403),
        ("POST", "/api/erase", (Scope.ADMIN,), 200),
        ("GET", "/metrics", (Scope.READ, Scope.WRITE), 403),
        ("GET", "/metrics", (Scope.ADMIN,), 200),
    ],
)
async def test_only_an_admin_key_erases_and_reads_metrics(
    tmp_path: Path, method: str, path: str, scopes: tuple[Scope, ...], status: int
) -> None:
    """Whoever may write a memory may not therefore remove it."""
    async with serving(tmp_path) as bench:
        headers = {**bench.key("t", *scopes), "X-Omoide-User": "ana"}
        body = {"all": True} if method == "POST" else None
        response = await bench.client.request(method, path, json=body, headers=headers)
        assert response.status_code == status


async def test_one_key_does_not_use_up_the_requests_of_another(tmp_path: Path) -> None:
    """The limit is for each key, also within one tenant."""
    async with serving(tmp_path, options=Options(rate=10)) as bench:
        busy, quiet = bench.key("t"), bench.key("t")
        statuses = [
            (await bench.client.get("/api/users", headers=busy)).status_code for _ in range(3)
        ]
        assert statuses[-1] == 429
        assert (await bench.client.get("/api/users", headers=quiet)).status_code == 200


def test_a_key_whose_secret_has_an_underscore_is_found(tmp_path: Path) -> None:
    """A secret may hold the character that separates it from its prefix."""
    keys = ApiKeys(tmp_path / "keys")
    from datetime import UTC, datetime

    for _ in range(64):  # about half of all secrets have one
        made = keys.create(
            tenant="t", name="k", scopes=[Scope.READ], at=datetime(2026, 1, 1, tzinfo=UTC)
        )
        if "_" in made.secret.removeprefix(f"{made.key.prefix}_"):
            assert keys.find(made.secret) == made.key
            return
    pytest.fail("none of 64 secrets has an underscore: they are made differently now")
