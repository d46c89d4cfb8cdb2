"""What a short question about one's own life may be answered with: "Where do I live?" by "I moved
to Bergen", which has none of its words.

A language pack names the parts of life that people ask about most, with the words by which they ask
for them and those by which they tell of them. All words of such a part count as one term of the
question. What is left of the question without its grammar keeps its own terms, so that "Where does
my sister live?" still looks for a sister.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final

from omoide.language import detect_language, pack
from omoide.language.sentences import QUESTION, split_sentences
from omoide.language.tables import NEVER
from omoide.language.terms import CJK, is_prefix, query_terms, stop_stems, terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from omoide.language.pack import LanguagePack

_WORD: Final = re.compile(r"[^\W\u3041-\u309f]+")
"""A word; in Japanese without what is written in hiragana, which is mostly grammar."""
_KANA: Final = re.compile(r"[\u3041-\u30ff]")
_LONE_SOUND: Final = re.compile(r"[\u3041-\u30ff\uac00-\ud7af]")
"""One syllable by itself, which is a particle or the rest of an ending; one Chinese character is a
word."""
LONGEST: Final = 60
"""Most characters of a short question, of which those without spaces count twice."""


@dataclass(frozen=True, kw_only=True)
class TopicTerms:
    """The terms of a question about parts of life."""

    groups: tuple[tuple[str, ...], ...]
    """For each part of life the terms that tell of it."""
    others: tuple[str, ...]
    """The terms of the rest of the question."""
    language: str

    def told_in(self, text: str, *, by_asker: bool = True, answering: str = "") -> bool:
        """Whether a turn tells of that part of the asker's life: a statement in it has a term for
        it, in a part that is not about the other person. A reply tells of what the question asked
        that it answers.

        >>> where = topic_terms("Where do I live?")
        >>> [where.told_in(text) for text in ("I moved to Bergen.", "I hope you get home soon.")]
        [True, False]
        """
        if by_asker and answering and self._named_in(answering, chain(*self.groups)):
            return True
        person = pack(self.language).person
        mine, yours = person.first, person.second
        if not by_asker:
            mine, yours = yours, mine
        every = (*chain(*self.groups), *self.others)
        return any(
            self._named_in(part, every)
            for sentence in split_sentences(text)
            if not QUESTION.search(sentence)
            for part in _about(sentence, mine, yours)
        )

    @staticmethod
    def _named_in(text: str, wanted: Iterable[str]) -> bool:
        its_terms = set(terms(text))
        return any(t in its_terms or (is_prefix(t) and t in text) for t in wanted)


def _about(sentence: str, one: re.Pattern[str], other: re.Pattern[str]) -> Iterator[str]:
    """The parts of a sentence about one of two people, by their pronouns: each part reaches to the
    next pronoun, and what comes before the first goes with it. All of it if there is none."""
    marks = [(match.start(), True) for match in one.finditer(sentence)]
    marks += [(match.start(), False) for match in other.finditer(sentence)]
    marks = sorted(marks) or [(0, True)]
    starts = [0, *(start for start, _ in marks[1:])]
    ends = [*starts[1:], len(sentence)]
    for (_, wanted), start, end in zip(marks, starts, ends, strict=True):
        if wanted:
            yield sentence[start:end]


@lru_cache(maxsize=64)
def topic_terms(text: str) -> TopicTerms | None:
    """The terms of a short question about the asker's life; None if it is not one.

    >>> topic_terms("Where does my sister live?").others
    ('sister',)
    >>> topic_terms("Where was the treaty signed?") is None
    True
    """
    language = detect_language(text)
    rules = pack(language)
    asks = bool(rules.questions.asks.search(text))
    if not asks or _length(text) > LONGEST or not _about_asker(text, rules):
        return None
    rest, groups = text, list[tuple[str, ...]]()
    for topic in rules.questions.topics.values():
        pattern = _phrases(topic.asked, bounded=rules.words.bounded)
        if pattern.search(text):
            rest = pattern.sub(" ", rest)
            groups.append(tuple(dict.fromkeys(t for word in topic.told for t in _plain(word))))
    if not groups:
        return None
    return TopicTerms(groups=tuple(groups), others=_others(rest, rules), language=language)


def _about_asker(text: str, rules: LanguagePack) -> bool:
    """Whether a question is about the asker, and not about the one who is asked."""
    plain = rules.questions.courtesy.sub(" ", text)
    if rules.person.second.search(plain):
        return False
    return rules.person.dropped or bool(rules.person.first.search(text))


def _length(text: str) -> int:
    return len(text) + len(re.findall(f"[{CJK}]", text))


@lru_cache(maxsize=256)
def _phrases(words: tuple[str, ...], *, bounded: bool) -> re.Pattern[str]:
    """Finds any of the words, the longest first."""
    found = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return re.compile(rf"\b(?:{found})\b" if bounded else found, re.IGNORECASE)


def _plain(text: str) -> Iterable[str]:
    return (term for term in terms(text) if not term.startswith("~"))


def _others(rest: str, rules: LanguagePack) -> tuple[str, ...]:
    """The terms of what is left of a question, without the words that only make it a question."""
    how = rules.questions
    person = rules.person
    for grammar in (how.courtesy, person.first, person.second, how.wants_time, how.asks):
        rest = grammar.sub(" ", rest)
    words = _WORD.findall(rest)
    if how.between is not NEVER and not _KANA.search(rest):
        words = [part for word in words for part in how.between.split(word) if part]
    empty = how.empty | rules.words.light | stop_stems()
    return tuple(
        term
        for term in query_terms(" ".join(words))
        if not (term in empty or term[0] == "~" or _LONE_SOUND.fullmatch(term))
    )
