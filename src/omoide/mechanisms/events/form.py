"""Parses events from a model's answer, and gives them stable ids, sources and feeling.

The form is JSON with a schema. For models that cannot be constrained, parsing is lenient: it
accepts code fences, surrounding prose, a bare list, strings for objects, other field names.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from omoide.claims.attribution import subject
from omoide.claims.citation import cite_sources
from omoide.claims.overlap import coverage, rarity
from omoide.domain import Event, Sentence, Speaker
from omoide.errors import BadReply
from omoide.language import content_terms, pack
from omoide.language.pack import over_packs, packs
from omoide.mechanisms.events.feeling import feeling
from omoide.mechanisms.mended_json import mended
from omoide.mechanisms.summary.forms import unmarked
from omoide.prompts import vocabulary
from omoide.prompts.transcript import spoken

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from omoide.domain import Turn

LIMIT = 10
"""Maximum number of events for one part of a session."""
LABELS = 2
"""Maximum number of topics, of keywords and of participants of an event."""
LABEL_CHARS = 30
"""Maximum length of each."""
MIN_SUPPORT = 0.2
"""Share of an event's weighted terms that some turn must contain; otherwise it was made up."""


@dataclass(frozen=True, kw_only=True)
class EventDraft:
    """An event as a model wrote it."""

    text: str
    topics: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    participants: tuple[str, ...] = ()


@over_packs
def _about_the_chat() -> re.Pattern[str]:
    """Matches sentences about what happened in the chat instead of facts, in any language."""
    return re.compile("|".join(p.note.about_the_chat.pattern for p in packs()), re.IGNORECASE)


def schema(language: str, limit: int = LIMIT, *, free: bool = False) -> Mapping[str, object]:
    """The JSON schema of an answer. Unconstrained, a model of 1.5 B copies the dialogue's lines
    into the JSON; forced to begin with a third-person subject, it writes its own sentences. A large
    model does so unasked: with `free` its sentences may begin with a name, quote, and be long."""
    few = {"type": "array", "maxItems": LABELS}
    word = {"type": "string", "maxLength": LABEL_CHARS}
    short = {**few, "items": word}  # each costs a small model on a CPU a second or two
    text = {"type": "string"} if free else {"type": "string", "pattern": pack(language).note.event}
    event = {
        "type": "object",
        "properties": {
            "text": text,
            "topics": short,
            "keywords": short,
            "participants": short,
        },
        "required": ["text", "topics", "keywords", "participants"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"events": {"type": "array", "items": event, "maxItems": limit}},
        "required": ["events"],
        "additionalProperties": False,
    }


def read_events(answer: str) -> tuple[EventDraft, ...]:
    """The events of an answer. Raises `BadReply` if it contains no list of events."""
    listed = _list_in(answer)
    if listed is None:
        raise BadReply(f"wanted a JSON list of events, got {answer[:80]!r}")
    drafts = tuple(draft for item in listed if (draft := _draft(item)) is not None)
    if listed and not drafts:
        raise BadReply(f"no item of the list is an event: {answer[:80]!r}")
    return drafts


def tells_of_chat(draft: EventDraft) -> bool:
    """Whether it tells what was done in the chat instead of what is so.

    >>> tells_of_chat(EventDraft(text="User asked about the coffee."))
    True
    """
    return _about_the_chat().search(draft.text) is not None


def sentences(drafts: Sequence[EventDraft], language: str) -> tuple[Sentence, ...]:
    """The drafts as sentences, for the guards."""
    return tuple(Sentence(text=d.text, about=subject(d.text, language)) for d in drafts)


