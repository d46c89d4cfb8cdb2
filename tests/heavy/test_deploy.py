"""The container files: their commands run, their probes answer, and they ask for no rights."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from omoide.errors import BadInput
from omoide.mechanisms.facts import profile_for
from omoide.server.keys import ApiKeys, Scope
from omoide.settings import Settings
from omoide.testing import FrozenClock

yaml = pytest.importorskip("yaml")

DEPLOY = Path(__file__).parents[2] / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
VALUES: dict[str, Any] = yaml.safe_load((DEPLOY / "helm/omoide/values.yaml").read_text())
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
COMMANDS = [
    *(("compose", name, COMPOSE["services"][name]["command"]) for name in ("server", "worker")),
    *(("helm", name, VALUES[name]["args"]) for name in ("server", "worker")),
    ("image", "server", json.loads(re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)[-1])),
]


@pytest.mark.parametrize("file", ["README.md", "compose.yaml"])
def test_the_small_model_of_the_example_is_asked_as_one(file: str) -> None:
    """Its name has its size, without which it counts as large."""
    [model] = re.findall(r"OMOIDE_MODEL=(http:\S+)", (DEPLOY / file).read_text())
    assert profile_for("auto", model=model, remote=True).name == "small"


@pytest.mark.parametrize(("where", "name", "command"), COMMANDS)
async def test_a_command_runs_and_stops(
    tmp_path: Path, where: str, name: str, command: list[str]
) -> None:
    """As the container would start it, but for the database and the port; a server is ready, and
    both stop when they are told to."""
    environment = {
        name_: str(tmp_path / "m.sqlite") if name_ == "OMOIDE_DB" else "http://127.0.0.1:9/v1#none"
        for name_ in COMPOSE["services"]["server"]["environment"]
        if name_ != "OMOIDE_API_KEY"
    }
    ApiKeys.for_file(tmp_path / "m.sqlite").create(
        tenant="default", name="app", scopes=[Scope.READ], at=FrozenClock().now()
    )
    port = ["--port", "0"] if name == "server" else []
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "omoide.cli", *command, *port),
        stderr=asyncio.subprocess.PIPE,
        cwd=tmp_path,
        env={**os.environ, **environment, "OMOIDE_EMBEDDER": "none"},
    )
    try:
        assert process.stderr is not None
        if name == "server":
            address = ""
            while not address:
                line = await process.stderr.readline()
                assert line, "it ended"
                address = json.loads(line).get("address", "")
            url = f"http://127.0.0.1:{address.rpartition(':')[2]}"
            async with httpx.AsyncClient() as client:
                for path in ("/healthz", "/readyz"):
                    assert (await client.get(f"{url}{path}")).status_code == 200
                assert (await client.get(f"{url}/api/users")).status_code == 401
        else:
            health = COMPOSE["services"]["worker"]["healthcheck"]["test"]
            assert health[:2] == ["CMD", "omoide"]
            check = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "omoide.cli", *health[2:]),
                env={**os.environ, **environment, "OMOIDE_EMBEDDER": "none"},
                stdout=asyncio.subprocess.DEVNULL,
            )
            assert await check.wait() == 0
            assert process.returncode is None
        process.send_signal(signal.SIGTERM)
        assert await process.wait() in (0, -signal.SIGTERM)  # it may be told before it listens
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def test_every_service_is_checked_and_has_no_rights() -> None:
    """Read-only root, no capabilities, no root user for our own; two of each."""
    for name, service in COMPOSE["services"].items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert "healthcheck" in service or "HEALTHCHECK" in DOCKERFILE, name
        if name != "db":
            assert service["user"] == "10001:10001"
            assert service["deploy"]["replicas"] == 2
    assert re.findall(r"^USER (.*)$", DOCKERFILE, re.MULTILINE) == ["10001"]
    pod = (DEPLOY / "helm/omoide/templates/_helpers.tpl").read_text()
    for wanted in ("runAsNonRoot: true", "readOnlyRootFilesystem: true", "drop: [ALL]"):
        assert wanted in pod


def test_a_service_named_omoide_sets_no_settings_in_the_pods() -> None:
    """Kubernetes names a service's address in variables such as `OMOIDE_PORT`, on which omoide,
    which knows no such setting, would not start."""
    with pytest.raises(BadInput, match="OMOIDE_PORT"):
        Settings.read({"OMOIDE_PORT": "tcp://10.0.0.1:8377"})
    pod = (DEPLOY / "helm/omoide/templates/_helpers.tpl").read_text()
    assert "\nenableServiceLinks: false\n" in pod


def test_a_database_that_is_being_created_is_not_healthy() -> None:
    """While its image runs the scripts of this folder, PostgreSQL listens at a socket only: what is
    asked there is answered before the role of omoide exists."""
    test = COMPOSE["services"]["db"]["healthcheck"]["test"]
    assert test[test.index("--host") + 1] == "127.0.0.1"


def test_a_template_names_only_values_that_exist() -> None:
    """`.Values.a.b` of every template is in values.yaml."""
    for template in sorted((DEPLOY / "helm/omoide/templates").iterdir()):
        for path in re.findall(r"\.Values\.([\w.]+)", template.read_text()):
            value: Any = VALUES
            for name in path.split("."):
                assert name in value, f"{template.name}: {path}"
                value = value[name]


def test_the_yaml_is_clean() -> None:
    """By yamllint's rules."""
    linter = pytest.importorskip("yamllint.linter")
    config = pytest.importorskip("yamllint.config")
    rules = config.YamlLintConfig(file=str(DEPLOY / ".yamllint"))
    for path in (DEPLOY / "compose.yaml", *(DEPLOY / "helm/omoide").glob("*.yaml")):
        assert [str(p) for p in linter.run(path.read_text(), rules)] == [], path.name
