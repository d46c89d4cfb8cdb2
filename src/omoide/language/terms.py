"""Index terms of a text: stems for English, character bigrams for Chinese, Japanese and Korean,
syllables with and without diacritics for Vietnamese.

Bigrams find every two-character query; dictionary segmenters miss up to half of them
(docs/experiments/*-faster-recall.md). A query of one character is a prefix search: every character
begins a bigram, and the last of a run is indexed separately (`last_characters`).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from math import exp
from typing import TYPE_CHECKING

from omoide.language.pack import over_packs, packs
from omoide.language.sentences import QUESTION, QUESTION_MARK, split_sentences
from omoide.language.stemming import stem

if TYPE_CHECKING:
    from collections.abc import Sequence

CJK = r"\u3005\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Chinese, Japanese and Korean characters, for a class of a pattern."""


@over_packs
def stop_words() -> frozenset[str]:
    """The stop words of all packs. They are indexed, since BM25 gives them little weight, but
    ignored when two texts are compared word by word."""
    return frozenset[str]().union(*(pack.words.stop for pack in packs()))


@over_packs
def stop_stems() -> frozenset[str]:
    """`stop_words` as index terms."""
    return frozenset(term for word in stop_words() for term in (word, *latin(word)))


@over_packs
def _signs() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns for a run of unspaced characters or a word, and for one unspaced character."""
    signs = CJK + "".join(pack.words.unspaced for pack in packs())
    word = rf"[^\W_{signs}]+"
    return re.compile(rf"[{signs}]+|{word}(?:['’]{word})*"), re.compile(f"[{signs}]")


def terms(text: str) -> list[str]:
    """All index terms of `text`, in order, with repetitions. One character right after a word or a
    number belongs to it: a term "年" of its own would stand for every year.

    >>> terms("She runs in 東京都"), terms("Python写代码3年")
    (['she', 'run', 'in', '東京', '京都'], ['python', '写代', '代码', '3', '3年'])
    """
    found: list[str] = []
    runs, sign = _signs()
    word, end = "", 0
    for match in runs.finditer(unicodedata.normalize("NFKC", text).lower()):
        run = match.group()
        if not sign.match(run):
            found += latin(run)
            word, end = run, match.end()
        elif len(run) > 1:
            found += [run[i : i + 2] for i in range(len(run) - 1)]
        else:
            found.append(word + run if end and match.start() == end else run)
    return found


def last_characters(text: str) -> list[str]:
    """The last character of each Chinese, Japanese or Korean run, unless it is a term itself, since
    no bigram begins with it.

    >>> last_characters("東京 and 猫, 私の猫, 3年")
    ['京', '猫', '年']
    """
    if text.isascii():
        return []
    runs, sign = _signs()
    found, end = [], 0
    for match in runs.finditer(unicodedata.normalize("NFKC", text).lower()):
        run = match.group()
        if not sign.match(run):
            end = match.end()
        elif len(run) > 1 or (end and match.start() == end):
            found.append(run[-1])
    return found


def is_prefix(term: str) -> bool:
    """Whether a query term matches all terms that begin with it: a single Chinese, Japanese or
    Korean character does.

    >>> is_prefix("猫"), is_prefix("東京"), is_prefix("a")
    (True, False, False)
    """
    return len(term) == 1 and bool(_signs()[1].match(term))


def query_terms(text: str, *, found: Sequence[str] | None = None) -> list[str]:
    """The distinct index terms to search for, given all terms of the text if they are known.
    Vietnamese typed without diacritics also finds words
    with them; typed with them, it finds only those. Stop words are left out if other terms remain:
    they cost most of a search and decide nothing."""
    wanted = dict.fromkeys(
        term for term in (terms(text) if found is None else found) if not term.startswith("~")
    )
    if content := [term for term in wanted if term not in stop_stems()]:
        wanted = dict.fromkeys(content)
    if all(term.isascii() for term in wanted):
        for match in _signs()[0].finditer(text.lower()):
            if match.group() not in stop_words():
                wanted[f"~{match.group()}"] = None
    return list(wanted)


def content_terms(text: str) -> set[str]:
    """The terms that carry meaning, for comparing two short texts.

    Bigrams of pure hiragana are mostly grammar and are left out if there are other terms.
    """
    candidates = {term for term in terms(text) if term not in stop_stems()}
    content = {term for term in candidates if not KANA_ONLY.fullmatch(term)}
    return content or candidates


def informativeness(text: str, *, count: int | None = None) -> float:
    """How much a text says, from 0 to 1: its number of terms outside questions, saturating.
    `count` is the number of all its terms, if it is known.

    >>> informativeness("Really?"), round(informativeness("I moved to Lisbon with my two cats."), 2)
    (0.0, 0.39)
    """
    if not QUESTION_MARK.search(text):
        statement_terms = len(terms(text)) if count is None else count
    else:
        sentences = split_sentences(text)
        statement_terms = sum(len(terms(s)) for s in sentences if not QUESTION.search(s))
    return 1 - exp(-statement_terms / FULL)


FULL = 16
"""Number of terms at which `informativeness` reaches 63 %."""
KANA_ONLY = re.compile(r"[\u3041-\u309f]+")
"""Terms of pure hiragana."""


@lru_cache(maxsize=65_536)
def latin(word: str) -> tuple[str, ...]:
    """The terms of one word of a language that puts spaces between words."""
    word = word.replace("’", "'")
    folded = word if word.isascii() else _fold(word)
    if folded != word:  # Vietnamese, or another language with diacritics: never stem it
        return (word, f"~{folded}")
    return (stem(word.removesuffix("'s")),)


def _fold(word: str) -> str:
    """The word without diacritics, as people type it on a keyboard that has none."""
    plain = unicodedata.normalize("NFD", word.replace("đ", "d"))
    return unicodedata.normalize("NFC", "".join(c for c in plain if not unicodedata.combining(c)))
