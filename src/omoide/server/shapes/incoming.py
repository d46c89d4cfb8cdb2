"""JSON schemas of request bodies."""

from __future__ import annotations

from omoide.demo import LANGUAGES
from omoide.domain import MemoryKind
from omoide.presets import PRESETS
from omoide.server.shapes.builders import (
    FILE_PATH,
    LINE,
    NAME,
    NUMBERED,
    SPEAKER,
    TEXT,
    TIME,
    WHOLE,
    WORDS,
    YES_OR_NO,
    Shape,
    list_of,
    nullable,
    object_of,
    ref,
)

_OPTIONAL = (
    *(
        "session",
        "id",
        "time",
        "name",
        "k",
        "budget",
        "at",
        "asker",
        "kinds",
        "since",
        "until",
        "stream",
        "again",
        "replaces",
    ),
    *("turns", "sentences", "facts", "all", "job", "about", "tags", "pinned", "expires"),
    "several",
)

_ADDRESSED: Shape = {
    **YES_OR_NO,
    "description": "Whether the text speaks to the person ("
    "`You live in Porto`) or is their own (`I live in Porto`): then it is recorded as a note about "
    "them.",
}

_SAID: Shape = {**WORDS, "description": "The user's own words, if they are not `text`."}

INCOMING: dict[str, Shape] = {
    "Utterance": object_of(
        "A message to record.",
        _OPTIONAL,
        speaker=SPEAKER,
        text=WORDS,
        id=NAME,
        time=TIME,
        name=NAME,
    ),
    "Record": object_of(
        "Messages in order. A turn id that was recorded before is not recorded again.",
        ("session", "at"),
        turns=list_of(ref("Utterance"), minItems=1, maxItems=1000),
        session=NAME,
        at=TIME,
    ),
    "Query": object_of(
        "What to recall.",
        (*_OPTIONAL, "speaker"),
        query=WORDS,
        k={**NUMBERED, "maximum": 100},
        budget=NUMBERED,
        at=TIME,
        asker=SPEAKER,
        kinds=list_of({"type": "string", "enum": [kind.value for kind in MemoryKind]}, maxItems=8),
        since=TIME,
        until=TIME,
        speaker=SPEAKER,
        about=NAME,
        tags=list_of(NAME, maxItems=100),
    ),
    "Say": object_of(
        "A message of the user, to be answered by the server's own model.",
        _OPTIONAL,
        text=WORDS,
        session=NAME,
        id=NAME,
        at=TIME,
        stream=YES_OR_NO,
        again={**YES_OR_NO, "description": "A known id gets a new reply in place of the former."},
        replaces={**NAME, "description": "An earlier message; it and what followed are replaced."},
    ),
    "End": object_of(
        "Which session to end; without a number, all open ones.",
        _OPTIONAL,
        session=NUMBERED,
        at=TIME,
    ),
    "When": object_of("When it is done; now if left out.", _OPTIONAL, at=TIME),
    "Title": object_of(
        "A session's number, and its title.", session=NUMBERED, title={**TEXT, "maxLength": 400}
    ),
    "PresetChoice": object_of(
        "The preset by name.", ("at",), preset={"type": "string", "enum": [*PRESETS]}, at=TIME
    ),
    "Retry": object_of(
        "Which job to retry; without an id, all dead ones.", _OPTIONAL, job=NUMBERED, at=TIME
    ),
    "Rollback": object_of(
        "The version to restore; 0 is the empty one.", _OPTIONAL, version=WHOLE, at=TIME
    ),
    "Amendment": object_of(
        "A sentence of the newest version, and its corrected text.",
        ("addressed", "at", "said"),
        sentence=WORDS,
        text=LINE,
        addressed=_ADDRESSED,
        said=_SAID,
        at=TIME,
    ),
    "Correction": object_of(
        "A fact, and what it should say.",
        ("addressed", "at", "said"),
        id=NAME,
        text=LINE,
        addressed=_ADDRESSED,
        said=_SAID,
        at=TIME,
    ),
    "Marks": object_of(
        "What to set on a fact; what is left out stays. `expires` null means never. A fact that is "
        "pinned stands in every version of the summary and does not expire, unless both are given.",
        ("pinned", "expires", "tags"),
        id=NAME,
        pinned=YES_OR_NO,
        expires=nullable(TIME),
        tags=list_of(NAME, maxItems=100),
    ),
    "ToolCommand": {
        "type": "object",
        "description": "The input of Anthropic's memory tool, as the model wrote it. What is wrong "
        "with it is answered as a result for the model, with status 200.",
        "properties": {"command": TEXT},
        "required": ["command"],
    },
    "FileRestoration": object_of(
        "A file of the memory tool, and the version whose text it gets again.",
        path=FILE_PATH,
        version=NUMBERED,
    ),
    "Demo": object_of(
        "The language of the demo.",
        ("language",),
        language={"type": "string", "enum": list(LANGUAGES)},
    ),
    "Explain": object_of(
        "A message that might be said, now or at a given time.", _OPTIONAL, text=WORDS, at=TIME
    ),
    "Erasure": {
        **object_of(
            "What to erase permanently: exactly one of these fields.",
            _OPTIONAL,
            session=NUMBERED,
            turns=list_of(NAME, minItems=1, maxItems=1000),
            sentences=list_of(WORDS, minItems=1, maxItems=1000),
            facts=list_of(NAME, minItems=1, maxItems=1000),
            all={"type": "boolean", "enum": [True]},
            several={
                **object_of(
                    "All of these at once. Empty lists erase nothing.",
                    _OPTIONAL,
                    session=NUMBERED,
                    turns=list_of(NAME, maxItems=1000),
                    sentences=list_of(WORDS, maxItems=1000),
                    facts=list_of(NAME, maxItems=1000),
                ),
                "minProperties": 1,
            },
        ),
        "minProperties": 1,
        "maxProperties": 1,
    },
    "ChatRequest": {
        "type": "object",
        "description": "OpenAI's chat request. Fields not listed here are passed on unchanged.",
        "properties": {
            "messages": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "properties": {"role": TEXT},
                    "required": ["role"],
                },
            },
            "model": nullable(TEXT),
            "stream": nullable(YES_OR_NO),
            "user": nullable(NAME),
        },
        "required": ["messages"],
    },
    "Passed": {"type": "object", "description": "As OpenAI defines it; passed on unchanged."},
}
