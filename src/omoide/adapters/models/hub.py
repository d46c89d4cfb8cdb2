"""Any GGUF file of the public hub: `hf:OWNER/REPOSITORY/FILE.gguf`.

At first use the hub is asked for the file's size, SHA-256 and licence, and the answer is written
beside the weights. From then on only exactly that file is accepted under this name.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from omoide.adapters.models.artifact import Artifact, HubFile
from omoide.errors import DownloadFailed, UnknownModel
from omoide.wire.certificates import certificates

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEME = "hf:"
FOLDER = "hub"
"""Where such files are, in the folder of weights."""
_SHA256 = re.compile(r"[0-9a-f]{64}")
_PART = re.compile(r"[\w][\w.-]*")


@dataclass(frozen=True, kw_only=True)
class HubModel:
    """A model file on the hub. The last four are known only for models of the catalogue."""

    repository: str
    path: str
    revision: str = "main"
    name: str = ""
    alias: str = ""
    licence: str = ""
    gigabytes: float = 0.0
    memory: float = 0.0
    """Gigabytes of memory that it needs with the default window."""

    @property
    def file(self) -> str:
        """Its path in the folder of weights."""
        at = f"@{self.revision}" if self.revision != "main" else ""
        repository = self.repository.replace("/", "--")
        return f"{FOLDER}/{repository}{at}/{self.path.replace('/', '--')}"

    @property
    def stem(self) -> str:
        """What it is called."""
        return self.name or Path(self.path).stem

    @property
    def spec(self) -> str:
        """How a user names it."""
        at = f"@{self.revision}" if self.revision != "main" else ""
        return f"{SCHEME}{self.repository}/{self.path}{at}"


@dataclass(frozen=True, kw_only=True)
class HubPin:
    """What the hub said about a file when it was first used."""

    spec: str
    size: int
    sha256: str
    licence: str
    commit: str


def parse(spec: str) -> HubModel:
    """The file that `hf:OWNER/REPOSITORY/FILE.gguf` means; a revision may follow after an `@`."""
    named, _, revision = spec[len(SCHEME) :].strip().partition("@")
    parts = named.split("/")
    if (
        len(parts) < 3
        or not all(_PART.fullmatch(part) for part in parts)
        or not named.lower().endswith(".gguf")
        or (revision and not _PART.fullmatch(revision))
    ):
        raise UnknownModel(
            f"{spec!r} does not name a file of the hub; give it as hf:OWNER/REPOSITORY/FILE.gguf"
        )
    repository, path = "/".join(parts[:2]), "/".join(parts[2:])
    return HubModel(repository=repository, path=path, revision=revision or "main")


class Hub:
    """Asks the hub about files, and remembers its answers in the folder of weights."""

    def __init__(
        self,
        folder: Path,
        *,
        host: str,
        offline: bool = False,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._folder = folder
        self._host = host.rstrip("/")
        self._offline = offline
        self._transport = transport

    def known(self, model: HubModel) -> HubPin | None:
        """What was pinned at first use, if the file was used before."""
        try:
            return HubPin(**json.loads(self.pin_file(model).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def pins(self) -> list[HubPin]:
        """All files that were used."""
        found = []
        for path in sorted((self._folder / FOLDER).glob("*/*.pin")):
            try:
                found.append(HubPin(**json.loads(path.read_text(encoding="utf-8"))))
            except (OSError, ValueError, TypeError):
                continue
        return found

    def pin_file(self, model: HubModel) -> Path:
        """Where the pin is stored."""
        path = self._folder / model.file
        return path.with_name(f"{path.name}.pin")

    def pin(self, model: HubModel) -> HubPin:
        """What the hub says about the file: asked once, and the same from then on. Raises
        `DownloadFailed`."""
        if pinned := self.known(model):
            return pinned
        if self._offline:
            raise DownloadFailed(
                f"{model.spec} was never used here and downloads are turned off; go online once"
            )
        pinned = self._ask(model)
        path = self.pin_file(model)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(asdict(pinned), indent=1) + "\n", encoding="utf-8")
        part.replace(path)
        return pinned

    def artifact(self, model: HubModel, pin: HubPin) -> Artifact:
        """The file to download, from the revision that was pinned."""
        source = HubFile(
            repository=model.repository, path=model.path, revision=pin.commit or model.revision
        )
        return Artifact(file=model.file, size=pin.size, sha256=pin.sha256, sources=(source,))

    def _ask(self, model: HubModel) -> HubPin:
        source = HubFile(repository=model.repository, path=model.path, revision=model.revision)
        try:
            with httpx.Client(
                timeout=30.0, transport=self._transport, verify=certificates()
            ) as client:
                # The hub answers with a redirect; what we want to know is in its own headers.
                head = client.head(source.url(self._host), headers={"Accept-Encoding": "identity"})
                if head.status_code in (401, 403, 404):
                    raise DownloadFailed(
                        f"the hub has no public file {model.spec} (status {head.status_code}); "
                        "check its name, and whether its licence has to be accepted there first"
                    )
                if head.status_code >= 400:
                    raise DownloadFailed(f"the hub answered with status {head.status_code}")
                about = client.get(f"{self._host}/api/models/{model.repository}")
                licence = _licence(about.json()) if about.is_success else ""
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise DownloadFailed(
                f"the hub could not be asked about {model.spec}: {error}"
            ) from error
        digest = _etag(head.headers)
        size = head.headers.get("X-Linked-Size") or head.headers.get("Content-Length", "")
        if not _SHA256.fullmatch(digest) or not size.isdigit():
            raise DownloadFailed(
                f"the hub gives no SHA-256 and size for {model.spec}; download it yourself and "
                "give its path"
            )
        return HubPin(
            spec=model.spec,
            size=int(size),
            sha256=digest,
            licence=licence or "unknown",
            commit=head.headers.get("X-Repo-Commit", ""),
        )


def _etag(headers: Mapping[str, str]) -> str:
    """The hub's tag of a large file is its SHA-256."""
    tag = headers.get("X-Linked-Etag") or headers.get("ETag", "")
    return tag.removeprefix("W/").strip('"').lower()


def _licence(about: object) -> str:
    """The licence in the hub's description of a repository."""
    if not isinstance(about, dict):
        return ""
    card = about.get("cardData")
    if isinstance(card, dict) and isinstance(card.get("license"), str):
        return str(card["license"])
    tags = about.get("tags")
    named = (t for t in tags if isinstance(t, str)) if isinstance(tags, list) else ()
    return next((tag.partition(":")[2] for tag in named if tag.startswith("license:")), "")
