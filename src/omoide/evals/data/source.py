"""Where a data set comes from, under which licence, and how its files are found.

The folder that a person gives is tried first. Without one, a data set that its authors keep on the
Hugging Face hub is fetched from there by `huggingface_hub` (the extra `bench`); that path is kept
thin, as no hub could be reached where it was written: it has been tried with a stand-in only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from omoide.errors import BadInput, DownloadFailed, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Fetch = Callable[[str, str], str]
    """A file of a data set on the hub, by the set's name there and the file's: where it now is."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """A data set's name, papers, licence and places."""

    name: str
    """Of its folder, and on the command line."""
    title: str
    licence: str
    """What a person must know before using it."""
    page: str
    """Where its authors publish it."""
    hub: str | None = None
    """Its official name on the Hugging Face hub, if its authors put it there."""
    hub_files: Mapping[str, str] = field(default_factory=dict)
    """Our name of a file to its name on the hub, where the form is one that the loader reads."""

    def notice(self) -> str:
        """What to print before the data are used."""
        return f"{self.title}\nLicence: {self.licence}\nFrom: {self.page}"

    def find(self, data: Path | None, *files: str, fetch: Fetch | None = None) -> Path:
        """The first of `files` that is there, packed with gzip or not.

        Raises `BadInput` if a folder was given that holds none of them; without a folder
        `DownloadFailed` if the set is not to be had from the hub, or `MissingExtra`.
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
            f"that holds it. {self.title} is published at {self.page}"
        )

    def _fetched(self, files: tuple[str, ...], fetch: Fetch) -> Path:
        wanted = next((file for file in files if file in self.hub_files), None)
        if self.hub is None or wanted is None:
            raise DownloadFailed(
                f"{self.title} is not on the hub in a form that can be read; get it from "
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
            f"{file} of {repository} could not be had from the hub ({error}); "
            "get it by hand and give its folder with --data"
        ) from error
