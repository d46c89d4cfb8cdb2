"""Which text may be recorded."""

from __future__ import annotations

import re

from omoide.errors import BadInput, BadText, EmptyText, TextTooLong

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def checked_text(text: str, *, longest: int) -> str:
    """`text` as it came, or an error that says what to do. Nothing is ever quietly altered."""
    if not text.strip():
        raise EmptyText("the text is empty: say something, or leave the turn out")
    if len(text) > longest:
        raise TextTooLong(
            f"the text has {len(text):,} characters and a turn may have {longest:,}: "
            "split it into several turns, or raise OMOIDE_LONGEST"
        )
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadText(
            f"the text is not valid Unicode at character {error.start}: decode it as UTF-8 first"
        ) from error
    if found := _CONTROL.search(text):
        raise BadText(
            f"the text holds the control character U+{ord(found.group()):04X} "
            f"at {found.start()}: remove it"
        )
    return text


def printable(answer: str) -> str:
    """A model's answer without control characters, which nobody said on purpose; empty if no words
    are left. Halves of a character that came apart are joined; one without the other is marked."""
    if not answer.isprintable():
        whole = answer.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        answer = "".join(c for c in whole if c in "\n\t" or c.isprintable() or c > "\x9f")
    return answer if answer.strip() else ""


def checked_name(name: str, what: str) -> str:
    """A user, tenant or turn id: one printable line of at most 256 characters."""
    if not name or len(name) > 256 or not name.isprintable():
        raise BadInput(
            f"{what} must be one printable line of 1 to 256 characters, not {name[:40]!r}"
        )
    return name
