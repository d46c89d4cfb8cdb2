"""Parses a query: its terms, whom and when it is about, and whether it is a question.

It uses the patterns of the query's language pack, without a model.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final

from omoide.domain import Speaker
from omoide.language import detect_language, pack
from omoide.language.sentences import split_sentences
from omoide.language.tables import NEVER
from omoide.language.terms import KANA_ONLY, query_terms, stop_stems, terms
from omoide.language.times import day_numbers
from omoide.mechanisms.search.topics import topic_terms

if TYPE_CHECKING:
    from collections.abc import Container, Sequence
    from collections.abc import Set as AbstractSet
    from datetime import date

    from omoide.language.pack import LanguagePack
    from omoide.language.tables import Names
    from omoide.ports.store import NamedSpeaker

SHORT: Final = 8
"""Most terms of a short query: a word, a name, a few of either. A Japanese name alone may have
five, since its terms are pairs of characters."""

SALUTATION_ENDS: Final = re.compile(r"[,.!?~…，、。！？]")

MOST_APART: Final = 4
"""Most questions of one message that are searched for one by one."""


@dataclass(frozen=True, kw_only=True)
class ParsedQuery:
    """What a query looks for."""

    terms: tuple[str, ...]
    alternatives: tuple[tuple[str, ...], ...] = ()
    """Those of the terms that count as one: the words by which people tell of what is asked for."""
    about: frozenset[int] = frozenset()
    """Which voices it is about; empty if it does not say."""
    likely: frozenset[int] = frozenset()
    """If it does not say, which voices it is likely about: with an assistant, its user's."""
    echoes: frozenset[int] = frozenset()
    """The assistant's voices, if the query is a short question that is not about them, or a word or
    a name that is looked up: with the same words, what the user said comes first."""
    days: tuple[tuple[int, int], ...] = ()
    """Periods that it names, as `date.toordinal`."""
    wants_time: bool = False
    asks: bool = True
    """Whether it is a question. A statement looks for similar turns, not for an answer."""
    personal: bool = False
    """Whether it asks about the asker, about somebody by name or about what the other said: what
    memory may know."""
    addressed: bool = False
    """Whether it asks about the one who is asked, and not only for help."""

    @property
    def of_memory(self) -> bool:
        """Whether `asks_of_memory` is true of its text."""
        return self.asks and not self.addressed

    @property
    def counted(self) -> tuple[tuple[str, ...], ...]:
        """The terms as they count: alternatives together, each of the others for itself."""
        grouped = frozenset(term for group in self.alternatives for term in group)
        alone = tuple((term,) for term in self.terms if term not in grouped)
        return (*self.alternatives, *alone)


@lru_cache(maxsize=64)
def search_terms(text: str) -> tuple[str, ...]:
    """The index terms to look up for a query. Bigrams of pure hiragana, which are mostly grammar
    and occur in most turns, are left out if there are other terms."""
    candidates = query_terms(text, found=_all_terms(text))
    content = [term for term in candidates if not KANA_ONLY.fullmatch(term)]
    return tuple(dict.fromkeys([*content, *_lone(text)])) or tuple(candidates)


@lru_cache(maxsize=64)
def _all_terms(text: str) -> tuple[str, ...]:
    """All terms of a query, which several parts of it need."""
    return tuple(terms(text))


def indexed_terms(text: str) -> tuple[str, ...]:
    """The terms whose postings a query needs: its own, and those that it may be answered with."""
    topics = topic_terms(text)
    own = search_terms(text)
    if topics is None:
        return own
    return tuple(dict.fromkeys([*own, *topics.others, *chain(*topics.groups)]))


def _lone(text: str) -> list[str]:
    """Words of one character. A bigram ties them to the particle after them, so that 猫の would
    not find 猫を."""
    how = pack(detect_language(text)).questions
    between = () if how.between is NEVER else how.between.split(text)
    words = [*between, *how.lone.findall(text)]
    return [word for word in words if len(word) == 1 and word not in how.empty]


