"""Events out of a model's answer: read with care, given stable ids, their sources and feeling.

The form is JSON by a schema; a model that cannot be held to one is read leniently: code fences,
prose around it, a bare list, strings for objects, other names for the fields.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from omoide.domain import Event, Sentence, Speaker
from omoide.errors import BadReply
from omoide.language import content_terms
from omoide.memory.events.feeling import feeling
from omoide.memory.overlap import coverage, rarity
from omoide.memory.sources import attribute
from omoide.memory.summary.forms import subject, unmarked
from omoide.memory.transcript import spoken
from omoide.prompts import words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from omoide.domain import Turn

LIMIT = 10
"""Most events of one part of a session."""
LEAST = 0.2
"""Share of its weighted terms that some turn must hold, or an event was made up."""


@dataclass(frozen=True, kw_only=True)
class Draft:
    """An event as a model wrote it down."""

    text: str
    topics: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    participants: tuple[str, ...] = ()


_THIRD_PERSON = {
    "en": r"^(User|Assistant)('s)? [a-z][^?!:\"\\]{6,140}\.$",
    "zh": r"^(用户|助手)[^我你？！：?!:\"\\]{4,80}。$",
    "ja": r"^(ユーザー|アシスタント)(は|の)[^私僕？！：?!:\"\\]{4,90}。$",
    "ko": r"^(사용자|어시스턴트)(는|의|가) [^?!:\"\\]{4,90}\.$",
    "vi": r"^(Người dùng|Trợ lý) [^?!:\"\\]{4,140}\.$",
}
"""How an event must begin and end. Left free, a model of 1.5 B copies the dialogue's lines into the
JSON; held to a subject in the third person, it writes sentences of its own."""
_ABOUT_THE_CHAT = re.compile(
    r"^(?:the )?(?:user|assistant) (?:asks?|asked|mentions?|mentioned|says?|said|talks?|talked|"
    r"discuss(?:es|ed)|repl(?:ies|ied)|responds?|responded|greets?|greeted|thanks?|thanked)\b"
    r"|^(?:用户|助手)(?:询问|问|提到|说|谈到|回答|回复|感谢)"
    r"|^(?:ユーザー|アシスタント)は.*(?:尋ねた|質問した|言った|話した|述べた|答えた|感謝した)。?$"
    r"|^(?:사용자|어시스턴트)는 .*(?:물었다|물어봤다|말했다|언급했다|대답했다|감사했다)\.?$"
    r"|^(?:người dùng|trợ lý) (?:hỏi|nhắc|nói|đề cập|trả lời|cảm ơn)\b",
    re.IGNORECASE,
)
"""Sentences that tell what was done in the chat instead of what is so."""


def schema(language: str, limit: int = LIMIT) -> Mapping[str, object]:
    """The JSON schema of an answer."""
    few, word = {"type": "array", "maxItems": 2}, {"type": "string", "maxLength": 30}
    short = {**few, "items": word}  # each costs a small model on a CPU a second or two
    event = {
        "type": "object",
        "properties": {
            "text": {"type": "string", "pattern": _THIRD_PERSON.get(language, "^.{4,140}$")},
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


def read(answer: str) -> tuple[Draft, ...]:
    """The events of an answer. Raises `BadReply` if it holds no list of them."""
    listed = _list_in(answer)
    if listed is None:
        raise BadReply(f"wanted a JSON list of events, not {answer[:80]!r}")
    drafts = [draft for item in listed if (draft := _draft(item)) is not None]
    told = tuple(draft for draft in drafts if not _ABOUT_THE_CHAT.search(draft.text))
    if listed and not told:
        raise BadReply(f"no item of the list is an event: {answer[:80]!r}")
    return told


def sentences(drafts: Sequence[Draft], language: str) -> tuple[Sentence, ...]:
    """The drafts as sentences, which is what guards look at."""
    return tuple(Sentence(text=d.text, about=subject(d.text, language)) for d in drafts)


def settled(
    drafts: Sequence[Draft], *, turns: Sequence[Turn], session: int, at: datetime, language: str
) -> tuple[Event, ...]:
    """The drafts as events that cite the turns they rest on; without those that nobody said."""
    cited = attribute(sentences(drafts, language), old=(), turns=turns)
    by_id = {turn.id: turn for turn in turns}
    events: dict[str, Event] = {}
    for draft, sentence in zip(drafts, cited, strict=True):
        sources = sentence.sources or _nearest(draft.text, turns)
        if not sources:
            continue
        told = min((by_id[id_].time for id_ in sources), default=at)
        id_ = event_id(session, draft.text)
        said = " ".join(spoken(by_id[s]) for s in sources if by_id[s].speaker is Speaker.USER)
        events[id_] = Event(
            id=id_,
            session=session,
            text=draft.text,
            time=told,
            sources=sources,
            topics=draft.topics,
            keywords=draft.keywords or _keywords(draft.text),
            participants=draft.participants or (words(language)["user"],),
            feeling=max(feeling(draft.text, language), feeling(said, language)),
            last_recalled=told,
        )
    return tuple(events.values())


def event_id(session: int, text: str) -> str:
    """The same for the same words of the same session, so that a second try adds nothing."""
    plain = " ".join(text.split())
    return "e" + hashlib.sha256(f"{session}\n{plain}".encode()).hexdigest()[:20]


def _nearest(text: str, turns: Sequence[Turn]) -> tuple[str, ...]:
    """The turn that holds most of the text's terms, if it holds enough of them."""
    wanted = content_terms(text)
    heard = [content_terms(spoken(turn)) for turn in turns]
    weight = rarity(heard)
    shares = [coverage(wanted, its_terms, weight) for its_terms in heard]
    best = max(range(len(turns)), key=lambda i: shares[i], default=None)
    return (turns[best].id,) if best is not None and shares[best] >= LEAST else ()


def _keywords(text: str) -> tuple[str, ...]:
    return tuple(sorted(t for t in content_terms(text) if not t.startswith("~")))[:6]


TRIED = 200
"""Brackets that are tried: a model that lost its way writes thousands."""
_TEXT = ("text", "event", "content", "sentence", "description", "summary", "fact")
_LISTS = ("events", "items", "facts", "memories", "results")


def _draft(item: object) -> Draft | None:
    if isinstance(item, str):
        item = {"text": item}
    if not isinstance(item, dict):
        return None
    text = next((item[k] for k in _TEXT if isinstance(item.get(k), str)), "")
    text = " ".join(unmarked(text).split())
    if len(text) < 4:
        return None
    return Draft(
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
    found = (" ".join(v.split())[:60] for v in value if isinstance(v, str))
    return tuple(dict.fromkeys(text for text in found if text))[:6]


def _list_in(answer: str) -> list[object] | None:
    """The first JSON list of events in the text, whatever stands around it."""
    decoder = json.JSONDecoder(strict=False)
    for opening in islice(re.finditer(r"[\[{]", answer), TRIED):
        try:
            found, _ = decoder.raw_decode(answer, opening.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(found, list):
            return found
        for key in _LISTS:
            if isinstance(found.get(key), list):
                return list(found[key])
        if any(isinstance(found.get(key), str) for key in _TEXT):
            return [found]
    return None
