"""Detects the language of a text by its script and by letters and words unique to a language.

Statistical detectors are unreliable on chat lines of a few words; scripts are not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from omoide.language.pack import DEFAULT, over_packs, pack, packs
from omoide.language.places import QUOTED
from omoide.language.sentences import both_ends
from omoide.language.tables import NEVER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omoide.language.pack import LanguagePack

_LETTER = re.compile(r"[^\W\d_]")
_MARKS = ".,:;!?…()\"'“”‘’。、，！？「」『』《》«»"
_WORD = 3
"""Letters of a word in a script where they say more than Latin ones, about."""


@over_packs
def _scripts() -> tuple[tuple[LanguagePack, ...], ...]:
    """The packs by script; in each group those with a pattern `own` first."""
    groups: dict[str, list[LanguagePack]] = {}
    for language in packs():
        groups.setdefault(language.detection.script, []).append(language)
    return tuple(
        tuple(sorted(group, key=lambda language: language.detection.own is NEVER))
        for group in groups.values()
    )


@over_packs
def _plain_ascii() -> bool:
    """Whether ASCII text must be English: no other language is detected by ASCII words."""
    own = [language.detection.own for language in packs() if language.detection.own is not NEVER]
    return not any(rule.pattern.isascii() and "\\u" not in rule.pattern for rule in own)


def detect_language(text: str, *, default: str = DEFAULT) -> str:
    """The language code of `text`; `default` if it cannot be determined.

    Latin text without evidence of another language counts as English, since our English prompts
    ask the model to keep to the language of the dialogue.
    """
    text = both_ends(text)
    if text.isascii() and _plain_ascii():
        return DEFAULT if _LETTER.search(text) else default
    best, most, letters = None, 0.0, 0
    counts = [(group, len(group[0].detection.letters.findall(text))) for group in _scripts()]
    for group, number in counts:
        if number and number * group[0].detection.weight >= most:
            best, most, letters = group, number * group[0].detection.weight, number
    if best is None:
        return default
    for group, number in counts:
        few = number * _WORD <= letters  # a word has one letter at least
        if group is best or few:
            continue
        if _speaks_of(text, group, other=best, letters=letters):
            best, letters = group, number
            break
    return next(
        (language.code for language in best if _is_own(language, text, letters)), best[-1].code
    )


def _speaks_of(
    text: str, group: tuple[LanguagePack, ...], *, other: tuple[LanguagePack, ...], letters: int
) -> bool:
    """Whether a sentence in the script of `group` only mentions words of another script, which has
    that many letters: "What does 안녕하세요 mean?". Most of its words are its own, a function word
    among them; and it begins and ends with them, or it alone asks. So a sentence about The Lord of
    the Rings stays in the language that says so."""
    tokens = [token.strip(_MARKS) for token in text.split()]
    own = [_is_word(token, group) for token in tokens]
    words = [token.casefold() for token, is_own in zip(tokens, own, strict=True) if is_own]
    function = frozenset[str]().union(*(p.words.stop | p.words.plain for p in group))
    if len(words) < 2 or len(words) * _WORD <= letters or function.isdisjoint(words):
        return False
    asked = text.strip().rstrip("?？ ")  # any language asks with a question mark
    return (own[0] and own[-1]) or (_asks(asked, group) and not _asks(asked, other))


def _is_word(token: str, group: tuple[LanguagePack, ...]) -> bool:
    letter = group[0].detection.letters
    return bool(token) and all(char in "'’-" or letter.match(char) for char in token)


def _asks(text: str, group: tuple[LanguagePack, ...]) -> bool:
    return any(language.questions.asks.search(text) for language in group)


def _is_own(language: LanguagePack, text: str, letters: int) -> bool:
    """Whether a text in the language's script has enough letters or words unique to it, or two of
    its function words with letters that English has not: "Tên tôi là gì?" has no other sign."""
    how = language.detection
    number = len(how.own.findall(text))
    share = (how.own_share_of_one if number == 1 else 0) or how.own_share
    if number > 0 and number >= share * letters:
        return True
    words = {token.strip(_MARKS).casefold() for token in text.split()}
    return sum(not word.isascii() for word in words & language.words.stop) > 1


def dominant_language(texts: Iterable[str], *, default: str = DEFAULT) -> str:
    """The language of most of the characters, so that one foreign line does not matter. What is
    quoted does not count, unless a text is nothing else: it may be in any language."""
    weight: dict[str, int] = {}
    for whole in map(both_ends, texts):
        text = outside if _LETTER.search(outside := QUOTED.sub(" ", whole)) else whole
        if language := detect_language(text, default=""):
            size = len(text) * pack(language).detection.density
            weight[language] = weight.get(language, 0) + size
    for group in _scripts():
        plain = group[-1].code
        for other in group[:-1]:
            unclear = weight.get(plain, 0)
            if 0 < unclear < weight.get(other.code, 0) * other.detection.absorbs:
                weight[other.code] += weight.pop(plain)
    return max(weight, key=lambda code: weight[code]) if weight else default
