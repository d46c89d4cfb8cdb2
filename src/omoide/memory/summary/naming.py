"""The user's name in a memory: noted by rule from their own words, and known again in a note.

A small model often notes everything of "Hi, I'm Ana, I work in a bakery" but the name. The name is
the first thing an old friend knows, so it does not depend on the model: what introduces the user
(`language.names`) becomes a fact of its own, beside the model's notes.
"""

from __future__ import annotations

import re
from string import Template
from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.language import LANGUAGES, introduced
from omoide.memory.summary.facts import VOICES, Fact
from omoide.memory.transcript import spoken
from omoide.prompts import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Turn
    from omoide.memory.transcript import Line


def told_name(session: Sequence[Line], language: str) -> str:
    """The name by which the user introduced themselves, the last if there are several."""
    found = ""
    for i, line in enumerate(session):
        if line.speaker is Speaker.USER:
            found = introduced(line.text, language, opening=i == 0) or found
    return found


def name_fact(name: str, language: str) -> Fact:
    """The fact that the user is called so, as all name facts are written here."""
    sentence = Template(words(language)["called"]).substitute(name=name)
    voice = VOICES[language]
    return Fact(about=Speaker.USER, text=sentence.removeprefix(voice.user).removesuffix(voice.stop))


def with_name(
    name: str, known: Sequence[Fact], told: Sequence[Fact], language: str
) -> tuple[list[Fact], list[Fact]]:
    """What was known and what a session told, with the name by which the user introduced
    themselves in it: it comes first of what was told, in the place of the model's notes of it,
    and what tells the same name in older words gives way to it."""
    if name:
        rest = [fact for fact in told if not _tells_name(fact, language, known=name)]
        told = [name_fact(name, language), *rest]
    new = {named(fact.text, language) for fact in told if fact.about is Speaker.USER} - {""}
    older = [fact for fact in known if _tells_name(fact, language, known=name) not in new]
    return older, list(told)


def names_in(facts: Sequence[Fact], language: str) -> list[Fact]:
    """Those of the facts that tell what the user is called."""
    return [fact for fact in facts if _tells_name(fact, language)]


def _tells_name(fact: Fact, language: str, *, known: str = "") -> str:
    return named(fact.text, language, known=known) if fact.about is Speaker.USER else ""


_UPPER = r"[A-ZÀ-ÖØ-ÞĀĂĐĨŌŨƠƯẠ-Ỹ][\w’'-]*"
_NAME = rf"{_UPPER}(?: {_UPPER}){{0,3}}"
_NOTE = {
    "en": rf"(?:(?:is |has (?:a |the )?name |goes by )(?:called |named |of )?|name is )({_NAME})",
    "zh": r"(?:的?(?:名字|姓名)(?:是叫?|叫)|名叫|是?叫)([\w·]{1,12}?)",
    "ja": r"(?:名前[はが])?([\w・]{1,16}?)という(?:名前|人)(?:だ|である|です)?"
    r"|名前[はが]([\w・]{1,16}?)(?:です|だ|である)?",
    "ko": r"(\w{1,12}?)이?라는 이름(?:이다|을 가(?:지고 있|졌)다|이)?"
    r"|이름[은이] (\w{1,12}?)(?:이다|다|입니다)?",
    "vi": rf"(?:(?:có )?tên (?:là )?|được gọi là )({_NAME})",
}
_NAMED = {code: re.compile(pattern) for code, pattern in _NOTE.items()}
_LEAD = {
    "en": re.compile(r"^(?:the )?user(?:'s (?:full |first )?)?\s*", re.IGNORECASE),
    "zh": re.compile("^用户"),
    "ja": re.compile("^ユーザー[はの]"),
    "ko": re.compile("^사용자[는의] "),
    "vi": re.compile("^người dùng ", re.IGNORECASE),
}
_COPULA = {
    "en": "is {}",
    "zh": "是{}",
    "ja": "{}(?:だ|です|である)?",
    "ko": "{}(?:이다|다)?",
    "vi": "là {}",
}


def named(text: str, language: str, *, known: str = "") -> str:
    """The name that a sentence or predicate about the user tells and nothing else; empty if it
    tells something else too. `known` is a name by which "is Ana" is recognised."""
    predicate = _LEAD[language].sub("", text.strip()).rstrip(" .。．")
    if found := _NAMED[language].fullmatch(predicate):
        name = next(part for part in found.groups() if part)
        if language != "en" or not predicate.startswith(f"is {name}") or name == known:
            return name
    if known and re.fullmatch(_COPULA[language].format(re.escape(known)), predicate):
        return known
    return ""


def introducing(part: str, turns: Sequence[Turn]) -> list[str] | None:
    """The turns by which the user introduced themselves under the name that a sentence, or a part
    of one, tells; None if it tells no name, or something else too."""
    for language in LANGUAGES:
        if name := named(part, language):
            return [
                turn.id
                for i, turn in enumerate(turns)
                if turn.speaker is Speaker.USER
                and introduced(spoken(turn), language, opening=i == 0) == name
            ]
    return None
