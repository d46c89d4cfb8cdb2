"""States of a model after the fixed part of a prompt, kept on disk for the next process.

Only text that is the same for every user is kept, never what a user said. A state is used only with
the files, the runtime and the text it was computed from; one that is damaged, or that somebody else
could have written, is ignored.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from omoide.adapters.models.file_hashes import file_stamp, sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from omoide.adapters.models.adapter import Adapter
    from omoide.adapters.models.llama import KeepsStates
    from omoide.settings import Settings

_STATE, _SEAL = ".state", ".sha256"
_SHORTEST = 200
"""Characters below which a text is read as fast as its state."""
_PRIVATE = stat.S_IRWXG | stat.S_IRWXO


def prefix_states(settings: Settings) -> PrefixStates | None:
    """The states that the settings allow, if any."""
    if settings.prompt_cache <= 0:
        return None
    folder = settings.weights_dir / "prompts"
    return PrefixStates(folder, limit=settings.prompt_cache * 1_000_000)


@dataclass(frozen=True, kw_only=True)
class PrefixKey:
    """Everything that a state depends on."""

    weights: Path
    runtime: str
    """Name and version of the runtime."""
    adapter: Path | None
    strength: float
    text: str
    """The fixed text as the model reads it, chat template included."""

    @property
    def name(self) -> str:
        """A file name that changes with any of it."""
        files = [p for p in (self.weights, self.adapter) if p is not None]
        parts = [
            self.runtime,
            self.strength,
            self.text,
            *({"path": str(path.resolve()), **file_stamp(path)} for path in files),
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


class PrefixStates:
    """A private folder of states, at most `limit` bytes: the longest unused go first."""

    def __init__(self, folder: Path, *, limit: int) -> None:
        self.folder = folder
        self._limit = limit

    def open(self) -> bool:
        """Make the folder. Returns whether it is ours alone, and so can be used."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            return self._ours(self.folder)
        except OSError:
            return False

    def find(self, key: PrefixKey) -> str | None:
        """The file name of an intact state, if there is one."""
        path = self.folder / f"{key.name}{_STATE}"
        try:
            if not (path.is_file() and not path.is_symlink() and self._ours(path)):
                return None
            if sha256(path) != path.with_suffix(_SEAL).read_text("ascii").strip():
                return None
            os.utime(path)
        except (OSError, ValueError):
            return None
        return path.name

    def keep(self, key: PrefixKey, save: Callable[[str], bool]) -> None:
        """Have `save` write a state under the name it is given, and keep it. A state that cannot be
        kept is no error: it is computed again next time."""
        part = self.folder / f"{key.name}.{secrets.token_hex(4)}.part"
        path = self.folder / f"{key.name}{_STATE}"
        with suppress(OSError):
            try:
                if not save(part.name) or part.stat().st_size > self._limit:
                    return
                part.chmod(0o600)
                seal = path.with_suffix(_SEAL)
                seal.touch(mode=0o600)
                seal.write_text(sha256(part), "ascii")
                part.replace(path)
            finally:
                part.unlink(missing_ok=True)
            self._make_room()

    def _make_room(self) -> None:
        """Remove the longest unused states until the rest fits, and what a crash left behind."""
        states = sorted(self.folder.glob(f"*{_STATE}"), key=lambda p: -p.stat().st_mtime)
        used = 0
        for path in states:
            used += path.stat().st_size
            if used > self._limit:
                path.unlink(missing_ok=True)
                path.with_suffix(_SEAL).unlink(missing_ok=True)
        newest = states[0].stat().st_mtime if states else 0.0
        for left in self.folder.glob("*.part"):
            with suppress(FileNotFoundError):
                if newest - left.stat().st_mtime > 3600:
                    left.unlink()

    @staticmethod
    def _ours(path: Path) -> bool:
        """Whether nobody else can have written it. Windows has no such bits, and private folders of
        its own."""
        if not hasattr(os, "getuid"):
            return True
        status = path.stat()
        return status.st_uid == os.getuid() and not status.st_mode & _PRIVATE


class PrefixReader:
    """Puts the state after a fixed text into a slot: from disk, or by reading the text once."""

    def __init__(self, states: PrefixStates, *, weights: Path) -> None:
        self._states = states
        self._weights = weights

    def begin(
        self,
        model: KeepsStates,
        body: Mapping[str, object],
        texts: Sequence[str],
        *,
        adapter: Adapter | None,
        stopped: Callable[[], bool],
    ) -> None:
        """Make the slot of `body` have read the last of `texts`, with which its prompt begins. Each
        is the beginning of the next one; what is not on disk is read, and kept."""
        slot = body["id_slot"]
        assert isinstance(slot, int)  # noqa: S101 - `embedded` chose it
        keys = [
            PrefixKey(
                weights=self._weights,
                runtime=model.runtime,
                adapter=adapter.path if adapter else None,
                strength=adapter.strength if adapter else 0.0,
                text=text,
            )
            for text in texts
            if len(text) >= _SHORTEST
        ]
        missing: list[PrefixKey] = []
        while keys and not self._restored(model, body, slot, keys[-1], stopped):
            missing.insert(0, keys.pop())
        for key in missing:
            model.read(key.text, body, stopped)
            if stopped():
                return
            self._states.keep(key, partial(model.save, slot))

    def _restored(
        self,
        model: KeepsStates,
        body: Mapping[str, object],
        slot: int,
        key: PrefixKey,
        stopped: Callable[[], bool],
    ) -> bool:
        """Whether the slot has the state of `key` from disk now."""
        name = self._states.find(key)
        if name is None:
            return False
        if "lora" in body:  # a slot that changes its adapter drops its state (measured)
            model.read(" ", body, stopped)
        return model.restore(slot, name)
