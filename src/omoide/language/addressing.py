"""Notes about the user, as said to the user: "The user lives in Porto" becomes "You live in Porto".

Memory writes about a person in the third person, because a model reads it. A page that shows it to
that person should say "you", and "I" where a note is about the assistant. Each language pack has a
small module for it, `addressing.py`; a text in a language whose pack has none stays as it is. What
a module is not sure of stays in the third person, which reads stiff but is never wrong.
"""

from __future__ import annotations

from importlib.resources import as_file
from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING

from omoide.language.pack import languages, over_packs, pack
from omoide.language.sentences import split_sentences

if TYPE_CHECKING:
    from types import ModuleType

FILE = "addressing.py"


@over_packs
def _module(language: str) -> ModuleType | None:
    """The module of the language's pack; None if it has none."""
    if language not in languages():
        return None
    file = pack(language).folder / FILE
    if not file.is_file():
        return None
    with as_file(file) as path:
        spec = spec_from_file_location(f"omoide.language.packs.{language}.addressing", path)
        if spec is None or spec.loader is None:
            return None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


def to_user(text: str, language: str, *, name: str = "", about_user: bool = True) -> str:
    """A note as said to the user. `name` is the user's, if known: a note may use it instead of "the
    user". Unless it is `about_user`, only "the user" is replaced, not pronouns."""
    module = _module(language)
    if module is None:
        return text
    said: str = module.to_user(text, name=name, about_user=about_user)
    return capitalised(said, like=text) if said.strip() else text


def all_to_user(text: str, language: str, *, name: str = "") -> str:
    """Several notes in one text, as said to the user."""
    parts, done = [], 0
    for sentence in split_sentences(text):
        start = text.find(sentence, done)
        if start < 0:  # the splitter joined what an abbreviation had parted
            return text
        parts += [text[done:start], to_user(sentence, language, name=name)]
        done = start + len(sentence)
    return "".join([*parts, text[done:]])


def apposed_name(text: str, language: str) -> str:
    """The user's name, if a note states it beside "the user"; empty otherwise."""
    module = _module(language)
    found = module.NAMED.match(text) if module else None
    return str(found[1]) if found else ""


def from_user(text: str, language: str, *, instead_of: str = "") -> str:
    """A sentence that speaks to the user or is said by the user, as a note in the third person:
    "You live in Porto" and "I live in Porto" become "The user lives in Porto". A note stays.

    `instead_of` is the note that it corrects: if that is about the assistant, which the user saw
    as "I", then "I" is the assistant here, too."""
    module = _module(language)
    if module is None:
        return text
    of_assistant = getattr(module, "OF_ASSISTANT", None)
    if of_assistant is not None and of_assistant.match(instead_of):
        note: str = module.from_assistant(text)
    else:
        note = module.from_user(text)
    return note


def capitalised(text: str, *, like: str) -> str:
    """The text with a capital first letter if `like` has one."""
    return text[:1].upper() + text[1:] if like[:1].isupper() else text
