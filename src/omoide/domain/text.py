"""Checks of texts and names before they are stored."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, TypeVar

from omoide.errors import BadInput, EmptyText, TextTooLong

if TYPE_CHECKING:
    from collections.abc import Iterable

T = TypeVar("T")

MAX_NAME = 256
"""Most characters of a name or an id."""
_THOUGHTS = re.compile(r"\s*<think>.*?(?:</think>\s*|\Z)", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def checked_text(text: str, *, max_chars: int) -> str:
    """The text as it can be stored: see `cleaned`. Raises an error that says what to do if nothing
    is left of it, or if it is too long."""
    if not isinstance(text, str):
        raise BadInput(f"give a text, not {text!r:.80}")
    text = cleaned(text)
    if not text.strip():
        raise EmptyText("the text is empty: write something, or leave the turn out")
    if len(text) > max_chars:
        raise TextTooLong(
            f"the text has {len(text):,} characters and a turn may have {max_chars:,}: "
            "split it into several turns, or raise the limit"
        )
    return text


def cleaned(text: str) -> str:
    """The text without control characters, which no prompt or terminal should get; line breaks and
    tabs stay. Split surrogate pairs are joined; a lone surrogate becomes the replacement character.

    >>> cleaned("page\\x0cbreak, \\x1b[1mbold")
    'pagebreak, [1mbold'
    """
    if text.isprintable():
        return text
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _CONTROL.sub("", joined)


def printable(answer: str) -> str:
    """A model's answer without control characters; empty if no text is left."""
    answer = cleaned(answer).replace("\r", "")
    return answer if answer.strip() else ""


def without_thoughts(answer: str) -> str:
    """An answer without the thoughts that some models write before it, between marks: they are not
    what was said.

    >>> without_thoughts("<think>A cat, then.</think>\\n\\nHow lovely!")
    'How lovely!'
    """
    found = _THOUGHTS.match(answer)
    return answer[found.end() :] if found else answer


def in_parts(text: str, *, max_chars: int) -> list[str]:
    """The text in parts of at most `max_chars` characters, cut after a line, else after a word, if
    there is one in the last quarter. Joined they are the text, except that a part without any words
    is left out.

    >>> in_parts("one two three", max_chars=8)
    ['one two ', 'three']
    """
    parts, start = [], 0
    while len(text) - start > max_chars:
        most = start + max_chars
        least = most - max_chars // 4
        cut = next((i + 1 for end in ("\n", " ") if (i := text.rfind(end, least, most)) >= 0), most)
        parts.append(text[start:cut])
        start = cut
    return [part for part in (*parts, text[start:]) if part.strip()]


def several(given: str | Iterable[T]) -> tuple[T | str, ...]:
    """What a caller gives where several are meant: a single text is one of them, not its letters.

    >>> several("home"), several(["home", "work"])
    (('home',), ('home', 'work'))
    """
    return (given,) if isinstance(given, str) else tuple(given)


def normal_name(name: str, what: str) -> str:
    """A name as it is stored: without spaces around it and in Unicode's composed form (NFC), so
    that what looks the same is the same. Checked as by `checked_name`."""
    normal = unicodedata.normalize("NFC", name).strip() if isinstance(name, str) else name
    return checked_name(normal, what)


def normal_tags(tags: str | Iterable[str]) -> tuple[str, ...]:
    """Tags as they are stored and looked for, each once: as `normal_name`, unchecked.

    >>> normal_tags(["home ", "home"])
    ('home',)
    """
    normal = (
        unicodedata.normalize("NFC", tag).strip() if isinstance(tag, str) else tag
        for tag in several(tags)
    )
    return tuple(dict.fromkeys(normal))


def compared_name(name: str) -> str:
    """A person's name in the form in which two of them are compared: upper and lower case, and
    spaces around it, make no difference.

    >>> compared_name(" Élodie") == compared_name("ÉLODIE")
    True
    """
    return unicodedata.normalize("NFC", name.casefold()).strip()


def checked_name(name: str, what: str) -> str:
    """Return a user name, tenant name or turn id if it is one printable line of at most 256
    characters."""
    usable = isinstance(name, str) and 0 < len(name) <= MAX_NAME and name.isprintable()
    if not usable:
        shown = name[:40] if isinstance(name, str) else name
        raise BadInput(
            f"{what} must be one printable line of 1 to {MAX_NAME} characters, not {shown!r:.80}"
        )
    return name
