"""Files of the hub, and model servers on this machine, against servers of our own."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from omoide.adapters.embedders import embedder_named, token_encoder_named
from omoide.adapters.embedders.onnx import OnnxEmbedder
from omoide.adapters.models.hub import Hub, parse
from omoide.adapters.models.local_servers import find_servers
from omoide.bootstrap import chat_model, local_servers
from omoide.bootstrap.models import weights_cache
from omoide.cli.choosing import choice_file, offer, with_choice
from omoide.cli.main import cli
from omoide.errors import DownloadFailed, UnknownModel
from omoide.mechanisms.facts.profiles import profile_for
from omoide.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from click.testing import Result

WEIGHTS = b"GGUF" + bytes(range(256)) * 400
SPEC = "hf:ann/Nice-3B-GGUF/nice-3b-q4_k_m.gguf"


class FakeHub:
    """A hub with one file. `breaks` is after how many bytes the next download breaks off."""

    def __init__(self) -> None:
        self.content = WEIGHTS
        self.hashed = True
        self.breaks = 0
        self.asked: list[str] = []
        self.url = ""

    def handler(self) -> type[BaseHTTPRequestHandler]:
        """The server's part."""
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
                """Nothing."""

            def do_HEAD(self) -> None:
                """Where a file is, with its size and hash."""
                hub.asked.append(f"HEAD {self.path}")
                self.found()

            def do_GET(self) -> None:
                """The description, the redirect, or bytes of the file."""
                hub.asked.append(f"GET {self.path} {self.headers.get('Range', '')}".strip())
                if self.path.startswith("/api/models/ann/Nice-3B-GGUF"):
                    return self.send(json.dumps({"cardData": {"license": "apache-2.0"}}).encode())
                if self.path.startswith("/cdn/"):
                    return self.send_file()
                return self.found()

            def found(self) -> None:
                """The redirect of a hub."""
                known = "/ann/Nice-3B-GGUF/resolve/" in self.path
                self.send_response(302 if known else 404)
                if known:
                    self.send_header("Location", f"{hub.url}/cdn/file")
                    self.send_header("X-Linked-Size", str(len(hub.content)))
                    self.send_header("X-Repo-Commit", "c0ffee")
                    digest = hashlib.sha256(hub.content).hexdigest()
                    self.send_header("X-Linked-Etag", f'"{digest}"' if hub.hashed else '"1"')
                self.send_header("Content-Length", "0")
                self.end_headers()

            def send_file(self) -> None:
                """The file, from where it is wanted."""
                wanted = self.headers.get("Range", "bytes=0-")
                start = int(wanted.removeprefix("bytes=").partition("-")[0])
                rest = hub.content[start:]
                self.send_response(206 if start else 200)
                self.send_header("Content-Length", str(len(rest)))
                self.end_headers()
                broken, hub.breaks = hub.breaks, 0
                self.wfile.write(rest[:broken] if broken else rest)
                if broken:
                    self.close_connection = True

            def send(self, content: bytes) -> None:
                """An answer."""
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        return Handler


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """A server on a free port of this machine; its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    """A hub that is running."""
    made = FakeHub()
    with serving(made.handler()) as url:
        made.url = url
        yield made


@pytest.fixture
def run(hub: FakeHub, tmp_path: Path) -> Callable[..., Result]:
    """Runs `omoide` with that hub."""

    def run(*args: str, **env: str) -> Result:
        own = {"OMOIDE_HUB": hub.url, "OMOIDE_WEIGHTS_DIR": str(tmp_path)}
        return CliRunner().invoke(cli, args, env={**own, "OMOIDE_LOCAL_SERVERS": "none", **env})

    return run


def test_a_file_is_fetched_listed_and_removed(
    hub: FakeHub, run: Callable[..., Result], tmp_path: Path
) -> None:
    """Size and licence are shown first; the second use asks nobody; nothing is left afterwards."""
    pulled = run("models", "pull", SPEC)
    assert pulled.exit_code == 0, pulled.output
    assert "0.0 GB, licence apache-2.0, SHA-256" in pulled.stderr
    path = tmp_path / "hub/ann--Nice-3B-GGUF/nice-3b-q4_k_m.gguf"
    assert pulled.stdout.strip() == str(path)
    assert path.read_bytes() == WEIGHTS
    assert "GET /ann/Nice-3B-GGUF/resolve/c0ffee/nice-3b-q4_k_m.gguf" in hub.asked
    hub.asked.clear()
    assert run("models", "pull", SPEC, OMOIDE_OFFLINE="1").exit_code == 0
    assert hub.asked == []
    (mine,) = [m for m in listed(run) if m["name"] == SPEC]
    assert mine["here"]
    assert mine["licence"] == "apache-2.0"
    assert "is removed" in run("models", "remove", SPEC).stdout
    assert [p for p in path.parent.iterdir() if p.is_file()] == []
    assert not [m for m in listed(run) if m["name"] == SPEC]
    assert "was not here" in run("models", "remove", SPEC).stdout


def listed(run: Callable[..., Result]) -> list[dict[str, object]]:
    """The models that are listed."""
    models: list[dict[str, object]] = json.loads(run("models", "list", "--json").stdout)["models"]
    return models


def test_a_broken_download_is_resumed(hub: FakeHub, run: Callable[..., Result]) -> None:
    """Only the missing bytes are asked for."""
    hub.breaks = 1000
    assert run("models", "pull", SPEC).exit_code == 0
    assert "GET /cdn/file bytes=1000-" in hub.asked


def test_a_file_that_changed_at_the_hub_is_refused(
    hub: FakeHub, run: Callable[..., Result], tmp_path: Path
) -> None:
    """The hash of the first use counts, until the model is removed."""
    assert run("models", "pull", SPEC).exit_code == 0
    (tmp_path / "hub/ann--Nice-3B-GGUF/nice-3b-q4_k_m.gguf").unlink()
    hub.content = b"GGUF something else"
    again = run("models", "pull", SPEC)
    assert again.exit_code == 1
    assert "wrong file" in again.stderr
    run("models", "remove", SPEC)
    assert run("models", "pull", SPEC).exit_code == 0


def test_another_revision_is_another_file(
    hub: FakeHub, run: Callable[..., Result], tmp_path: Path
) -> None:
    """The one that is named is fetched, also if another one is here, which stays as it is."""
    assert run("models", "pull", SPEC).exit_code == 0
    hub.content = b"GGUF of the second revision"
    newer = run("models", "pull", f"{SPEC}@v2")
    assert newer.exit_code == 0, newer.output
    assert Path(newer.stdout.strip()).read_bytes() == hub.content
    assert (tmp_path / "hub/ann--Nice-3B-GGUF/nice-3b-q4_k_m.gguf").read_bytes() == WEIGHTS
    assert {SPEC, f"{SPEC}@v2"} <= {model["name"] for model in listed(run)}
    assert "is removed" in run("models", "remove", f"{SPEC}@v2").stdout
    assert run("models", "pull", SPEC, OMOIDE_OFFLINE="1").exit_code == 0


@pytest.mark.parametrize(
    "spec",
    ["hf:ann/file.gguf", "hf:ann/../x.gguf", "hf:a/b/c.bin", "hf:a/b/c.gguf@x/y", "hf:a/b/.gguf"],
)
def test_what_names_no_file_is_refused(spec: str) -> None:
    """Before anything is asked for, and never as a path out of the folder."""
    with pytest.raises(UnknownModel, match="OWNER/REPOSITORY/FILE"):
        parse(spec)


def test_what_the_hub_cannot_vouch_for_is_refused(hub: FakeHub, tmp_path: Path) -> None:
    """An unknown file, a file without a hash, no hub, and a first use offline."""
    asked = Hub(tmp_path, host=hub.url)
    with pytest.raises(DownloadFailed, match="no public file"):
        asked.pin(parse("hf:bob/None/x.gguf"))
    hub.hashed = False
    with pytest.raises(DownloadFailed, match="no SHA-256"):
        asked.pin(parse(SPEC))
    with pytest.raises(DownloadFailed, match="could not be asked"):
        Hub(tmp_path, host="http://127.0.0.1:9").pin(parse(SPEC))
    with pytest.raises(DownloadFailed, match="go online once"):
        Hub(tmp_path, host=hub.url, offline=True).pin(parse(SPEC))
    assert asked.pins() == []


async def test_progress_reaches_its_end_only_when_verified(hub: FakeHub, tmp_path: Path) -> None:
    """The last step comes after the hash was checked, and never for a wrong file."""
    settings = Settings(hub=hub.url, weights_dir=tmp_path)
    asked = Hub(tmp_path, host=hub.url)
    model = parse(SPEC)
    artifact = asked.artifact(model, asked.pin(model))
    seen: list[int] = []

    def note(done: int, total: int, what: str) -> None:
        assert total == len(WEIGHTS)
        assert (done == total) is (tmp_path / model.file).exists()
        seen.append(done)

    hub.content = WEIGHTS[::-1]
    with pytest.raises(DownloadFailed, match="wrong file"):
        await weights_cache(settings).fetch(artifact, progress=note)
    assert len(WEIGHTS) not in seen
    hub.content = WEIGHTS
    await weights_cache(settings).fetch(artifact, progress=note)
    assert seen[-1] == len(WEIGHTS)


async def test_the_weights_of_an_embedder_come_from_the_hub_that_is_named(
    hub: FakeHub, tmp_path: Path
) -> None:
    """As those of a chat model do, where only a mirror can be reached."""
    settings = Settings(hub=f"{hub.url}/", weights_dir=tmp_path, embedder="minilm")
    asked, model = Hub(tmp_path, host=hub.url), parse(SPEC)
    artifact = asked.artifact(model, asked.pin(model))
    embedder, tokens = embedder_named(settings), token_encoder_named("gte-small", settings)
    assert isinstance(embedder, OnnxEmbedder)
    for cache in (embedder._cache, tokens._cache):
        path = await cache.fetch(artifact)
        assert path.read_bytes() == WEIGHTS
        path.unlink()


def test_a_model_of_the_hub_is_named_after_its_file(hub: FakeHub, tmp_path: Path) -> None:
    """Its size in the name decides its profile; nothing is downloaded for that."""
    settings = Settings(hub=hub.url, weights_dir=tmp_path)
    assert chat_model(settings, SPEC).name == "nice-3b-q4_k_m"
    assert chat_model(settings, "7b").name == "qwen2.5-7b-instruct-q4_k_m"
    assert profile_for("auto", model="qwen2.5-7b-instruct-q4_k_m", remote=False).name == "large"
    assert hub.asked == []


# ── Servers on this machine ─────────────────────────────────────────────────────────────────


def answering(answers: dict[str, object]) -> type[BaseHTTPRequestHandler]:
    """A server that knows these paths."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            """Nothing."""

        def do_GET(self) -> None:
            """JSON, or 404."""
            content = json.dumps(answers.get(self.path, {})).encode()
            self.send_response(200 if self.path in answers else 404)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    return Handler


def models(*names: str, owner: str = "") -> dict[str, object]:
    """A list of models as servers give it."""
    return {"data": [{"id": name, "object": "model", "owned_by": owner} for name in names]}


OLLAMA = {
    "/v1/models": models("llama3.1:8b", "nomic-embed-text:latest", owner="library"),
    "/api/tags": {"models": []},
}
STUDIO = {"/v1/models": models("qwen2.5-7b-instruct"), "/api/v0/models": {"data": []}}


async def test_servers_are_found_and_named() -> None:
    """Each by what it answers; what is no model server, does not answer, or is ours is left out."""
    with (
        serving(answering(OLLAMA)) as ollama,
        serving(answering(STUDIO)) as studio,
        serving(answering({"/v1/models": models("m.gguf", owner="llamacpp")})) as llama,
        serving(answering({"/v1/models": models("org/m", owner="vllm")})) as vllm,
        serving(answering({"/v1/models": models("m", owner="omoide")})) as ours,
        serving(answering({"/v1/models": ["nonsense"]})) as other,
        serving(answering({"/v1/models": {"data": 5}})) as number,
    ):
        base = f"{vllm}/v1"  # as `OMOIDE_MODEL` has it
        asked = (ollama, studio, llama, base, ours, other, number, "http://127.0.0.1:9")
        found = await local_servers(Settings(local_servers=asked))
    assert [server.kind for server in found] == ["Ollama", "LM Studio", "llama.cpp", "vLLM"]
    assert found[0].specs == (f"{ollama}/v1#llama3.1:8b",)
    assert profile_for("auto", model=found[0].specs[0], remote=True).name == "large"


async def test_other_machines_are_not_asked() -> None:
    """Nor is anything with `none`."""
    assert await find_servers(["http://192.0.2.1:11434", "http://[", "none"]) == ()


def test_the_first_start_offers_and_keeps_the_choice(tmp_path: Path) -> None:
    """One key press; any other key keeps the embedded model; the answer holds for all commands."""
    settings = Settings(db=tmp_path / "m.sqlite")
    with serving(answering(OLLAMA)) as ollama:
        servers = asyncio.run(find_servers([ollama]))
    chosen = offer(settings, servers, key=lambda: "1")
    assert chosen.model == f"{ollama}/v1#llama3.1:8b"
    assert chosen.effective_reply_form == "chat"
    assert with_choice(settings).model == chosen.model
    assert offer(settings, servers, key=lambda: "\r").model == "default"
    assert with_choice(settings).model == "default"
    assert choice_file(settings) == tmp_path / "m.sqlite.model"


def test_servers_are_listed_and_never_offered_to_a_pipe(tmp_path: Path) -> None:
    """`models list` shows how to use them; a piped chat asks nothing."""
    with serving(answering(OLLAMA)) as ollama:
        env = {"OMOIDE_LOCAL_SERVERS": ollama, "OMOIDE_WEIGHTS_DIR": str(tmp_path)}
        shown = CliRunner().invoke(cli, ["models", "list"], env=env).stdout
        assert f"--model {ollama}/v1#llama3.1:8b" in shown
        advised = CliRunner().invoke(cli, ["models", "recommend"], env=env).stdout
        assert "Ollama is running here" in advised
        piped = CliRunner().invoke(
            cli, ["--db", str(tmp_path / "m.sqlite"), "chat"], input="", env=env
        )
    assert piped.exit_code == 0, piped.output
    assert "Press a key" not in piped.output
    assert not (tmp_path / "m.sqlite.model").exists()
