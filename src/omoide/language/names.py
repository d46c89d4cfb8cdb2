"""Extracts the name by which a speaker introduces themselves, by rule.

There are two kinds of phrases. "My name is Ana", 我叫安娜, ミキと申します announce a name
(`names.told` of a pack) and count anywhere. "I'm Ana", 我是王芳, ミキです look like any statement
about oneself (`names.stated`). They count only where people introduce themselves, at the start of
a clause or of a turn, and not before words that are not names. The rest is left to the model's
notes: the user can repeat a name that was missed, but being called by a wrong name is worse.

On real dialogue nearly everything that the rules found was a name (counts:
docs/experiments/*-chat-as-a-user.md).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from omoide.language.pack import pack
from omoide.language.tables import NEVER

if TYPE_CHECKING:
    from omoide.language.tables import Names

_SPLIT = re.compile(r"(?<=[.!?。！？\n])\s*")


def introduced_name(text: str, language: str, *, opening: bool = True) -> str:
    """The name that the speaker says is theirs, the last if there are several; empty if none.

    `opening` means that this is the first turn. If the pack has greetings, a bare 「ミキです」
    counts only there or after a greeting, since elsewhere it could answer any question.
    """
    how = pack(language).names
    name, greeted = "", opening
    for raw in _SPLIT.split(text):
        sentence = raw.strip()
        if greeting := how.greeting.match(sentence):
            greeted, sentence = True, sentence[greeting.end() :]
        if not sentence:
            continue
        match, announced = how.told.search(sentence), True
        if match is None and (how.greeting is NEVER or greeted):
            match, announced = how.stated.search(sentence), False
        if match and not how.asked.search(sentence):
            name = _checked(match, sentence, how, announced=announced) or name
        greeted = False
    return name


def _checked(match: re.Match[str], sentence: str, how: Names, *, announced: bool) -> str:
    """The matched name, or empty if it is denied or not a name. "April" counts after "my
    name is", but not after a mere "I'm"."""
    which, name = next((key, value) for key, value in match.groupdict().items() if value)
    if any(how.denied.search(sentence[:end]) for end in (match.start(), match.start(which))):
        return ""
    name = name.strip(" ,.’'-")
    if which == "plain":
        name = name.capitalize()
    if any(len(part) > 1 and part.isascii() and part.isupper() for part in name.split()):
        return ""
    if name.lower() in how.never:
        return ""
    if announced and which != "plain":
        return name
    common = {name.lower(), name.split()[0].lower()} & how.words
    return "" if common or name.endswith(how.endings) else name
