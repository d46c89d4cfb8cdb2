"""The English Snowball stemmer ("Porter2") of Martin Porter, as its description defines it:
https://snowballstem.org/algorithms/english/stemmer.html

It gives the stems of release 3.1 of Snowball. Indexes and learnt weights hold these stems: a change
here changes what old databases find.

Two terms of the description: a *region* is the part of a word from a position to its end, and most
endings are removed only if they lie in the first or second one, so that something like a root is
left. A *short syllable* ends a word such as "hop", which needs its "e" back after "hoping".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container

_VOWELS = frozenset("aeiouy")
"""A "y" that is a consonant is written "Y" until the end."""
_SYLLABLE_END = re.compile("[aeiouy][^aeiouy]")

_WHOLE_WORDS = {
    "skis": "ski",
    "skies": "sky",
    "idly": "idl",
    "gently": "gentl",
    "ugly": "ugli",
    "early": "earli",
    "only": "onli",
    "singly": "singl",
} | {word: word for word in ("sky", "news", "howe", "atlas", "cosmos", "bias", "andes")}
_ROOTS = ("arsen", "commun", "emerg", "gener", "inter", "later", "organ", "past", "univers")
"""Beginnings after which the first region starts: "organization" is not about an organ."""

_VERB_ENDINGS = frozenset({"eed", "eedly", "ed", "edly", "ing", "ingly"})
_BEFORE_EED = frozenset({"exc", "proc", "succ"})
_BEFORE_ING = frozenset({"cann", "earr", "even", "herr", "inn", "out"})
_LOST_E = ("at", "bl", "iz")
_DOUBLES = tuple(2 * letter for letter in "bdfgmnprt")
_BEFORE_LI = tuple("cdeghkmnrt")

_STEP_2 = {
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "abli": "able",
    "entli": "ent",
    **dict.fromkeys(("izer", "ization"), "ize"),
    **dict.fromkeys(("ational", "ation", "ator"), "ate"),
    **dict.fromkeys(("alism", "aliti", "alli"), "al"),
    **dict.fromkeys(("fulness", "fulli"), "ful"),
    **dict.fromkeys(("ousli", "ousness"), "ous"),
    **dict.fromkeys(("iveness", "iviti"), "ive"),
    **dict.fromkeys(("biliti", "bli"), "ble"),
    **dict.fromkeys(("ogist", "ogi"), "og"),
    "lessli": "less",
    "li": "",
}
_STEP_3 = {
    "tional": "tion",
    "ational": "ate",
    "alize": "al",
    **dict.fromkeys(("icate", "iciti", "ical"), "ic"),
    **dict.fromkeys(("ful", "ness", "ative"), ""),
}
_STEP_4 = frozenset(
    "al ance ence er ic able ible ant ement ment ent ism ate iti ous ive ize ion".split()
)


def stem(word: str) -> str:
    """The stem of a lower-case English word. Words of one or two letters are left as they are.

    >>> [stem(word) for word in ("running", "hoped", "generously", "dying", "dogs'")]
    ['run', 'hope', 'generous', 'die', 'dog']
    """
    if len(word) < 3:
        return word
    if word in _WHOLE_WORDS:
        return _WHOLE_WORDS[word]
    word = word.removeprefix("'")
    if "y" in word:
        word = _mark_consonants(word)
    first, second = _regions(word)
    if "'" in word:
        word = word.removesuffix("'").removesuffix("'s")
    word = _without_verb_ending(_without_s(word), first)
    if word.endswith(("y", "Y")) and len(word) > 2 and word[-2] not in _VOWELS:
        word = f"{word[:-1]}i"
    word = _step_2(word, first)
    word = _step_3(word, first, second)
    word = _step_4(word, second)
    word = _step_5(word, first, second)
    return word.replace("Y", "y")


def _mark_consonants(word: str) -> str:
    """The word with "Y" for each "y" that begins it or follows a vowel."""
    letters = list(word)
    for i, letter in enumerate(letters):
        if letter == "y" and (i == 0 or letters[i - 1] in _VOWELS):
            letters[i] = "Y"
    return "".join(letters)


def _regions(word: str) -> tuple[int, int]:
    """Where the two regions begin: each after the next consonant that follows a vowel."""
    if word.startswith(_ROOTS):
        first = next(len(root) for root in _ROOTS if word.startswith(root))
    else:
        first = _after_syllable(word, 0)
    return first, _after_syllable(word, first)


def _after_syllable(word: str, start: int) -> int:
    found = _SYLLABLE_END.search(word, start)
    return found.end() if found else len(word)


def _longest(word: str, endings: Container[str]) -> str:
    """The longest of `endings` that the word has, or "". None has more than seven letters."""
    for length in range(7, 1, -1):
        if (ending := word[-length:]) in endings:
            return ending
    return ""


def _ends_short(word: str) -> bool:
    """Whether the word ends with a short syllable."""
    if len(word) == 2:
        return word[0] in _VOWELS and word[1] not in _VOWELS
    return word.endswith("past") or (
        len(word) > 2
        and word[-3] not in _VOWELS
        and word[-2] in _VOWELS
        and word[-1] not in _VOWELS
        and not word.endswith(("w", "x", "Y"))
    )


def _without_s(word: str) -> str:
    """Step 1a: plurals."""
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if not word.endswith("s") or word.endswith(("us", "ss")) or _VOWELS.isdisjoint(word[:-2]):
        return word
    return word[:-1]


def _without_verb_ending(word: str, first: int) -> str:
    """Step 1b: participles, and the adverbs made of them."""
    ending = _longest(word, _VERB_ENDINGS)
    if not ending:
        return word
    base = word[: -len(ending)]
    if ending.startswith("eed"):
        return word if base in _BEFORE_EED or len(base) < first else f"{base}ee"
    if ending == "ing":
        if base in _BEFORE_ING:
            return word
        if len(base) == 2 and base[0] not in _VOWELS and base[1] == "y":
            return f"{base[0]}ie"
    if _VOWELS.isdisjoint(base):
        return word
    if base.endswith(_LOST_E):
        return f"{base}e"
    if base.endswith(_DOUBLES):  # "add", "egg" and "off" keep both
        return base if len(base) == 3 and base[0] in "aeo" else base[:-1]
    return f"{base}e" if len(base) == first and _ends_short(base) else base


def _step_2(word: str, first: int) -> str:
    ending = _longest(word, _STEP_2)
    base = word[: len(word) - len(ending)]
    if not ending or len(base) < first:
        return word
    if (ending == "ogi" and not base.endswith("l")) or (
        ending == "li" and not base.endswith(_BEFORE_LI)
    ):
        return word
    return base + _STEP_2[ending]


def _step_3(word: str, first: int, second: int) -> str:
    ending = _longest(word, _STEP_3)
    base = word[: len(word) - len(ending)]
    if not ending or len(base) < (second if ending == "ative" else first):
        return word
    return base + _STEP_3[ending]


def _step_4(word: str, second: int) -> str:
    ending = _longest(word, _STEP_4)
    base = word[: len(word) - len(ending)]
    if len(base) < second or (ending == "ion" and not base.endswith(("s", "t"))):
        return word
    return base


def _step_5(word: str, first: int, second: int) -> str:
    """A last "e", or one "l" of two."""
    base = word[:-1]
    if word.endswith("e"):
        removed = len(base) >= second or (len(base) >= first and not _ends_short(base))
    else:
        removed = word.endswith("ll") and len(base) >= second
    return base if removed else word
