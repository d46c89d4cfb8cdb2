"""Whole chats of public data sets with complete notes of both speakers, written by hand.

The data sets list what their writers were told to say, which is neither all that was said nor only
that; other sources cut what their lists do not cover. Here nothing is cut. A file has, for each
chat, its place and the notes, one a line:

    ### synthetic_persona_chat valid/891
    User has two dogs.
    Assistant works as a nurse.

`(none)` stands for a chat in which nobody tells anything lasting.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from omoide.claims import Partner, phrasing
from omoide.domain import Fact, Speaker
from omoide.errors import BadInput
from omoide.mechanisms import lines
from omoide.mechanisms.facts import TunedFactForm
from omoide.prompts import vocabulary
from omoide_tune.checked_talks import START, turns
from omoide_tune.examples import Example
from omoide_tune.stem_cache import stems

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from omoide.mechanisms import Line
    from omoide_tune.talk import TrainingTalk

ANNOTATED = "annotated"
"""The source name of these examples."""
LANGUAGES = ("en", "ja", "zh")
NOTHING = "(none)"
FORM = TunedFactForm(Partner(person=True))


@dataclass(frozen=True, kw_only=True)
class AnnotatedChat:
    """Where a chat is, and all that its speakers tell about themselves."""

    source: str
    key: str
    language: str
    notes: tuple[str, ...]


@cache
def annotated_chats(language: str) -> tuple[AnnotatedChat, ...]:
    """The notes of all chats of a language."""
    file = resources.files("omoide_tune.written") / f"annotated.{language}.txt"
    return read_annotations(file.read_text("utf-8"), language)


def read_annotations(text: str, language: str) -> tuple[AnnotatedChat, ...]:
    """The notes of a file. Raises `BadInput` if one names no speaker."""
    found = []
    for chat in text.split("### ")[1:]:
        place, *written = (line.strip() for line in chat.strip().splitlines())
        source, _, key = place.partition(" ")
        notes = tuple(note for note in written if note and note != NOTHING)
        for note in notes:
            if _about(note, language) is None:
                raise BadInput(f"{place}: {note!r} does not begin with a speaker")
        found.append(AnnotatedChat(source=source, key=key, language=language, notes=notes))
    return tuple(found)


def examples_from(
    readers: Mapping[str, Callable[[Path], Iterator[TrainingTalk]]],
) -> Callable[[Path, random.Random], Iterator[Example]]:
    """What makes the examples, given what reads each data set."""

    def made(folder: Path, dice: random.Random) -> Iterator[Example]:
        wanted = {(one.source, one.key): one for code in LANGUAGES for one in annotated_chats(code)}
        for source in dict.fromkeys(source for source, _ in wanted):
            for talk in readers[source](folder):
                if chat := wanted.get((source, talk.key)):
                    yield from examples(chat, talk.lines, dice)

    return made


def examples(chat: AnnotatedChat, said: Sequence[Line], dice: random.Random) -> Iterator[Example]:
    """The chat as one meeting, or as two, of which the second begins with the first one's notes."""
    shown = lines(turns(said, chat.language))
    yield from _example(chat, shown, (), chat.notes)
    cut = dice.randint(len(said) * 2 // 5, len(said) * 3 // 5)
    before = [note for note in chat.notes if _line_of(note, said, chat.language) < cut]
    after = [note for note in chat.notes if note not in before]
    if before:
        dice.shuffle(before)
        yield from _example(chat, shown[cut:], before, after)


def _example(
    chat: AnnotatedChat, shown: Sequence[Line], known: Iterable[str], notes: Sequence[str]
) -> Iterator[Example]:
    """The example, if the product would ask. Unlike a data set's list the notes are not checked
    against the words: who wrote them read the chat."""
    facts = [_known(number, note, chat.language) for number, note in enumerate(known)]
    asked = FORM.ask(known=facts, session=shown, language=chat.language)
    answer = "\n".join(notes) or vocabulary(chat.language)["none"]
    if asked is None:
        return
    yield Example(
        task="facts",
        language=chat.language,
        source=ANNOTATED,
        key=f"{chat.source}/{chat.key}",
        messages=asked.request.messages,
        answer=answer,
        hard="" if notes else "nothing",
    )


def _known(number: int, note: str, language: str) -> Fact:
    about = _about(note, language)
    return Fact(
        id=f"f{number}",
        about=(about or Speaker.USER).value,
        text=note,
        said=START,
        learned=START,
        language=language,
        session=0,
    )


def _about(note: str, language: str) -> Speaker | None:
    """The speaker with whom the note begins."""
    subjects = {
        Speaker.USER: phrasing(language).user,
        Speaker.ASSISTANT: phrasing(language).assistant,
    }
    names = {who: subject.strip().rstrip("は") for who, subject in subjects.items()}
    return next((who for who, name in names.items() if note.startswith(name)), None)


def _line_of(note: str, said: Sequence[Line], language: str) -> int:
    """The line of its speaker that has most of the note's words."""
    about, wanted = _about(note, language), stems(note)
    shares = {
        place: len(wanted & stems(line.text))
        for place, line in enumerate(said)
        if line.speaker is about
    }
    return max(shares, key=lambda place: shares[place], default=0)
