"""What newer events take back: the user moved, changed jobs, broke a habit. No model is asked.

Paper B names this as its limit: recall leans on long-term patterns when behaviour has changed, and
its task 0 fails for that reason. Two things are done about it:

- `retired`: an event loses its claim to be true when a newer one about the same person and the
  same part of life says so (moved, quit, no longer …). It is then superseded in the store.
- `yielding`: when the talk is of a day of the week, whereabouts told for that day compete, and the
  habit that was last confirmed wins; older habits and single occasions step back for this one
  recall. Nothing is written down for it.

A plan or a single occasion ("this Thursday") never retires anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.language import content_terms
from omoide.memory.events.change_cues import cues
from omoide.memory.events.human_time import weekday_named
from omoide.memory.overlap import coverage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import tzinfo

    from omoide.domain import Event
    from omoide.memory.events.change_cues import Cues

    Alike = Callable[[Event, Event], float]

SAME = 0.6
"""Share of an event's terms that another must hold to speak of the same thing."""
SAME_BIGRAMS = 0.4
"""The same for bigrams of characters, of which grammar makes many that are not shared."""
ALIKE = 0.75
"""Relevance, on the paper's scale, from which two events may speak of the same thing."""
ESTABLISHED = 2
"""How often something must have been told or come to mind to be a habit."""


@dataclass(frozen=True, kw_only=True)
class Retired:
    """An event that is no longer true, the one that says so, and how."""

    old: str
    by: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Yields:
    """An event that steps back for another in one recall."""

    to: str
    why: str


def retired(
    old: Sequence[Event], new: Sequence[Event], *, language: str, alike: Alike | None = None
) -> tuple[Retired, ...]:
    """Which of `old` are taken back by which of `new`; each at most once, by the newest."""
    found: dict[str, Retired] = {}
    for newer in sorted(new, key=lambda event: event.time):
        for older in old:
            if older.id == newer.id or older.superseded_by or older.time >= newer.time:
                continue
            if why := contradiction(older.text, newer.text, language=language):
                found[older.id] = Retired(old=older.id, by=newer.id, why=why)
            elif alike and alike(older, newer) >= ALIKE and _ended(older, newer, language, 0.15):
                found[older.id] = Retired(old=older.id, by=newer.id, why="no longer so")
    return tuple(found.values())


def contradiction(old: str, new: str, *, language: str) -> str | None:
    """How the newer text takes the older one back, in a few words; None if it does not."""
    known = cues(language)
    before, after = old.lower(), new.lower()
    if about(before, language) != about(after, language):
        return None
    if _single(before, known) or known.ended.search(before):
        return None  # what happened once stays true, and what has ended cannot end again
    for slot, pattern in known.changed.items():
        change = pattern.search(after)
        if change is None or not known.slots[slot].search(before):
            continue
        if _planned(after, change, known):
            continue
        if not known.left.search(change.group()) and _same(before, new, known.slots[slot]):
            continue
        return f"{slot} changed: “{change.group().strip()}”"
    if _moved(old, new, known):
        return "home changed: another place is named"
    if _no_longer(old, new, known, SAME if language in ("en", "vi") else SAME_BIGRAMS):
        return "no longer so"
    return None


def yielding(
    events: Sequence[Event], query: str, *, language: str, zone: tzinfo | None = None
) -> dict[str, Yields]:
    """Which of these step back for which, when the query speaks of a day of the week."""
    day = weekday_named(query, language)
    if day is None:
        return {}
    asked = content_terms(query)
    places: dict[str, list[Event]] = {}
    for event in events:
        where = _whereabouts(event, language)
        told = weekday_named(event.text, language)
        if (
            where is None
            or (event.time.astimezone(zone).weekday() if told is None else told) != day
        ):
            continue
        if not coverage(content_terms(where), asked):  # named by the query itself: no rival
            places.setdefault(where, []).append(event)
    habits = {
        where: max(event.last_recalled for event in told)
        for where, told in places.items()
        if sum(1 + event.recalls for event in told) >= ESTABLISHED
    }
    if not habits or len(places) < 2:
        return {}
    holder = max(habits, key=lambda where: habits[where])
    claimant = max(places[holder], key=lambda event: event.last_recalled).id
    return {
        event.id: Yields(
            to=claimant, why="an older habit" if where in habits else "a single occasion"
        )
        for where, told in places.items()
        if where != holder
        for event in told
    }


def ends_something(text: str, language: str) -> bool:
    """Whether a text says that something is no longer so."""
    return bool(cues(language).ended.search(text.lower()))


