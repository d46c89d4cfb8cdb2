"""Conversations from several corpora, with questions whose evidence is known or can be derived.

Each module takes one corpus from `omoide_bench.data`; its docstring says where the evidence comes
from.
It also says if the evidence was derived from the words of the query: such a set can show that
nothing broke, not how good recall is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide_bench.corpora import (
    beam,
    dmr_like,
    dulemon,
    locomo,
    longmemeval,
    memdaily,
    memorybank,
    msc,
    real_persona_chat,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from omoide_bench.corpora.questions import EvidenceConversation

CORPORA: dict[str, Callable[[Path], tuple[EvidenceConversation, ...]]] = {
    locomo.FILE: locomo.load,
    memorybank.FILE: memorybank.load,
    dulemon.FILE: dulemon.load,
    longmemeval.FILE: longmemeval.load,
    msc.FILE: msc.load,
    real_persona_chat.FILE: real_persona_chat.load,
    beam.FILE: beam.load,
    memdaily.FILE: memdaily.load,
}
"""The loader of a folder, by a file in it."""
NAMED = {"dmr-like": dmr_like.load}
"""Other questions about a corpus above, by name."""


def load(folder: Path, name: str | None = None) -> tuple[EvidenceConversation, ...]:
    """The conversations of the corpus in the folder, or of this name."""
    if name is not None:
        return NAMED[name](folder)
    for file, reader in CORPORA.items():
        if (folder / file).exists():
            return reader(folder)
    # LoCoMo may be in a subfolder; if not, the error says what is needed.
    return locomo.load(folder)
