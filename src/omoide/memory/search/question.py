"""A query taken apart: what it asks for, about whom, about when, and whether it asks at all.

English, Chinese, Japanese, Korean and Vietnamese; by patterns, without a model.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.language.terms import KANA_ONLY, STOP_STEMS, query_terms, terms
from omoide.language.times import day_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from omoide.ports.store import Voice


@dataclass(frozen=True, kw_only=True)
class Question:
    """What a query looks for."""

    terms: tuple[str, ...]
    about: frozenset[int] = frozenset()
    """Which voices it is about; none if it does not say."""
    days: tuple[tuple[int, int], ...] = ()
    """Stretches of days that it names, as `date.toordinal`."""
    wants_time: bool = False
    asks: bool = True
    """Whether it is a question: a statement looks for its like, not for an answer."""


_ASKS = re.compile(
    r"[?？]|^\W*(?:what|which|who|whose|whom|when|where|why|how|do|does|did|is|are|was|were|has|have"
    r"|had|can|could|would|will|should|remind|remember|tell)\b"
    r"|什么|哪|谁|吗|几|多少|怎么|为何|何|いつ|どこ|誰|どう|なぜ|どんな|か[。\s]*$"
    r"|무엇|뭐|언제|어디|누구|왜|어떤|\b(?:gì|nào|đâu|ai|sao|mấy)\b",
    re.IGNORECASE,
)
_WANTS_TIME = re.compile(
    r"\bwhen\b|\bhow (?:long|often)\b|\b(?:what|which) (?:\w+ )?(?:date|day|month|year|week|time)\b"
    r"|什么时候|哪天|哪一天|几号|几月|何时|多久|いつ|何月|何日|何年|언제|며칠"
    r"|khi nào|bao giờ|ngày nào",
    re.IGNORECASE,
)
_FIRST = re.compile(
    r"\b(?:i|i'm|i've|me|my|mine|we|our)\b|[我咱]|私|僕|俺|나는|내가|제가|\btôi\b", re.IGNORECASE
)
_SECOND = re.compile(r"\b(?:you|your)\b|[你您]|あなた|君|너|당신|\bbạn\b", re.IGNORECASE)
_COURTESY = re.compile(
    r"\b(?:do|can|could|would) you (?:still )?(?:remember|recall|tell|know)\b|你还记得|你记得",
    re.IGNORECASE,
)


@lru_cache(maxsize=64)
def search_terms(text: str) -> tuple[str, ...]:
    """The index terms to look up for a query. Bigrams of hiragana alone, which are mostly grammar
    and stand in most turns, are left out where anything else is there."""
    found = query_terms(text)
    meaty = [term for term in found if not KANA_ONLY.fullmatch(term)]
    return tuple(dict.fromkeys([*meaty, *_lone(text)])) or tuple(found)


_GRAMMAR = re.compile(
    r"什么|怎么|多少|为何|哪里|哪儿|哪个|时候|还是|记得|知道|一下|[^\u4e00-\u9fff]"
    r"|[我你他她它您们咱的地得了着过吗呢吧啊呀嘛是在有没不和跟与及也都就还又再很太最这那哪谁几"
    r"把被给对从到向为以于要会能可想说叫让请问上下里中一二两个只条件位次些]"
)
"""What stands between the words of a Chinese or Japanese question: function words, kana, marks."""
_EMPTY = frozenset("何私僕俺君誰今時事方人前後思言行見来出年月日分間")
"""Characters that say little by themselves."""
_KOREAN_NOUN = re.compile(r"(?<![\uac00-\ud7af])([\uac00-\ud7af])[을를은는에도](?![\uac00-\ud7af])")
_KOREAN_PRONOUNS = frozenset("나너저내네제그이")


def _lone(text: str) -> list[str]:
    """Words of one character. A bigram ties them to the particle behind them, so that 猫の would
    not find 猫を."""
    between = (part for part in _GRAMMAR.split(text) if len(part) == 1 and part not in _EMPTY)
    korean = (noun for noun in _KOREAN_NOUN.findall(text) if noun not in _KOREAN_PRONOUNS)
    return [*between, *korean]


def understand(
    text: str, *, asked: date, voices: Sequence[Voice], asker: Speaker = Speaker.USER
) -> Question:
    """Take a query apart that `asker` puts on that day to a memory of these voices."""
    found = search_terms(text)
    names = {term for voice in voices if voice.name for term in _terms_of_name(voice.name)}
    return Question(
        terms=tuple(term for term in found if term not in names) or found,
        about=_about(text, voices, asker),
        days=tuple(day_numbers(text, asked)),
        wants_time=bool(_WANTS_TIME.search(text)),
        asks=bool(_ASKS.search(text)),
    )


def _terms_of_name(name: str) -> set[str]:
    """A name as it may stand among the terms of a query, with and without diacritics."""
    return {*terms(name), *query_terms(name)}


def _about(text: str, voices: Sequence[Voice], asker: Speaker) -> frozenset[int]:
    """Whose turns a query is about: of the one it names, or else of the first pronoun."""
    words = set(terms(text))
    names = {voice.name for voice in voices if voice.name and _names(voice.name, text, words)}
    if len(names) == 1:
        (name,) = names
        return _called(name, voices)
    if names:
        return frozenset()
    plain = _COURTESY.sub(" ", text)
    first, second = _FIRST.search(plain), _SECOND.search(plain)
    if first and (not second or first.start() < second.start()):
        return frozenset(i for i, voice in enumerate(voices) if voice.speaker is asker)
    if second:
        return frozenset(i for i, voice in enumerate(voices) if voice.speaker is not asker)
    return frozenset()


def _names(name: str, text: str, words: set[str]) -> bool:
    """Whether a text names someone. "Will" and "May" must be written as names are."""
    telling = set(terms(name)) - STOP_STEMS
    return bool(words & telling) if telling else name in text


def _called(name: str, voices: Sequence[Voice]) -> frozenset[int]:
    """The voices of that name, and nameless ones that can be no one else's."""
    known = {voice.speaker for voice in voices if voice.name == name}
    others = {voice.speaker for voice in voices if voice.name not in (name, None)}
    return frozenset(
        i
        for i, voice in enumerate(voices)
        if voice.name == name or (voice.name is None and voice.speaker in known - others)
    )