def about(text: str, language: str) -> str:
    """Whom a lower-cased sentence is about: the user, unless it begins with someone of theirs."""
    kin = _KIN.get(language, _KIN["en"]).search(text)
    return kin.group("kin") if kin else "user"


_KIN = {
    "en": re.compile(
        r"^(?:the )?(?:user'?s|user’s|my|\w+'s) (?:\w+ )?(?P<kin>sister|brother|mother|father|mom|"
        r"dad|son|daughter|friend|cousin|uncle|aunt|parents?|dog|cat|boss|colleague|roommate|"
        r"neighbou?r|wife|husband|girlfriend|boyfriend|grandmother|grandfather)\b"
    ),
    "zh": re.compile(
        r"^(?:用户|我)(?:的)?(?P<kin>姐姐|妹妹|哥哥|弟弟|妈妈|母亲|爸爸|父亲|儿子|女儿|朋友|表[姐妹哥弟]|"
        r"叔叔|阿姨|父母|狗|猫|老板|同事|室友|邻居|妻子|丈夫|老公|老婆|男朋友|女朋友|奶奶|爷爷)"
    ),
    "ja": re.compile(
        r"^(?:ユーザー|私|僕|俺)の(?P<kin>姉|妹|兄|弟|母|父|息子|娘|友達|友人|いとこ|おじ|おば|両親|犬|猫|"
        r"上司|同僚|ルームメイト|隣人|妻|夫|彼氏|彼女|祖母|祖父)"
    ),
    "ko": re.compile(
        r"^(?:사용자의|제|내|우리|저의) ?(?P<kin>언니|누나|여동생|형|오빠|남동생|어머니|엄마|"
        r"아버지|아빠|아들|딸|친구|사촌|삼촌|이모|부모님|강아지|고양이|상사|동료|룸메이트|이웃|"
        r"아내|남편|남자친구|여자친구|할머니|할아버지)"
    ),
    "vi": re.compile(
        r"^(?P<kin>chị gái|em gái|anh trai|em trai|mẹ|bố|ba|con trai|con gái|bạn|anh họ|chị họ|chú|"
        r"dì|bố mẹ|chó|mèo|sếp|đồng nghiệp|bạn cùng phòng|hàng xóm|vợ|chồng|"
        r"bạn trai|bạn gái|bà|ông) "
        r"(?:của )?(?:người dùng|tôi|mình)"
    ),
}


def _single(text: str, known: Cues) -> bool:
    """Whether it tells of one occasion only."""
    return bool(known.once.search(text)) and not known.lasting.search(text)


def _planned(text: str, change: re.Match[str], known: Cues) -> bool:
    """Whether the change is only planned: the word for it stands close by."""
    before = text[max(change.start() - 24, 0) : change.end()]
    after = text[change.end() : change.end() + 8]
    return bool(known.planned.search(before) or known.planned.search(after))


def _same(old: str, new: str, slot: re.Pattern[str]) -> bool:
    """Whether the newer text says the same again: the old one's words beside those of the slot."""
    rest = content_terms(slot.sub(" ", old))
    return bool(rest) and coverage(rest, content_terms(new)) >= 0.8


def _moved(old: str, new: str, known: Cues) -> bool:
    places = [_place(text, known) for text in (old, new)]
    if None in places or _single(new.lower(), known) or known.planned.search(new.lower()):
        return False
    there, here = (content_terms(str(place)) for place in places)
    return bool(there and here) and not there & here


def _place(text: str, known: Cues) -> str | None:
    """The place someone is said to live in, if it has a name."""
    found = known.place.search(text.lower())
    if found is None:
        return None
    where = text[found.start("where") : found.end("where")]
    named = where[:1].isupper() or not where.isascii()
    return where if named and not where[:1].islower() else None


def _no_longer(old: str, new: str, known: Cues, least: float) -> bool:
    after = new.lower()
    if not known.ended.search(after) or _single(after, known):
        return False
    return coverage(content_terms(old), content_terms(new)) >= least


def _ended(old: Event, new: Event, language: str, least: float) -> bool:
    known = cues(language)
    before, after = old.text.lower(), new.text.lower()
    if about(before, language) != about(after, language):
        return False
    if _single(before, known) or known.ended.search(before):
        return False
    return _no_longer(old.text, new.text, known, least)


def _whereabouts(event: Event, language: str) -> str | None:
    found = cues(language).whereabouts.search(event.text.lower())
    return found.group("where") if found else None
