"""Where somebody moved to and from, as they said it.

A small model turns moves round now and then: of "mình chuyển vào Đà Nẵng rồi" it notes a move from
Đà Nẵng. Whoever moved said which way; a note that says the other way of the same place gets the
speaker's own words for it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omoide.memory.summary.facts import Fact

_NAME = r"[A-ZÀ-ÖØ-ÞĂĐĨŨƠƯẠ-Ỹ][\w'’-]*(?: [A-ZÀ-ÖØ-ÞĂĐĨŨƠƯẠ-Ỹ][\w'’-]*){0,3}"


@dataclass(frozen=True, kw_only=True)
class _Ways:
    """How a language tells a move, and the place that it is from or to ({})."""

    move: re.Pattern[str]
    place: str
    away: str
    toward: str


_WAYS = {
    "en": _Ways(
        move=re.compile(r"\b(?:move[sd]?|moving|relocated)\b"),
        place=_NAME,
        away=r"\bfrom {}\b",
        toward=r"\b(?:in)?to {}\b",
    ),
    "ja": _Ways(
        move=re.compile("引っ越|移り住|越し"),
        place="[\u4e00-\u9fff々ァ-ヺー]{2,8}",
        away="{}から",
        toward="{}(?:に|へ)",
    ),
    "ko": _Ways(
        move=re.compile("이사"), place="[가-힣]{2,8}?", away=r"\b{}에서", toward=r"\b{}(?:으?로)"
    ),
    "vi": _Ways(
        move=re.compile("chuyển|dọn"),
        place=_NAME,
        away=r"\btừ {}(?!\w)",
        toward=r"\b(?:vào|đến|tới|ra|về|sang|lên|xuống) {}(?!\w)",
    ),
}


def mended(fact: Fact, said: str, language: str) -> Fact:
    """The fact with the way of the move that its speaker told, where they told only the other one
    of that place; any other fact as it is."""
    ways = _WAYS.get(language)
    if ways is None or not ways.move.search(fact.text):
        return fact
    text = fact.text
    for wrong, right in ((ways.away, ways.toward), (ways.toward, ways.away)):
        for found in re.finditer(wrong.format(f"(?P<place>{ways.place})"), fact.text):
            place = re.escape(found["place"])
            told = re.search(right.format(place), said)
            if told and not re.search(wrong.format(place), said):
                ready = re.search(right.format(place), fact.text)
                text = text.replace(found[0], "" if ready else told[0], 1)
    text = re.sub(r"  +", " ", text).strip()
    return fact if text == fact.text else replace(fact, text=text)