def to_events(
    drafts: Sequence[EventDraft],
    *,
    turns: Sequence[Turn],
    session: int,
    at: datetime,
    language: str,
    unsupported: bool = False,
) -> tuple[Event, ...]:
    """The drafts as events with their supporting turns, without those that no turn supports. With
    `unsupported` those are kept too and cite the whole session, so that erasing any of it erases
    them."""
    cited = cite_sources(sentences(drafts, language), old=(), turns=turns)
    by_id = {turn.id: turn for turn in turns}
    events: dict[str, Event] = {}
    for draft, sentence in zip(drafts, cited, strict=True):
        sources = sentence.sources or _nearest(draft.text, turns)
        if not sources and unsupported:
            sources = tuple(turn.id for turn in turns)
        if not sources:
            continue
        first_said = min((by_id[id_].time for id_ in sources), default=at)
        id_ = event_id(session, draft.text)
        words = " ".join(spoken(by_id[s]) for s in sources if by_id[s].speaker is Speaker.USER)
        events[id_] = Event(
            id=id_,
            session=session,
            text=draft.text,
            time=first_said,
            sources=sources,
            topics=draft.topics,
            keywords=draft.keywords or _keywords(draft.text),
            participants=draft.participants or (vocabulary(language)["user"],),
            feeling=max(feeling(draft.text, language), feeling(words, language)),
            last_recalled=first_said,
        )
    return tuple(events.values())


def event_id(session: int, text: str) -> str:
    """An id derived from session and text, so that a retry adds nothing."""
    plain = " ".join(text.split())
    return "e" + hashlib.sha256(f"{session}\n{plain}".encode()).hexdigest()[:20]


def _nearest(text: str, turns: Sequence[Turn]) -> tuple[str, ...]:
    """The turn that contains most of the text's terms, if it contains enough of them."""
    wanted = content_terms(text)
    turn_terms = [content_terms(spoken(turn)) for turn in turns]
    weight = rarity(turn_terms)
    shares = [coverage(wanted, its_terms, weight) for its_terms in turn_terms]
    best = max(range(len(turns)), key=lambda i: shares[i], default=None)
    return (turns[best].id,) if best is not None and shares[best] >= MIN_SUPPORT else ()


def _keywords(text: str) -> tuple[str, ...]:
    return tuple(sorted(t for t in content_terms(text) if not t.startswith("~")))[:6]


TRIED = 200
"""Maximum number of brackets tried as the start of JSON: a looping model writes thousands."""
_TEXT = ("text", "event", "content", "sentence", "description", "summary", "fact")
_LISTS = ("events", "items", "facts", "memories", "results")


def _draft(item: object) -> EventDraft | None:
    if isinstance(item, str):
        item = {"text": item}
    if not isinstance(item, dict):
        return None
    text = next((item[k] for k in _TEXT if isinstance(item.get(k), str)), "")
    text = " ".join(unmarked(text).split())
    if len(text) < 4:
        return None
    return EventDraft(
        text=text,
        topics=_strings(item.get("topics", item.get("topic"))),
        keywords=_strings(item.get("keywords")),
        participants=_strings(item.get("participants", item.get("people"))),
    )


def _strings(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        value = list(re.split(r"[,、，;；]", value))
    if not isinstance(value, list):
        return ()
    texts = (" ".join(v.split())[:60] for v in value if isinstance(v, str))
    return tuple(dict.fromkeys(text for text in texts if text))[:6]


def _list_in(answer: str) -> list[object] | None:
    """The longest list that can be read, of a list with a comma too many not its first item."""
    lists = (_first_list(text) for text in (mended(answer), answer))
    return max((found for found in lists if found is not None), key=len, default=None)


def _first_list(answer: str) -> list[object] | None:
    """The first JSON list of events in the text, ignoring what is around it."""
    decoder = json.JSONDecoder(strict=False)
    for opening in islice(re.finditer(r"[\[{]", answer), TRIED):
        try:
            value, _ = decoder.raw_decode(answer, opening.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, list):
            return value
        for key in _LISTS:
            if isinstance(value.get(key), list):
                return list(value[key])
        if any(isinstance(value.get(key), str) for key in _TEXT):
            return [value]
    return None
