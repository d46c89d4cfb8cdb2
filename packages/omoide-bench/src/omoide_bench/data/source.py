"""The source and licence of a data set, and how its files are found.

A given folder is searched. Without one, a data set that its authors published on the Hugging Face
hub is fetched with `huggingface_hub` (the extra `bench`). That code is kept small because it has
been tested with a fake only: no hub could be reached where it was written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from omoide.errors import BadInput, DownloadFailed, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Fetch = Callable[[str, str], str]
    """Fetches a file from the hub, by data set and file name; returns its local path."""


@dataclass(frozen=True, kw_only=True)
class DatasetSource:
    """A data set's name, paper, licence and locations."""

    name: str
    """Name of its folder, and on the command line."""
    title: str
    licence: str
    """What users must know before using it."""
    page: str
    """Where its authors publish it."""
    hub: str | None = None
    """Its official name on the Hugging Face hub, if its authors published it there."""
    hub_files: Mapping[str, str] = field(default_factory=dict)
    """Our file names to those on the hub, for formats that the loader supports."""

    def notice(self) -> str:
        """The notice to print before the data are used."""
        return f"{self.title}\nLicence: {self.licence}\nFrom: {self.page}"

    def find(self, data: Path | None, *files: str, fetch: Fetch | None = None) -> Path:
        """The first of `files` that exists, gzip-compressed or not.

        Raises `BadInput` if a folder is given that has none of them; without a folder,
        `DownloadFailed` if the hub cannot provide the data set, or `MissingExtra`.
        """
        if data is None:
            return self._fetched(files, fetch or from_hub)
        tried = [
            folder / name
            for folder in (data / self.name, data)
            for file in files
            for name in (file, f"{file}.gz")
        ]
        for path in tried:
            if path.exists():
                return path
        raise BadInput(
            f"there is no {' or '.join(files)} in {data} or {data / self.name}; give the folder "
            f"that contains it. {self.title} is published at {self.page}"
        )

    def _fetched(self, files: tuple[str, ...], fetch: Fetch) -> Path:
        wanted = next((file for file in files if file in self.hub_files), None)
        if self.hub is None or wanted is None:
            raise DownloadFailed(
                f"{self.title} is not on the hub in a supported format; download it from "
                f"{self.page} and give its folder with --data"
            )
        return Path(fetch(self.hub, self.hub_files[wanted]))


def from_hub(repository: str, file: str) -> str:
    """Fetch a file into the hub's own cache. Raises `MissingExtra` or `DownloadFailed`."""
    try:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import HfHubHTTPError
    except ImportError as error:
        raise MissingExtra(
            "fetching data sets needs huggingface_hub: pip install 'omoide[bench]', "
            "or give a folder with --data"
        ) from error
    try:
        return str(hf_hub_download(repository, file, repo_type="dataset"))
    except (HfHubHTTPError, OSError) as error:
        raise DownloadFailed(
            f"{file} of {repository} could not be fetched from the hub ({error}); "
            "download it by hand and give its folder with --data"
        ) from error
