"""Language packs: a folder with `language.toml` and `prompts/*.txt` for each language.

The built-in packs are in `packs/`. A package adds one through the entry point group
`omoide.languages`, a program through `register`. A pack is read when its language is first used.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar, cast

from omoide.errors import BadInput, BadLanguage
from omoide.language.reading import Reader
from omoide.language.relative import Relative
from omoide.language.tables import (
    Ago,
    Change,
    Clauses,
    Dates,
    Detection,
    Feeling,
    Names,
    Note,
    Person,
    Questions,
    Replies,
    Topics,
    Words,
)
from omoide.plugins import Group
from omoide.plugins import load as load_plugin
from omoide.plugins import names as plugin_names

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.resources.abc import Traversable

BUILT_IN: Final = ("en", "zh", "ja", "ko", "vi")
DEFAULT: Final = "en"
"""Used for a language without a pack, and for prompts that a pack lacks."""
FILE: Final = "language.toml"

Given = ParamSpec("Given")
Value = TypeVar("Value")


TABLES: Final = (
    "detection",
    "person",
    "words",
    "note",
    "questions",
    "replies",
    "names",
    "clauses",
    "dates",
    "relative",
    "change",
    "feeling",
    "topics",
    "ago",
)


@dataclass(frozen=True, kw_only=True)
class LanguagePack:
    """Everything omoide knows about a language. Tables are parsed on first use."""

    code: str
    name: str
    folder: Traversable
    analyser: str
    """Its word analyser as `module:class`; empty if it has none."""
    reader: Reader = field(repr=False)

    @cached_property
    def detection(self) -> Detection:
        """How to detect the language."""
        return self.reader.read(Detection, "detection")

    @cached_property
    def person(self) -> Person:
        """How speakers refer to themselves and to the other."""
        return self.reader.read(Person, "person")

    @cached_property
    def words(self) -> Words:
        """Word lists, by how much the words say."""
        return self.reader.read(Words, "words")

    @cached_property
    def note(self) -> Note:
        """How a note is written."""
        return self.reader.read(Note, "note")

    @cached_property
    def questions(self) -> Questions:
        """How people ask."""
        return self.reader.read(Questions, "questions")

    @cached_property
    def replies(self) -> Replies:
        """How people greet, and what a reply must not say."""
        return self.reader.read(Replies, "replies")

    @cached_property
    def names(self) -> Names:
        """How people state their names."""
        return self.reader.read(Names, "names")

    @cached_property
    def clauses(self) -> Clauses:
        """Clauses and endings."""
        return self.reader.read(Clauses, "clauses")

    @cached_property
    def dates(self) -> Dates:
        """How days are named."""
        return self.reader.read(Dates, "dates")

    @cached_property
    def relative(self) -> Relative:
        """How days are named from the day of speaking."""
        return self.reader.read(Relative, "relative")

    @cached_property
    def change(self) -> Change:
        """How people say that something has changed."""
        return self.reader.read(Change, "change")

    @cached_property
    def feeling(self) -> Feeling:
        """Words of feeling."""
        return self.reader.read(Feeling, "feeling")

    @cached_property
    def topics(self) -> Topics:
        """How topics are found."""
        return self.reader.read(Topics, "topics")

    @cached_property
    def ago(self) -> Ago | None:
        """How to say how long ago something was; None if the pack does not say."""
        return self.reader.read(Ago, "ago") if self.reader.has("ago") else None

    def check(self) -> None:
        """Parse every table. Raises `BadLanguage`, naming the file and the key, for the first
        thing that is missing or wrong."""
        for table in TABLES:
            getattr(self, table)
        self.reader.refuse_others({*TABLES, "name", "analyser", "parts"})

    def prompt(self, name: str) -> str | None:
        """The text of a prompt, or None if the pack has none of that name."""
        file = self.folder / "prompts" / f"{name}.txt"
        return file.read_text("utf-8") if file.is_file() else None

    def prompts(self) -> tuple[str, ...]:
        """The names of its prompts, sorted."""
        folder = self.folder / "prompts"
        listed = folder.iterdir() if folder.is_dir() else ()
        return tuple(sorted(f.name.removesuffix(".txt") for f in listed if f.name.endswith(".txt")))


_registered: dict[str, Traversable] = {}
_caches: list[Callable[[], None]] = []


def over_packs(function: Callable[Given, Value]) -> Callable[Given, Value]:
    """Cache a function that reads packs; the cache is cleared when a pack is registered."""
    cached = cache(function)
    _caches.append(cached.cache_clear)
    return cast("Callable[Given, Value]", cached)


@over_packs
def languages() -> tuple[str, ...]:
    """The codes of all packs: the built-in ones, then the others, sorted."""
    others = {*plugin_names(Group.LANGUAGES), *_registered} - set(BUILT_IN)
    return (*BUILT_IN, *sorted(others))


@over_packs
def packs() -> tuple[LanguagePack, ...]:
    """All packs, in the order of `languages`."""
    return tuple(pack(code) for code in languages())


def pack(code: str) -> LanguagePack:
    """The pack of a language; English if there is none. Raises `BadLanguage`, naming the file and
    the key, if the pack cannot be read."""
    if code not in _packs:
        if code not in languages():
            return pack(DEFAULT)
        _packs[code] = _load(code)
    return _packs[code]


_packs: dict[str, LanguagePack] = {}


def register(code: str, folder: Traversable) -> None:
    """Add the pack in a folder, for this process. Raises `BadLanguage` if it cannot be read, and
    `BadInput` for the code of a built-in pack."""
    if code in BUILT_IN:
        raise BadInput(
            f"the language {code!r} is built in and cannot be replaced; use another code"
        )
    load(code, folder)
    _registered[code] = folder
    _clear_caches()


def unregister(code: str) -> None:
    """Remove a registered pack."""
    _registered.pop(code, None)
    _clear_caches()


def _clear_caches() -> None:
    _packs.clear()
    for clear in _caches:
        clear()


def _load(code: str) -> LanguagePack:
    if code in _registered:
        return load(code, _registered[code])
    if code in BUILT_IN:
        return load(code, files("omoide.language") / "packs" / code)
    return load(code, files(load_plugin(Group.LANGUAGES, code, known=BUILT_IN)))


def load(code: str, folder: Traversable) -> LanguagePack:
    """Read the pack in a folder. Raises `BadLanguage` if it cannot be read."""
    file = folder / FILE
    try:
        content = tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise BadLanguage(f"{file} cannot be read: {error}") from error
    reader = Reader(content, file=str(file))
    language = LanguagePack(
        code=code,
        name=reader.text("name", code),
        folder=folder,
        analyser=reader.text("analyser"),
        reader=reader,
    )
    if code not in BUILT_IN:  # ours are checked by the tests
        language.check()
    return language
