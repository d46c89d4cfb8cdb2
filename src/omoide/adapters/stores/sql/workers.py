"""Names of workers: whether one that holds a job still runs."""

from __future__ import annotations

import os
import secrets
import socket
from contextlib import suppress
from pathlib import Path


def worker_name() -> str:
    """A name for this process that no other has, and that tells whether it still runs."""
    pid = os.getpid()
    return f"{_host()}:{pid}:{_started(pid)}:{secrets.token_hex(4)}"


def is_gone(worker: str) -> bool:
    """Whether that worker is known to run no more: of this host, and not among its processes.

    Anything in doubt counts as running; its lease will tell.
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


def _host() -> str:
    """This machine and, in containers, this set of process numbers."""
    space = ""
    with suppress(OSError):
        space = str(Path("/proc/self/ns/pid").stat().st_ino)
    return f"{socket.gethostname().replace(':', '-')}/{space}"


def _started(pid: int) -> str:
    """When the process began, in the kernel's ticks; empty where that cannot be known."""
    with suppress(OSError, IndexError):
        # The name in parentheses may itself hold spaces and parentheses.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return ""