def is_question(text: str) -> bool:
    """Whether a text asks anything.

    >>> is_question("Where do I live?"), is_question("I moved to Bergen.")
    (True, False)
    """
    return bool(pack(detect_language(text)).questions.asks.search(text))


def asks_of_memory(text: str) -> bool:
    """Whether a text asks anything but what the one who is asked is or thinks.

    >>> asks_of_memory("Where do I live?"), asks_of_memory("Do you like tea?")
    (True, False)
    """
    return is_question(text) and not _addressed(text)


def questions_apart(text: str) -> tuple[str, ...]:
    """The sentences of a text that ask, if there are several but no more than `MOST_APART`.

    >>> questions_apart("Who is older, Ana or Ben? And where did I ski?")
    ('Who is older, Ana or Ben?', 'And where did I ski?')
    >>> questions_apart("I am off to Lisbon. Where did I ski?")
    ()
    """
    asks = pack(detect_language(text)).questions.asks
    asked = [s for s in split_sentences(text) if asks.search(s) and search_terms(s)]
    return tuple(asked) if 1 < len(asked) <= MOST_APART else ()


def parse_query(
    text: str,
    *,
    asked: date,
    voices: Sequence[NamedSpeaker],
    asker: Speaker = Speaker.USER,
    known: Container[str] = (),
) -> ParsedQuery:
    """Parse a query of `asker` on that day. `voices` are the speakers in the memory, `known` are
    the query's terms that occur in it."""
    candidates = search_terms(text)
    how = pack(detect_language(text)).questions
    names = {term for voice in voices if voice.name for term in _terms_of_name(voice.name)}
    asks = is_question(text)
    words = frozenset(_all_terms(text))
    about = _about(text, words, voices, asker)
    user = frozenset() if how.after_replies.search(text) else _of_user(voices)
    own = user if asks else frozenset[int]()  # "I like swimming" may bring up anybody's swimming
    topics = topic_terms(text)
    if topics is not None:
        candidates = (*topics.others, *chain(*topics.groups))
    short = topics is not None or sum(not term.startswith("~") for term in candidates) <= SHORT
    return ParsedQuery(
        terms=tuple(term for term in candidates if term not in names) or candidates,
        alternatives=topics.groups if topics else (),
        about=about,
        likely=user if (asks or short) and not about else frozenset(),
        echoes=_others(voices, user) if short and about <= own else frozenset(),
        days=tuple(day_numbers(text, asked)),
        wants_time=bool(how.wants_time.search(text)),
        asks=asks,
        personal=asks and _personal(text, words, voices, known),
        addressed=asks and _addressed(text),
    )


def _of_user(voices: Sequence[NamedSpeaker]) -> frozenset[int]:
    """The user's voices, if the other is an assistant and not a person with a name."""
    assistants = [voice for voice in voices if voice.speaker is Speaker.ASSISTANT]
    if not assistants or any(voice.name for voice in voices):
        return frozenset()
    return frozenset(i for i, voice in enumerate(voices) if voice.speaker is Speaker.USER)


def _others(voices: Sequence[NamedSpeaker], user: AbstractSet[int]) -> frozenset[int]:
    """The voices that are not the user's, if it is known which those are."""
    return frozenset(range(len(voices))) - user if user else frozenset()


def _personal(
    text: str, words: AbstractSet[str], voices: Sequence[NamedSpeaker], known: Container[str]
) -> bool:
    """Whether a question needs memory: about somebody whose name memory knows, the asker or what
    was said, or for help with what the asker just told."""
    rules = pack(detect_language(text))
    if any(voice.name and _names(voice.name, text, words) for voice in voices):
        return True
    if rules.questions.after_replies.search(text):
        return True
    asked = [s for s in split_sentences(text) if rules.questions.asks.search(s)]
    return may_be_about_asker(text) or any(
        _mentions_known(sentence, rules.names, known) for sentence in asked
    )


