"""The registry entry of a mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from omoide.mechanisms.base import Mechanism
    from omoide.mechanisms.parts import MechanismParts


@dataclass(frozen=True, kw_only=True)
class MechanismEntry:
    """A mechanism that a configuration can name: its factory, and its description for
    `omoide mechanisms`. A plug-in offers one under the group `omoide.mechanisms`."""

    make: Callable[[MechanismParts], Mechanism]
    """Builds it from the parts of one memory. Must be cheap and do no I/O."""
    about: str
    """What it remembers, in one line."""
    paper: str
    """Where it is described; the name of the package if nowhere else."""
    calls: str
    """Model calls it makes, such as `none` or `1 a session`."""
    needs: str = ""
    """What it requires, such as `an embedder`."""
