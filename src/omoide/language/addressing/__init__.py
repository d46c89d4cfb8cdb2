"""Notes about the user, as said to the user: "The user lives in Porto" becomes "You live in Porto".

Memory writes about a person in the third person, because a model reads it. A page that shows it to
that person should say "you". There is one small module for each built-in language; a text in any
other language stays as it is. What a module is not sure of stays in the third person, which reads
stiff but is never wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from omoide.language.addressing import chinese, english, japanese, korean, vietnamese

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

_MODULES: Final[Mapping[str, ModuleType]] = {
    "en": english,
    "zh": chinese,
    "ja": japanese,
    "ko": korean,
    "vi": vietnamese,
}


def to_user(text: str, language: str, *, name: str = "", about_user: bool = True) -> str:
    """A note as said to the user. `name` is the user's, if known: a note may use it instead of "the
    user". Unless it is `about_user`, only "the user" is replaced, not pronouns."""
    module = _MODULES.get(language)
    if module is None:
        return text
    said: str = module.to_user(text, name=name, about_user=about_user)
    return capitalised(said, like=text) if said.strip() else text


def apposed_name(text: str, language: str) -> str:
    """The user's name, if a note states it beside "the user"; empty otherwise."""
    module = _MODULES.get(language)
    found = module.NAMED.match(text) if module else None
    return str(found[1]) if found else ""


def from_user(text: str, language: str) -> str:
    """A sentence that speaks to the user or is said by the user, as a note in the third person:
    "You live in Porto" and "I live in Porto" become "The user lives in Porto". A note stays."""
    module = _MODULES.get(language)
    if module is None:
        return text
    note: str = module.from_user(text)
    return note


def capitalised(text: str, *, like: str) -> str:
    """The text with a capital first letter if `like` has one."""
    return text[:1].upper() + text[1:] if like[:1].isupper() else text