def may_be_about_asker(text: str) -> bool:
    """Whether a question is about the asker, or for help with what they just told. Where the
    subject is mostly left out, one that does not say "you" may be.

    >>> may_be_about_asker("Can you tell me which instrument I play?")
    True
    >>> may_be_about_asker("Can you play the cello?")
    False
    """
    rules = pack(detect_language(text))
    asked = [s for s in split_sentences(text) if rules.questions.asks.search(s)]
    if any(rules.person.first.search(sentence) for sentence in asked):
        return True
    if any(rules.questions.courtesy.search(sentence) for sentence in asked):
        return bool(rules.person.first.search(text))  # "I'm moving. What do you think?"
    return bool(asked) and rules.person.dropped and not rules.person.second.search(text)


def _mentions_known(sentence: str, how: Names, known: Container[str]) -> bool:
    """Whether a sentence names somebody or something that memory has spoken of. The pattern alone
    would take "Napoleon" for a friend."""
    found = (match["name"] for match in how.mentioned.finditer(sentence))
    names = [terms(name) for name in found if name.lower() not in how.words]
    return any(all(term in known for term in name if term[0] != "~") for name in names if name)


def _addressed(text: str) -> bool:
    """Whether it says "you" but for a greeting, "can you" and "do you know"."""
    rules = pack(detect_language(text))
    said = _without_salutation(text, rules)
    return bool(rules.person.second.search(rules.questions.courtesy.sub(" ", said)))


def _terms_of_name(name: str) -> set[str]:
    """The terms of a name in a query, with and without diacritics."""
    return {*terms(name), *query_terms(name)}


def _about(
    text: str, words: AbstractSet[str], voices: Sequence[NamedSpeaker], asker: Speaker
) -> frozenset[int]:
    """Whose turns a query is about: of the person it names, or else of the first pronoun where it
    asks, or anywhere. A request without either ("Can you suggest a snack?") is about the asker."""
    names = {voice.name for voice in voices if voice.name and _names(voice.name, text, words)}
    if len(names) == 1:
        (name,) = names
        return _called(name, voices)
    if names:
        return frozenset()
    rules = pack(detect_language(text))
    said = _without_salutation(text, rules)
    asked = " ".join(s for s in split_sentences(said) if rules.questions.asks.search(s))
    if not (rules.person.first.search(asked) or rules.person.second.search(asked)):
        asked = said
    plain = rules.questions.courtesy.sub(" ", asked)
    first, second = rules.person.first.search(plain), rules.person.second.search(plain)
    request = plain != asked and not second
    if request or (first and (not second or first.start() < second.start())):
        return frozenset(i for i, voice in enumerate(voices) if voice.speaker is asker)
    if second:
        return frozenset(i for i, voice in enumerate(voices) if voice.speaker is not asker)
    return frozenset()


def _without_salutation(text: str, rules: LanguagePack) -> str:
    """A text without the greeting up to its first comma or mark, if that leaves anything: the "you"
    of 你好 and "chào bạn" is nobody's life."""
    if rules.replies.greeting.match(text) is None:
        return text
    parts = SALUTATION_ENDS.split(text, maxsplit=1)
    return parts[1] if len(parts) > 1 and parts[1].strip() else text


def _names(name: str, text: str, words: AbstractSet[str]) -> bool:
    """Whether a text names someone. "Will" and "May" must be capitalised to count."""
    distinctive = set(terms(name)) - stop_stems()
    return bool(words & distinctive) if distinctive else name in text


def _called(name: str, voices: Sequence[NamedSpeaker]) -> frozenset[int]:
    """The voices of that name, and unnamed ones that can only be the same person."""
    known = {voice.speaker for voice in voices if voice.name == name}
    others = {voice.speaker for voice in voices if voice.name not in (name, None)}
    return frozenset(
        i
        for i, voice in enumerate(voices)
        if voice.name == name or (voice.name is None and voice.speaker in known - others)
    )
