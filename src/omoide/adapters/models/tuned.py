"""The adapters that come with omoide: a manifest says for which weights and which skills.

One entry of `omoide/tuned/manifest.json`, for instance:

    {"name": "notes-r32", "base": "qwen2.5-coder-0.5b-instruct-q4_k_m", "base_sha256": "1d96…",
     "file": "small-notes-r32.gguf", "sha256": "77c1…", "size": 9000000, "rank": 32,
     "skills": ["notes", "memos"], "strengths": {"memos": 0.5}, "licence": "Apache-2.0",
     "card": "small-notes-r32.json"}

An adapter is used for exactly the weights it was trained on, and only while its file is whole.
"""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omoide.adapters.models.adapter import Adapter
from omoide.adapters.models.catalogue import CATALOGUE, GgufFile, Weights
from omoide.adapters.models.digests import mark, sha256
from omoide.errors import BadInput
from omoide.ports import Skill

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TUNED = Path(__file__).parents[2] / "tuned"
"""Where the shipped adapters lie in the installed package."""
NONE = "none"
"""What `OMOIDE_ADAPTER` says to have none of them."""
_MANIFEST = "manifest.json"
_TEXTS = ("name", "base", "base_sha256", "file", "sha256", "licence", "card")

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Shipped:
    """An adapter of the manifest."""

    name: str
    base: str
    """The catalogue's name of the weights it was trained on."""
    base_sha256: str
    file: str
    sha256: str
    size: int
    skills: tuple[Skill, ...]
    rank: int
    licence: str
    card: str
    """The file, beside it, that tells what it learnt from and how."""
    strengths: Mapping[Skill, float] = field(default_factory=dict)
    """How much of it serves a skill, where that is not the whole."""

    def fits(self, choice: Weights | GgufFile, *, stamps: Path) -> bool:
        """Whether `choice` is what it was trained on. A file of the user's own is hashed, once,
        if it is as large as those weights are."""
        if isinstance(choice, Weights):
            return choice.name == self.base and self.base_sha256 in choice.artifact.digests
        sizes = [w.artifact.size for w in CATALOGUE if w.name == self.base]
        if choice.path.stat().st_size not in sizes:
            return False
        return digest(choice.path, stamps=stamps) == self.base_sha256

    def adapters(self, folder: Path) -> tuple[Adapter, ...]:
        """It, once for each strength that it is used with, the whole first."""
        used = {skill: self.strengths.get(skill, 1.0) for skill in self.skills}
        return tuple(
            Adapter(
                name=self.name if strength == 1 else f"{self.name}×{strength:g}",
                path=folder / self.file,
                skills=frozenset(skill for skill in used if used[skill] == strength),
                strength=strength,
            )
            for strength in sorted(set(used.values()), reverse=True)
        )

    def state(self, folder: Path, *, stamps: Path) -> str:
        """`whole`, `damaged`, or `not here`."""
        path = folder / self.file
        if not path.is_file():
            return "not here"
        return "whole" if digest(path, stamps=stamps) == self.sha256 else "damaged"


def stamps_in(models: Path) -> Path:
    """Where, in the folder of the weights, it is noted which files were found whole."""
    return models / "checked"


def read_manifest(folder: Path = TUNED) -> tuple[Shipped, ...]:
    """All entries; none where there is no manifest. Raises `BadInput` naming what is wrong."""
    path = folder / _MANIFEST
    if not path.is_file():
        return ()
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))["adapters"]
        return tuple(_entry(one) for one in listed)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path} is no manifest of adapters: {error}") from error


def write_manifest(folder: Path, entries: Sequence[Shipped]) -> None:
    """Put these entries in the place of all others."""
    listed = [{**one.__dict__, "skills": list(one.skills)} for one in entries]
    text = json.dumps({"adapters": listed}, ensure_ascii=False, indent=1)
    part = folder / f"{_MANIFEST}.part"
    part.write_text(text + "\n", encoding="utf-8")
    part.replace(folder / _MANIFEST)


def adapters_for(
    choice: Weights | GgufFile, *, wanted: str, stamps: Path, folder: Path = TUNED
) -> tuple[Adapter, ...]:
    """The adapters of a model: as `OMOIDE_ADAPTER` says, a file for all requests or none; by
    default those that are shipped for it. One that is damaged is left out with a warning."""
    if wanted.strip().lower() == NONE:
        return ()
    if wanted:
        path = Path(wanted).expanduser()
        version = f"@{digest(path, stamps=stamps)[:8]}" if path.is_file() else ""
        return (Adapter(name=path.stem + version, path=path),)
    try:
        entries = read_manifest(folder)
    except BadInput as error:
        log.warning("%s; the model is used as it is", error)
        return ()
    found: list[Adapter] = []
    for entry in entries:
        if entry.fits(choice, stamps=stamps):
            state = entry.state(folder, stamps=stamps)
            if state == "whole":
                found += entry.adapters(folder)
            else:
                log.warning(
                    "the adapter %s is %s: %s; the model is used as it is for %s; install omoide "
                    "again, or set OMOIDE_ADAPTER=none",
                    *(entry.name, state, folder / entry.file, ", ".join(entry.skills)),
                )
    return tuple(found)


def digest(path: Path, *, stamps: Path) -> str:
    """The SHA-256 of a file, worked out once for each size and time of change that it has; what
    is known is kept in the folder `stamps`."""
    seen = {"path": str(path.resolve()), **mark(path)}
    stamp = stamps / f"{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]}.json"
    try:
        known = json.loads(stamp.read_text(encoding="utf-8"))
        if {name: known.get(name) for name in seen} == seen and isinstance(known["sha256"], str):
            return str(known["sha256"])
    except (OSError, ValueError, KeyError, AttributeError):
        pass
    found = sha256(path)
    try:
        stamps.mkdir(parents=True, exist_ok=True)
        stamp.write_text(json.dumps({**seen, "sha256": found}), encoding="utf-8")
    except OSError:  # a folder that cannot be written: it is hashed each time
        log.debug("no stamp could be written in %s", stamps)
    return found


def _entry(value: Any) -> Shipped:  # noqa: ANN401 - whatever the JSON holds
    if not all(isinstance(value.get(name), str) for name in _TEXTS):
        raise ValueError(f"an adapter needs the texts {', '.join(_TEXTS)}")
    if Path(value["file"]).name != value["file"]:
        raise ValueError(f"{value['file']!r} is not the name of a file beside the manifest")
    return Shipped(
        **{name: value[name] for name in _TEXTS},
        size=int(value["size"]),
        rank=int(value["rank"]),
        skills=tuple(Skill(skill) for skill in value["skills"]),
        strengths={Skill(s): float(part) for s, part in value.get("strengths", {}).items()},
    )
