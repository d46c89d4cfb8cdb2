"""The cache of weights: finds files, fetches missing ones, and trusts none without its SHA-256."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from omoide.adapters.models.digests import mark, sha256
from omoide.adapters.models.sources import (
    LEFTOVER,
    Job,
    Outside,
    SourceFailed,
    Stopped,
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

_SPARE = 200 * 1024 * 1024
"""Room beside the file itself: one wheel, and something for everybody else."""


class Cache:
    """A folder of weights. Several processes may use it at once.

    `offline` never leaves the machine. `outside`, `sleep` and `free` exist for tests.
    """

    def __init__(
        self,
        folder: Path,
        *,
        offline: bool = False,
        outside: Outside | None = None,
        sleep: Callable[[float], None] = time.sleep,
        free: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free,
    ) -> None:
        self.folder = folder
        self._offline = offline
        self._outside = outside or Outside(run=run_program)
        self._sleep = sleep
        self._free = free

    async def fetch(self, artifact: Artifact, *, progress: Progress | None = None) -> Path:
        """The path of the verified file, fetched first if need be. Raises `DownloadFailed`.
        Told of, from a thread: bytes that are here, bytes in all, and where they come from.

        Cancelling stops the transfer; what has come stays for the next try.
        """
        stop = threading.Event()
        try:
            return await asyncio.to_thread(self._fetch, artifact, progress, stop.is_set)
        except asyncio.CancelledError:
            stop.set()
            raise

    def find(self, artifact: Artifact) -> Path | None:
        """The path of the file if it is here and whole; hashed once, then known by its stamp."""
        path = self.folder / artifact.file
        if not path.is_file():
            return None
        seen, stamp = mark(path), path.with_name(path.name + ".ok")
        with suppress(OSError, ValueError):
            known = json.loads(stamp.read_text())
            if known in [{**seen, "sha256": digest} for digest in artifact.digests]:
                return path
        digest = sha256(path)
        if digest not in artifact.digests:
            return None
        with suppress(OSError):  # a read-only cache is hashed each time
            stamp.write_text(json.dumps({**seen, "sha256": digest}))
        return path

    def _fetch(
        self, artifact: Artifact, progress: Progress | None, stopped: Callable[[], bool]
    ) -> Path:
        if found := self.find(artifact):
            return found
        target = self.folder / artifact.file
        if self._offline:
            state = "damaged" if target.exists() else "not there"
            raise DownloadFailed(
                f"{target} is {state} and downloads are switched off; go online once, or put the "
                f"file with SHA-256 {artifact.sha256[:12]}… there"
            )
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with self._alone(target, stopped):
                return self.find(artifact) or self._pull(artifact, target, progress, stopped)
        except Stopped as error:
            raise DownloadFailed(f"the download of {artifact.file} was stopped") from error
        except OSError as error:
            raise DownloadFailed(
                f"{target} could not be written ({error}); make room, or choose another folder"
            ) from error

    def _pull(
        self,
        artifact: Artifact,
        target: Path,
        progress: Progress | None,
        stopped: Callable[[], bool],
    ) -> Path:
        """Try one source after the other."""
        failures: list[str] = []
        for source in artifact.sources:
            self._check_room(artifact, target)

            def report(done: int, source: str = str(source)) -> None:
                if progress is not None:
                    progress(done, artifact.size, source)

            job = Job(part=target, total=artifact.size, report=report, stopped=stopped)
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
                    stamp.write_text(json.dumps({**mark(target), "sha256": digest}))
                    for leftover in target.parent.glob(f"{target.name}.*{LEFTOVER}*"):
                        leftover.unlink()
                return target
            part.unlink()
            failures.append(
                f"{source}: wrong bytes (SHA-256 {digest[:12]}…, wanted {artifact.sha256[:12]}…)"
            )
        raise DownloadFailed(
            f"{artifact.file} could not be had. {'. '.join(failures)}. Check the network and try "
            f"again (what has come is kept), or put the file at {target}"
        )

    def _check_room(self, artifact: Artifact, target: Path) -> None:
        here = sum(p.stat().st_size for p in target.parent.glob(f"{target.name}.*"))
        needed = max(artifact.size - here, 0) + _SPARE
        if (free := self._free(target.parent)) < needed:
            raise DownloadFailed(
                f"{artifact.file} needs {needed / 1e9:.1f} GB in {target.parent}, "
                f"{free / 1e9:.1f} GB are free; make room, or choose another folder"
            )

    @contextmanager
    def _alone(self, target: Path, stopped: Callable[[], bool]) -> Iterator[None]:
        """Hold the file's lock, which the system lets go of even when a process dies."""
        with target.with_name(target.name + ".lock").open("ab") as lock:
            while not _try_lock(lock):
                if stopped():
                    raise Stopped
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
