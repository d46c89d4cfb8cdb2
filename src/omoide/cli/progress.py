"""A progress line on stderr, so that stdout stays clean."""

from __future__ import annotations

import sys

from omoide.cli.show import one_line


def bar(done: int, total: int, what: str) -> None:
    """Show how much of `what` is done; on a terminal the line is overwritten."""
    stream = sys.stderr
    finished = bool(total) and done >= total
    if stream.isatty():
        stream.write(f"\r{progress_line(done, total, what)} " + ("\n" if finished else ""))
        stream.flush()
    elif finished:
        stream.write(f"{progress_line(done, total, what)}\n")


def progress_line(done: int, total: int, what: str) -> str:
    """How much of it is done, in one line."""
    share = f"{100 * done // total:3d} %" if total else f"{done:,}"
    return f"{one_line(what, max_chars=60)} {share}"
