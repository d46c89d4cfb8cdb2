"""The TypeScript client: types made from the OpenAPI document, compiled, and run with Node against
`omoide serve`."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from pathlib import Path

import pytest

from omoide.server.keys import ApiKeys, Scope
from omoide.server.routes import document
from omoide.testing import FrozenClock
from omoide.testing.endpoint import FakeEndpoint, stream
from tests.integration.test_server_command import served
from tests.unit.fact_stories import CAT, add, answer

PACKAGE = Path(__file__).parents[2] / "packages/omoide-js"


async def run(folder: Path, *command: str, **variables: str) -> str:
    """What a command prints; it must succeed."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        env={**os.environ, **variables},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output = (await process.communicate())[0].decode()
    assert process.returncode == 0, output
    return output


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
async def test_the_client_is_built_and_talks_to_a_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of its own tests, with the AI SDK among them."""
    package = tmp_path / "js"
    built = shutil.ignore_patterns("node_modules", "dist", "openapi.json", "schema.ts")
    shutil.copytree(PACKAGE, package, ignore=built)
    (package / "openapi.json").write_text(json.dumps(document()))
    await run(package, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts")
    await run(package, "npm", "run", "build")
    keys = ApiKeys.for_file(tmp_path / "m.sqlite")
    made = keys.create(tenant="default", name="js", scopes=tuple(Scope), at=FrozenClock().now())
    for name, value in {"FORM": "small", "WRITER": "facts", "PROFILE": "large"}.items():
        monkeypatch.setenv(f"OMOIDE_{name}", value)
    facts = stream(answer(add(CAT)))
    async with (
        FakeEndpoint([facts], otherwise="I see you.") as endpoint,
        served(tmp_path, "--upstream", f"{endpoint.url}#fake-1", "--no-work") as (_, url),
    ):
        output = await run(package, "npm", "test", OMOIDE_URL=url, OMOIDE_SERVER_KEY=made.secret)
    assert "pass 8" in output


def test_no_registry_is_named() -> None:
    """There is no lock file, whose addresses would be those of somebody's registry."""
    assert not (PACKAGE / "package-lock.json").exists()
    assert "package-lock=false" in (PACKAGE / ".npmrc").read_text()
