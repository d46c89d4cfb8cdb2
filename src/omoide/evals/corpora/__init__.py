"""Conversations with questions whose evidence is known or can be derived, from several corpora.

Each module takes one corpus as `evals.data` reads it and says in its docstring where its evidence
comes from.
Where the evidence is made from the words of the query, that is said too: such a set shows that
nothing broke, not how good recall is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.evals.corpora import (
    dulemon,
    locomo,
    longmemeval,
    memorybank,
    msc,
    real_persona_chat,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from omoide.evals.corpora.asking import Conversation

CORPORA: dict[str, Callable[[Path], tuple[Conversation, ...]]] = {
    locomo.FILE: locomo.load,
    memorybank.FILE: memorybank.load,
    dulemon.FILE: dulemon.load,
    longmemeval.FILE: longmemeval.load,
    msc.FILE: msc.load,
    real_persona_chat.FILE: real_persona_chat.load,
}
"""What reads a folder, by the file that it holds."""


def load(folder: Path) -> tuple[Conversation, ...]:
    """The conversations of whatever corpus lies in the folder."""
    for file, reader in CORPORA.items():
        if (folder / file).exists():
            return reader(folder)
    # It may lie in a folder of its own; or the error says what is wanted.
    return locomo.load(folder)
