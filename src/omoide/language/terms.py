"""The terms a text is found by: stems for English, character bigrams for Chinese, Japanese and
Korean, syllables with and without diacritics for Vietnamese.

Bigrams made here find every two-character query; dictionary segmenters miss up to half of them
(docs/LOG.md). A query of one character is looked up by the beginnings of terms: every character
begins a bigram, and the last of a run is kept beside them (`endings`).
"""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache
from math import exp

import snowballstemmer

from omoide.language.sentences import split_sentences

_CJK = r"\u3005\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_RUN = re.compile(rf"[{_CJK}]+|[^\W_]+(?:['’][^\W_]+)*", re.UNICODE)
_IS_CJK = re.compile(rf"[{_CJK}]")
_stemmer = snowballstemmer.stemmer("english")
_stemming = threading.Lock()
"""The stemmer works in place: two threads at once (a store's and the event loop's) would get each
other's stems, and the cache below would keep them."""

STOP = frozenset(
    """a an the and or but if then so as at by for from in into of on to with about over than
    i me my mine you your yours he him his she her hers it its we us our ours they them their
    theirs this that these those is am are was were be been being do does did done have has had
    having will would can could should may might must not no nor n't s re ve ll d m t don didn
    doesn isn aren wasn weren what which who whom whose when where why how there here very just
    too also oh yes yeah well really like get got go going one
    user assistant speaker""".split()
)
"""English words that say nothing about what a text is about. Kept in the index, where BM25
weighs them down; left out where two texts are compared word by word."""


def terms(text: str) -> list[str]:
    """All index terms of `text`, in order, with repetitions.

    >>> terms("She runs in 東京都")
    ['she', 'run', 'in', '東京', '京都']
    """
    found: list[str] = []
    for match in _RUN.finditer(unicodedata.normalize("NFKC", text).lower()):
        run = match.group()
        if _IS_CJK.match(run):
            found += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
        else:
            found += _latin(run)
    return found


def endings(text: str) -> list[str]:
    """The last character of each run of Chinese, Japanese or Korean, where it begins no term.

    >>> endings("東京 and 猫, 私の猫")
    ['京', '猫']
    """
    runs = _RUN.findall(unicodedata.normalize("NFKC", text).lower())
    return [run[-1] for run in runs if len(run) > 1 and _IS_CJK.match(run)]


def is_beginning(term: str) -> bool:
    """Whether a term of a query stands for all terms that begin with it: one Chinese, Japanese or
    Korean character does.

    >>> is_beginning("猫"), is_beginning("東京"), is_beginning("a")
    (True, False, False)
    """
    return len(term) == 1 and bool(_IS_CJK.match(term))


def query_terms(text: str) -> list[str]:
    """The distinct index terms to look for. Vietnamese typed without diacritics finds the words
    with them; typed with them, it finds only those. Words that every text has are left out if
    others remain: they cost most of a search and decide nothing."""
    wanted = dict.fromkeys(term for term in terms(text) if not term.startswith("~"))
    if content := [term for term in wanted if term not in STOP_STEMS]:
        wanted = dict.fromkeys(content)
    if all(term.isascii() for term in wanted):
        for match in _RUN.finditer(text.lower()):
            if match.group() not in STOP:
                wanted[f"~{match.group()}"] = None
    return list(wanted)


def content_terms(text: str) -> set[str]:
    """The terms that carry meaning, for comparing two short texts.

    Bigrams made of kana alone are mostly grammar and are left out where anything else is there.
    """
    found = {term for term in terms(text) if term not in STOP_STEMS}
    meaty = {term for term in found if not KANA_ONLY.fullmatch(term)}
    return meaty or found


def telling(text: str) -> float:
    """How much a text tells, from 0 to 1: its terms outside questions, with saturation.

    >>> telling("Really?"), round(telling("I moved to Lisbon with my two cats."), 2)
    (0.0, 0.39)
    """
    told = sum(len(terms(s)) for s in split_sentences(text) if not _ASKS.search(s))
    return 1 - exp(-told / _FULL)


_ASKS = re.compile(r"[?？][\"”」』)]*\s*$")
_FULL = 16
"""Terms after which a text tells 63 % of what it could."""
KANA_ONLY = re.compile(r"[\u3041-\u309f]+")
"""Terms in hiragana alone."""


@lru_cache(maxsize=65_536)
def _latin(word: str) -> tuple[str, ...]:
    word = word.replace("’", "'")
    folded = _fold(word)
    if folded != word:  # Vietnamese, or another language with diacritics: never stem it
        return (word, f"~{folded}")
    with _stemming:
        stem = _stemmer.stemWord(re.sub(r"'s$", "", word))
    return (stem,)


def _fold(word: str) -> str:
    """Without diacritics, as people type when their keyboard has none."""
    plain = unicodedata.normalize("NFD", word.replace("đ", "d"))
    return unicodedata.normalize("NFC", "".join(c for c in plain if not unicodedata.combining(c)))


STOP_STEMS = frozenset(stem for word in STOP for stem in (word, *_latin(word)))
"""`STOP` as index terms."""
