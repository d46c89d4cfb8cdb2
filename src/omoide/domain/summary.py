"""The recursive summary M_0 … M_N: immutable versions of one short memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from omoide.domain.turn import Speaker


class Origin(StrEnum):
    """What created a version."""

    DIGEST = "digest"
    ROLLBACK = "rollback"
    ERASURE = "erasure"
    EDIT = "edit"
    """The user corrected a sentence."""


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """One statement of the summary, with the turns that support it."""

    text: str
    about: Speaker | None = None
    sources: tuple[str, ...] = ()
    """Ids of turns. Empty if no turn supports the sentence."""
    fact: str = ""
    """Id of the fact that it states, if it states one."""

    @property
    def supported(self) -> bool:
        """Whether any turn supports the sentence."""
        return bool(self.sources)


@dataclass(frozen=True, kw_only=True)
class Summary:
    """One version of the summary. M_0 is never stored: see `empty_summary`."""

    number: int
    sentences: tuple[Sentence, ...]
    origin: Origin
    session: int | None
    """The newest session that this version includes."""
    time: datetime
    """When it takes effect: the end of the digested session, or the time of the rollback."""
    language: str
    restored: int | None = None
    """For a rollback, the version that was restored."""
    model: str = ""
    prompt: str = ""
    """Hash of the prompt that produced this version."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    """Remarks for people on how it was made: parts, retries, sentences left out."""

    @property
    def text(self) -> str:
        """The summary as it is put into a prompt: one sentence per line."""
        return "\n".join(sentence.text for sentence in self.sentences)

    @property
    def sources(self) -> tuple[str, ...]:
        """Ids of all supporting turns, each once."""
        return tuple(dict.fromkeys(s for sentence in self.sentences for s in sentence.sources))


def empty_summary(at: datetime, language: str = "en") -> Summary:
    """M_0: the summary before anything was digested."""
    return Summary(
        number=0, sentences=(), origin=Origin.DIGEST, session=None, time=at, language=language
    )


class ChangeKind(StrEnum):
    """What happened to a sentence between two versions."""

    KEPT = "kept"
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, kw_only=True)
class SentenceChange:
    """One line of a diff of two versions."""

    change: ChangeKind
    old: str | None
    new: str | None


def diff(old: Sequence[Sentence], new: Sequence[Sentence]) -> tuple[SentenceChange, ...]:
    """What changed from `old` to `new`, in the order of `new`, with removals where they were.

    A removed and an added sentence that share most of their characters count as one change. One
    that only stands elsewhere did not change.
    """
    before, after = [s.text for s in old], [s.text for s in new]
    parts = SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes()
    unequal = [(i, i_end, j, j_end) for tag, i, i_end, j, j_end in parts if tag != "equal"]
    left = Counter(text for i, i_end, _, _ in unequal for text in before[i:i_end])
    moved = left & Counter(text for _, _, j, j_end in unequal for text in after[j:j_end])
    from_there, to_here = moved.copy(), moved.copy()
    changes: list[SentenceChange] = []
    for tag, i, i_end, j, j_end in parts:
        kept, come, gone = after[j:j_end], list[str](), list[str]()
        if tag != "equal":
            kept, come = _taken(to_here, after[j:j_end])
            _, gone = _taken(from_there, before[i:i_end])
        changes += _pair(gone, come)
        changes += [SentenceChange(change=ChangeKind.KEPT, old=t, new=t) for t in kept]
    return tuple(changes)


def _taken(moved: Counter[str], texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """The texts that only moved, which are taken from the counts, and the others."""
    kept, others = list[str](), list[str]()
    for text in texts:
        if moved[text] > 0:
            moved[text] -= 1
            kept.append(text)
        else:
            others.append(text)
    return kept, others


def _pair(removed: list[str], added: list[str], least: float = 0.6) -> list[SentenceChange]:
    """Match rewritten sentences with those they replace, most similar first."""
    similarities = sorted(
        (
            (SequenceMatcher(a=o, b=n, autojunk=False).ratio(), i, j)
            for i, o in enumerate(removed)
            for j, n in enumerate(added)
        ),
        reverse=True,
    )
    matched: dict[int, int] = {}
    for ratio, i, j in similarities:
        if ratio >= least and i not in matched.values() and j not in matched:
            matched[j] = i
    unmatched = [o for i, o in enumerate(removed) if i not in matched.values()]
    lines = [SentenceChange(change=ChangeKind.REMOVED, old=o, new=None) for o in unmatched]
    for j, text in enumerate(added):
        if j not in matched:
            lines.append(SentenceChange(change=ChangeKind.ADDED, old=None, new=text))
        elif removed[matched[j]] == text:
            lines.append(SentenceChange(change=ChangeKind.KEPT, old=text, new=text))
        else:
            old_text = removed[matched[j]]
            lines.append(SentenceChange(change=ChangeKind.CHANGED, old=old_text, new=text))
    return lines
