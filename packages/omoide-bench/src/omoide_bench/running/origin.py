"""Which omoide version, source and prompts made a result: results of different ones are not mixed.

Between two releases the version stays and search may change, so the source has a hash of its own.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from importlib.resources.abc import Traversable

    from omoide_bench.running.results import Result

Named = tuple[str, "Result"]
SOURCE = "omoide source"
"""The name of the source's hash among the versions of a result."""
_REMEMBERING = (
    "adapters",
    "bootstrap",
    "claims",
    "domain",
    "engine",
    "language",
    "mechanisms",
    "presets",
    "settings.py",
)
"""The parts of omoide that a figure can depend on. Prompts have hashes of their own."""


@cache
def source_hash() -> str:
    """A hash of the source that makes memories and replies."""
    digest = sha256()
    for name in _REMEMBERING:
        for file in _files(resources.files("omoide") / name):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def _files(part: Traversable) -> Iterator[Traversable]:
    """The files of a folder, by name, without compiled ones."""
    if part.is_file():
        yield part
    elif part.name != "__pycache__":
        for inner in sorted(part.iterdir(), key=lambda one: one.name):
            yield from _files(inner)


def differing(one: Result, other: Result) -> list[str]:
    """Why two results cannot be compared: different versions, sources or prompts of omoide."""
    reasons = []
    versions = [result.versions.get("omoide", "unknown") for result in (one, other)]
    sources = [result.versions.get(SOURCE, "unknown") for result in (one, other)]
    if versions[0] != versions[1]:
        reasons.append(f"omoide {versions[0]} and {versions[1]}")
    elif sources[0] != sources[1]:
        reasons.append(f"different source of omoide {versions[0]}: {sources[0]} and {sources[1]}")
    shared = one.prompts.keys() & other.prompts.keys()
    prompts = sorted(name for name in shared if one.prompts[name] != other.prompts[name])
    if prompts:
        more = f" and {len(prompts) - 3} more" if len(prompts) > 3 else ""
        reasons.append(f"different prompts: {', '.join(prompts[:3])}{more}")
    return reasons


def by_origin(results: Sequence[Named]) -> list[list[Named]]:
    """The results in groups of comparable ones; first the group with the latest result, which a
    reader wants first."""
    groups: list[list[Named]] = []
    for named in results:
        fitting = (g for g in groups if not any(differing(one, named[1]) for _, one in g))
        if (group := next(fitting, None)) is not None:
            group.append(named)
        else:
            groups.append([named])
    return sorted(groups, key=lambda group: max(one.began for _, one in group), reverse=True)
