"""A language's phrases: read from its file, and filled in grammatically.

A phrase has `{slots}`; `{town}` is the stated value, `{town*}` another one (the previous one, or a
slip of the tongue), `{town.1}` the second form of a value written `first|second`.
`<plain/polite>` is chosen by how the speaker talks. Korean particles are in brackets, in the form
after a consonant (`[이]`, `[을]`, `[으로]`); English has `a(n)`; Vietnamese speakers refer to
themselves and each other as `[mình]` and `[bạn]`.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from omoide.errors import BadInput

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True)
class FactChange:
    """How a fact changes later."""

    fact: str
    """The new fact; `{town}` is the old value, `{town*}` the new one."""
    tell: tuple[str, ...]
    react: tuple[str, ...] = ()
    cue: tuple[tuple[str, ...], ...] = ()
    """Messages and replies after the change; those of the kind no longer fit."""


@dataclass(frozen=True, kw_only=True)
class FactKind:
    """A kind of fact, and how people state it."""

    name: str
    fact: str
    tell: tuple[str, ...]
    ask: tuple[str, ...] = ()
    mid: tuple[str, ...] = ()
    """As a part of a longer sentence, but not the last."""
    fin: tuple[str, ...] = ()
    """As the last part; `mid` is used if a language has one form for both."""
    react: tuple[str, ...] = ()
    back: bool = False
    """Whether the friend may state it too."""
    cue: tuple[tuple[str, ...], ...] = ()
    """A message, then replies to choose from."""
    change: tuple[FactChange, ...] = ()
    without: tuple[str, ...] = ()
    """Kinds that would contradict it."""


@dataclass(frozen=True, kw_only=True)
class PhraseBook:
    """All phrases of a language."""

    language: str
    slots: Mapping[str, tuple[str, ...]]
    kinds: Mapping[str, FactKind]
    open: tuple[tuple[str, ...], ...]
    close: tuple[tuple[str, ...], ...]
    small: tuple[tuple[str, ...], ...]
    """Small talk: an exchange that the user starts and that contains no fact."""
    trap: tuple[tuple[str, ...], ...]
    """What sounds like a fact and is none: hypotheses, other people, jokes, denials. A line of the
    friend begins with `>`."""
    plain: tuple[tuple[str, ...], ...]
    """A message that calls for no fact, and replies."""
    lead: tuple[str, ...]
    """Sentences that a message may begin with."""
    also: tuple[str, ...]
    """What precedes a second fact in one message."""
    question: tuple[str, ...]
    """Questions back to the friend that a message may end with."""
    react: tuple[str, ...]
    nod: tuple[str, ...]
    """Neutral replies of the friend."""
    drop: str
    """A leading word that the later parts of a long sentence omit."""
    join: tuple[str, str]
    """Between parts of a long sentence, and before its last part."""
    end: tuple[str, ...]
    """Endings of a sentence made of parts."""
    space: str
    voices: tuple[Mapping[str, str], ...]
    """How a speaker may refer to themselves and the other."""


CASED = ("en", "vi")
EXCHANGES = ("open", "close", "small", "trap", "plain")
LISTED = ("lead", "also", "question", "react", "nod", "end", "join")


@lru_cache(maxsize=8)
def book(language: str) -> PhraseBook:
    """The phrases of a language. Raises `BadInput` if there are none."""
    try:
        text = (files("omoide_tune.own") / f"{language}.toml").read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"there are no phrases for the language {language!r}") from error
    data = tomllib.loads(text)
    slots = {name: tuple(values) for name, values in data["slots"].items()}
    slots["date"] = tuple(_dates(data["date"], language))
    entries: dict[str, Any] = data["talk"]
    exchanges: dict[str, Any] = {n: tuple(tuple(one) for one in entries[n]) for n in EXCHANGES}
    listed: dict[str, Any] = {n: tuple(entries[n]) for n in LISTED}
    return PhraseBook(
        language=language,
        slots=slots,
        kinds={name: _kind(name, of) for name, of in data["kind"].items()},
        drop=entries.get("drop", ""),
        space=entries["space"],
        voices=tuple(entries.get("voices", [{}])),
        **exchanges,
        **listed,
    )


def _kind(name: str, of: dict[str, Any]) -> FactKind:
    changes = tuple(
        FactChange(
            fact=one["fact"],
            tell=tuple(one["tell"]),
            react=tuple(one.get("react", ())),
            cue=tuple(tuple(cue) for cue in one.get("cue", ())),
        )
        for one in of.pop("change", ())
    )
    cue = tuple(tuple(one) for one in of.pop("cue", ()))
    fact, back = of.pop("fact"), of.pop("back", False)
    lists = {key: tuple(value) for key, value in of.items()}
    return FactKind(name=name, fact=fact, back=back, cue=cue, change=changes, **lists)


def _dates(how: dict[str, Any], language: str) -> list[str]:
    found = []
    for number, month in enumerate(how["months"], start=1):
        for day in range(1, 29):
            ordinal = f"{day}{_th(day)}" if language == "en" else str(day)
            found.append(how["form"].format(month=month, number=number, day=ordinal))
    return found


def _th(day: int) -> str:
    return "th" if 10 < day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


@dataclass(kw_only=True)
class PhraseFiller:
    """Fills the phrases of one chain without repeating a value, such as a name or a town."""

    book: PhraseBook
    dice: random.Random
    polite: bool
    voice: Mapping[str, str]
    used: dict[str, set[str]] = field(default_factory=dict)

    def value(self, slot: str) -> str:
        """A value that the chain has not used."""
        used = self.used.setdefault(slot, set())
        left = [one for one in self.book.slots[slot] if one not in used]
        picked = self.dice.choice(left or self.book.slots[slot])
        used.add(picked)
        return picked

    def fill(self, phrase: str, values: dict[str, str], *, polite: bool | None = None) -> str:
        """The phrase with its slots filled; new slots get values, which are added to `values`."""

        def put(found: re.Match[str]) -> str:
            name, other, form = found[1], found[2], found[3]
            key = name + other
            if key not in values:
                values[key] = self.value(re.sub(r"\d+$", "", name))
            forms = values[key].split("|")
            return forms[int(form[1:])] if form else forms[0]

        text = re.sub(r"\{(\w+)(\*?)(\.\d)?\}", put, phrase)
        courteous = self.polite if polite is None else polite
        text = re.sub(r"<([^<>/]*)/([^<>/]*)>", lambda m: m[2 if courteous else 1], text)
        text = re.sub(r"\[([^\]]+)\]", lambda m: self._word(m, text, courteous), text)
        text = re.sub(r"\b([Aa])\(n\) (?=([\w']))", lambda m: _article(m, text), text)
        return text[:1].upper() + text[1:] if self.book.language in CASED else text

    def _word(self, found: re.Match[str], text: str, courteous: bool) -> str:
        name = found[1]
        if name in self.voice:
            return self.voice[name]
        if name[:1].isupper() and name.lower() in self.voice:
            said = self.voice[name.lower()]
            return said[:1].upper() + said[1:]
        if name in _PARTICLES:
            return particle(text[: found.start()], name, polite=courteous)
        raise BadInput(f"unknown form [{name}] in {text!r}")


_PARTICLES = {
    "이": ("이", "가"),
    "은": ("은", "는"),
    "을": ("을", "를"),
    "과": ("과", "와"),
    "으로": ("으로", "로"),
    "이에요": ("이에요", "예요"),
    "이었": ("이었", "였"),
    **{f"이{end}": (f"이{end}", end) for end in "라 랑 나 야 고 거 다 네 가 지 래 냐 시".split()},
}
"""After a consonant, after a vowel."""


def particle(before: str, name: str, *, polite: bool = False) -> str:
    """The form of a Korean particle after the preceding text."""
    if name == "이야" and polite:
        name = "이에요"
    after_consonant, after_vowel = _PARTICLES[name]
    code = ord(before[-1]) - 0xAC00 if before else -1
    if not 0 <= code < 11172:
        digit = before[-1:]
        closed = digit in "013678" if digit.isdigit() else False
        last = 8 if digit in "178" else 1 if closed else 0
    else:
        last = code % 28
    if name == "으로" and last == 8:
        return after_vowel
    return after_consonant if last else after_vowel


def _article(found: re.Match[str], text: str) -> str:
    rest = text[found.end() :].lower()
    odd = re.match(r"hour|honest|heir|8|11\b|18\b", rest)
    plain = re.match(r"uni|eu|one\b|ukulele|use", rest)
    vowel = found[2].lower() in "aeiou" and not plain
    return f"{found[1]}n " if odd or vowel else f"{found[1]} "
