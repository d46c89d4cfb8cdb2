"""The LoRA adapters that come with omoide. A manifest lists their base weights and skills.

An example entry of `omoide_weights/manifest.json`:

    {"name": "notes-r32", "base": "qwen2.5-coder-0.5b-instruct-q4_k_m", "base_sha256": "1d96…",
     "file": "small-notes-r32.gguf", "sha256": "77c1…", "size": 9000000, "rank": 32,
     "skills": ["notes", "memos"], "strengths": {"memos": 0.5}, "licence": "Apache-2.0",
     "card": "small-notes-r32.json"}

An adapter is used only with the exact weights it was trained on, and only if its hash matches.
"""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omoide.adapters.models.adapter import Adapter
from omoide.adapters.models.catalogue import CATALOGUE, CatalogueModel, GgufFile
from omoide.adapters.models.file_hashes import file_stamp, sha256
from omoide.adapters.models.hub import HubModel
from omoide.errors import BadInput
from omoide.ports import Skill

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def _installed() -> Path:
    """The folder of the package omoide-weights; a missing folder if it is not installed."""
    spec = find_spec("omoide_weights")
    return Path(spec.origin).parent if spec and spec.origin else Path("omoide_weights")


TUNED = _installed()
"""Folder of the shipped adapters: the package omoide-weights, part of the extra `local`."""
NONE = "none"
"""The value of `OMOIDE_ADAPTER` that turns adapters off."""
_MANIFEST = "manifest.json"
_TEXTS = ("name", "base", "base_sha256", "file", "sha256", "licence", "card")

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class ShippedAdapter:
    """A manifest entry."""

    name: str
    base: str
    """Catalogue name of the weights it was trained on."""
    base_sha256: str
    file: str
    sha256: str
    size: int
    skills: tuple[Skill, ...]
    rank: int
    licence: str
    card: str
    """The file beside it that describes its training data and method."""
    strengths: Mapping[Skill, float] = field(default_factory=dict)
    """Strength for each skill; 1.0 if not listed."""

    def trained_on(self, choice: CatalogueModel | GgufFile, *, stamps: Path) -> bool:
        """Whether it was trained on `choice`. A user's own file is hashed once, and only if it has
        the size of those weights."""
        if isinstance(choice, CatalogueModel):
            return choice.name == self.base and self.base_sha256 in choice.artifact.digests
        sizes = [w.artifact.size for w in CATALOGUE if w.name == self.base]
        if choice.path.stat().st_size not in sizes:
            return False
        return digest(choice.path, stamps=stamps) == self.base_sha256

    def adapters(self, folder: Path) -> tuple[Adapter, ...]:
        """One `Adapter` for each strength it is used with, the strongest first."""
        strengths = {skill: self.strengths.get(skill, 1.0) for skill in self.skills}
        return tuple(
            Adapter(
                name=self.name if strength == 1 else f"{self.name}×{strength:g}",
                path=folder / self.file,
                skills=frozenset(skill for skill in strengths if strengths[skill] == strength),
                strength=strength,
            )
            for strength in sorted(set(strengths.values()), reverse=True)
        )

    def state(self, folder: Path, *, stamps: Path) -> str:
        """`whole`, `damaged`, or `not here`."""
        path = folder / self.file
        if not path.is_file():
            return "not here"
        return "whole" if digest(path, stamps=stamps) == self.sha256 else "damaged"


def stamps_in(models: Path) -> Path:
    """The folder, inside the weights folder, for cached hashes."""
    return models / "checked"


def read_manifest(folder: Path = TUNED) -> tuple[ShippedAdapter, ...]:
    """All entries; none if there is no manifest. Raises `BadInput` if it is invalid."""
    path = folder / _MANIFEST
    if not path.is_file():
        return ()
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))["adapters"]
        return tuple(_entry(value) for value in listed)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path} is not a valid adapter manifest: {error}") from error


def write_manifest(folder: Path, entries: Sequence[ShippedAdapter]) -> None:
    """Replace the manifest by these entries."""
    listed = [{**entry.__dict__, "skills": list(entry.skills)} for entry in entries]
    text = json.dumps({"adapters": listed}, ensure_ascii=False, indent=1)
    part = folder / f"{_MANIFEST}.part"
    part.write_text(text + "\n", encoding="utf-8")
    part.replace(folder / _MANIFEST)


def adapters_for(
    choice: CatalogueModel | GgufFile | HubModel, *, wanted: str, stamps: Path, folder: Path = TUNED
) -> tuple[Adapter, ...]:
    """The adapters of a model. `wanted` is `OMOIDE_ADAPTER`: a file for all requests, `none`, or
    empty for the shipped ones. A damaged one is skipped with a warning."""
    if wanted.strip().lower() == NONE:
        return ()
    if wanted:
        path = Path(wanted).expanduser()
        version = f"@{digest(path, stamps=stamps)[:8]}" if path.is_file() else ""
        return (Adapter(name=path.stem + version, path=path),)
    if isinstance(choice, HubModel):  # none was trained on any of those
        return ()
    try:
        entries = read_manifest(folder)
    except BadInput as error:
        log.warning("%s; using the model without adapters", error)
        return ()
    adapters: list[Adapter] = []
    for entry in entries:
        if entry.trained_on(choice, stamps=stamps):
            state = entry.state(folder, stamps=stamps)
            if state == "whole":
                adapters += entry.adapters(folder)
            else:
                log.warning(
                    "the adapter %s is %s: %s; using the model without it for %s; reinstall "
                    "omoide, or set OMOIDE_ADAPTER=none",
                    *(entry.name, state, folder / entry.file, ", ".join(entry.skills)),
                )
    return tuple(adapters)


def digest(path: Path, *, stamps: Path) -> str:
    """The SHA-256 of a file, cached in the folder `stamps` until its size or modification time
    changes."""
    current = {"path": str(path.resolve()), **file_stamp(path)}
    stamp = stamps / f"{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]}.json"
    try:
        known = json.loads(stamp.read_text(encoding="utf-8"))
        if {name: known.get(name) for name in current} == current and isinstance(
            known["sha256"], str
        ):
            return str(known["sha256"])
    except (OSError, ValueError, KeyError, AttributeError):
        pass
    computed = sha256(path)
    try:
        stamps.mkdir(parents=True, exist_ok=True)
        stamp.write_text(json.dumps({**current, "sha256": computed}), encoding="utf-8")
    except OSError:  # a read-only folder: the file is hashed each time
        log.debug("could not cache a hash in %s", stamps)
    return computed


def _entry(value: Any) -> ShippedAdapter:  # noqa: ANN401 - parsed JSON
    if not all(isinstance(value.get(name), str) for name in _TEXTS):
        raise ValueError(f"an adapter needs these strings: {', '.join(_TEXTS)}")
    if Path(value["file"]).name != value["file"]:
        raise ValueError(f"{value['file']!r} must be the name of a file beside the manifest")
    return ShippedAdapter(
        **{name: value[name] for name in _TEXTS},
        size=int(value["size"]),
        rank=int(value["rank"]),
        skills=tuple(Skill(skill) for skill in value["skills"]),
        strengths={Skill(s): float(strength) for s, strength in value.get("strengths", {}).items()},
    )
