"""Worker names, which tell whether a worker process is still alive."""

from __future__ import annotations

import os
import secrets
import socket
from contextlib import suppress
from pathlib import Path

_ENDED = ("Z", "X")
"""States of a process that was killed and still has a number, see proc_pid_stat(5)."""


def worker_name() -> str:
    """A unique name for this process, from which `is_gone` can tell whether it still runs."""
    pid = os.getpid()
    return f"{_host()}:{pid}:{_started(pid)}:{secrets.token_hex(4)}"


def is_gone(worker: str) -> bool:
    """Whether that worker is known to be dead: it ran on this host and its process is gone.

    When in doubt it counts as alive; then its lease decides.
    """
    match worker.split(":"):
        case [host, pid, started, _] if host == _host() and pid.isdecimal() and os.name == "posix":
            try:
                os.kill(int(pid), 0)
            except (ProcessLookupError, OverflowError):
                return True
            except PermissionError:
                pass  # it runs, as another user
            return started != _started(int(pid))
        case _:
            return False


def describe_worker(worker: str) -> str:
    """Where a job runs, for a person who wonders: "process 1234", "process 1234 on HOST", or that
    it has ended. A worker that was named otherwise is called by its name."""
    match worker.split(":"):
        case [host, pid, _, _] if pid.isdecimal():
            if is_gone(worker):
                return f"process {pid}, which has ended"
            return f"process {pid}" if host == _host() else f"process {pid} on {host.split('/')[0]}"
        case _:
            return worker


def _host() -> str:
    """This host and, in containers, this PID namespace."""
    namespace = ""
    with suppress(OSError):
        namespace = str(Path("/proc/self/ns/pid").stat().st_ino)
    return f"{socket.gethostname().replace(':', '-')}/{namespace}"


def _started(pid: int) -> str:
    """When the process started, in kernel ticks; empty if unknown or if it has ended and only its
    parent was not told yet."""
    with suppress(OSError, IndexError):
        # The process name in parentheses may itself contain spaces and parentheses.
        state, *more = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "" if state in _ENDED else more[18]
    return ""
