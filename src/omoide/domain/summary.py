"""The recursive summary M_0 … M_N: immutable versions of one short memory."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from omoide.domain.turn import Speaker


class Origin(StrEnum):
    """How a version came to be."""

    DIGEST = "digest"
    ROLLBACK = "rollback"
    ERASURE = "erasure"
    EDIT = "edit"
    """The user put a sentence right."""


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """One thing remembered, with the turns it rests on."""

    text: str
    about: Speaker | None = None
    sources: tuple[str, ...] = ()
    """Ids of turns. Empty means that nothing said so far supports the sentence."""

    @property
    def supported(self) -> bool:
        """Whether any turn bears the sentence out."""
        return bool(self.sources)


@dataclass(frozen=True, kw_only=True)
class Summary:
    """One version of the memory. M_0 is never stored: see `nothing`."""

    number: int
    sentences: tuple[Sentence, ...]
    origin: Origin
    session: int | None
    """The newest session this memory knows of."""
    time: datetime
    """From when it counts: the end of the session it digested, or the moment of the rollback."""
    language: str
    restored: int | None = None
    """For a rollback, the version whose sentences it brought back."""
    model: str = ""
    prompt: str = ""
    """Hash of the prompt that produced it."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    """What a person should know of how it was made: parts, retries, sentences left out."""

    @property
    def text(self) -> str:
        """The memory as it is put into a prompt: one sentence a line."""
        return "\n".join(sentence.text for sentence in self.sentences)

    @property
    def sources(self) -> tuple[str, ...]:
        """All turns it rests on, each once."""
        return tuple(dict.fromkeys(s for sentence in self.sentences for s in sentence.sources))


def nothing(at: datetime, language: str = "en") -> Summary:
    """M_0: the memory before anything was digested."""
    return Summary(
        number=0, sentences=(), origin=Origin.DIGEST, session=None, time=at, language=language
    )


class Change(StrEnum):
    """What became of a sentence between two versions."""

    KEPT = "kept"
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, kw_only=True)
class SentenceChange:
    """One line of a difference between two versions."""

    change: Change
    old: str | None
    new: str | None


def diff(old: Sequence[Sentence], new: Sequence[Sentence]) -> tuple[SentenceChange, ...]:
    """What changed from `old` to `new`, in the order of `new`, with removals where they stood.

    A removed and an added sentence that share most of their characters are one change.
    """
    before, after = [s.text for s in old], [s.text for s in new]
    changes: list[SentenceChange] = []
    for tag, i, i_end, j, j_end in SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes():
        if tag == "equal":
            changes += [SentenceChange(change=Change.KEPT, old=t, new=t) for t in before[i:i_end]]
        else:
            changes += _pair(before[i:i_end], after[j:j_end])
    return tuple(changes)


def _pair(removed: list[str], added: list[str], least: float = 0.6) -> list[SentenceChange]:
    """Match rewritten sentences with what they replace, the most alike first."""
    likeness = sorted(
        (
            (SequenceMatcher(a=o, b=n, autojunk=False).ratio(), i, j)
            for i, o in enumerate(removed)
            for j, n in enumerate(added)
        ),
        reverse=True,
    )
    partner: dict[int, int] = {}
    for ratio, i, j in likeness:
        if ratio >= least and i not in partner.values() and j not in partner:
            partner[j] = i
    gone = [o for i, o in enumerate(removed) if i not in partner.values()]
    lines = [SentenceChange(change=Change.REMOVED, old=o, new=None) for o in gone]
    for j, text in enumerate(added):
        if j not in partner:
            lines.append(SentenceChange(change=Change.ADDED, old=None, new=text))
        elif removed[partner[j]] == text:
            lines.append(SentenceChange(change=Change.KEPT, old=text, new=text))
        else:
            old_text = removed[partner[j]]
            lines.append(SentenceChange(change=Change.CHANGED, old=old_text, new=text))
    return lines
