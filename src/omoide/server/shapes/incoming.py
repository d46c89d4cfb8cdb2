"""The shapes of what comes in."""

from __future__ import annotations

from omoide.server.shapes.words import (
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
    many,
    may_lack,
    ref,
    thing,
)

_ALL = (
    *("session", "id", "time", "name", "k", "budget", "at", "asker", "stream"),
    *("turns", "sentences", "all", "job"),
)

INCOMING: dict[str, Shape] = {
    "Utterance": thing(
        "Words to record.", _ALL, speaker=SPEAKER, text=WORDS, id=NAME, time=TIME, name=NAME
    ),
    "Record": thing(
        "What was said, in order; a turn id given before records nothing again.",
        ("session",),
        turns=many(ref("Utterance"), minItems=1, maxItems=1000),
        session=NAME,
    ),
    "Query": thing(
        "What to call to mind.",
        _ALL,
        query=WORDS,
        k={**NUMBERED, "maximum": 100},
        budget=NUMBERED,
        at=TIME,
        asker=SPEAKER,
    ),
    "Say": thing(
        "Something said by the user, to be answered by the server's own model.",
        _ALL,
        text=WORDS,
        session=NAME,
        id=NAME,
        stream=YES_OR_NO,
    ),
    "End": thing("Which session to end; all open ones without a number.", _ALL, session=NUMBERED),
    "Retry": thing("Which job; all that were given up without one.", _ALL, job=NUMBERED),
    "Rollback": thing("The version to bring back; 0 is the empty one.", version=WHOLE),
    "Amendment": thing(
        "A sentence of the newest memory, and what it should say.", sentence=WORDS, text=LINE
    ),
    "Demo": thing(
        "In which language.",
        ("language",),
        language={"type": "string", "enum": ["en", "zh", "ja", "ko", "vi"]},
    ),
    "Explain": thing("What might be said, now or at a time.", _ALL, text=WORDS, at=TIME),
    "Erasure": {
        **thing(
            "What to remove for good: exactly one of these.",
            _ALL,
            session=NUMBERED,
            turns=many(NAME, minItems=1, maxItems=1000),
            sentences=many(WORDS, minItems=1, maxItems=1000),
            all={"type": "boolean", "enum": [True]},
        ),
        "minProperties": 1,
        "maxProperties": 1,
    },
    "ChatRequest": {
        "type": "object",
        "description": "OpenAI's chat request. Fields not named here are passed on as they are.",
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
            "model": may_lack(TEXT),
            "stream": may_lack(YES_OR_NO),
            "user": may_lack(NAME),
        },
        "required": ["messages"],
    },
    "Passed": {"type": "object", "description": "As OpenAI defines it; passed on as it is."},
}
