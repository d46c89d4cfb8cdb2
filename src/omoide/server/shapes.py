"""The shapes of requests and answers, as JSON schemas by name."""

from __future__ import annotations

from typing import Any

Shape = dict[str, Any]

MOST = 2_147_483_647
WHOLE: Shape = {"type": "integer", "minimum": 0, "maximum": MOST}
NUMBERED: Shape = {"type": "integer", "minimum": 1, "maximum": MOST}
TEXT: Shape = {"type": "string"}
TIME: Shape = {"type": "string", "format": "date-time"}
NAME: Shape = {
    "type": "string",
    "minLength": 1,
    "maxLength": 256,
    "pattern": r"^[^\x00-\x1f\x7f-\xa0\xad]+$",
}
SPEAKER: Shape = {"type": "string", "enum": ["user", "assistant"]}
_SAID = r"[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*"
WORDS: Shape = {
    "type": "string",
    "minLength": 1,
    "pattern": rf"^{_SAID}[^\s\x00-\x1f\x7f-\x9f]{_SAID}$",
    "description": "Not blank, and without control characters.",
}


def ref(name: str) -> Shape:
    """A reference to a shape of `SHAPES`."""
    return {"$ref": f"#/components/schemas/{name}"}


def many(items: Shape, **more: int) -> Shape:
    """A list of these."""
    return {"type": "array", "items": items, **more}


def may_lack(shape: Shape) -> Shape:
    """The same, or null."""
    if "$ref" in shape:
        return {"anyOf": [shape, {"type": "null"}]}
    kinds = {"type": [shape["type"], "null"]}
    enum = {"enum": [*shape["enum"], None]} if "enum" in shape else {}
    return {**shape, **kinds, **enum}


def thing(about: str, optional: tuple[str, ...] = (), /, **fields: Shape) -> Shape:
    """An object with these fields and no others; all are required but those named."""
    return {
        "type": "object",
        "description": about,
        "properties": fields,
        "required": [name for name in fields if name not in optional],
        "additionalProperties": False,
    }


def page(items: str) -> Shape:
    """One page of a list."""
    return thing(
        "A page; `next` is the cursor of the one after it, null on the last.",
        items=many(ref(items)),
        next=may_lack(TEXT),
    )


_ALL = (
    *("session", "id", "time", "name", "k", "budget", "at", "asker", "stream"),
    *("turns", "sentences", "all"),
)

SHAPES: dict[str, Shape] = {
    # ── What comes ──────────────────────────────────────────────────────────────────────────
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
        stream={"type": "boolean"},
    ),
    "End": thing("Which session to end; all open ones without a number.", _ALL, session=NUMBERED),
    "Rollback": thing("The version to bring back; 0 is the empty one.", version=WHOLE),
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
            "stream": may_lack({"type": "boolean"}),
            "user": may_lack(NAME),
        },
        "required": ["messages"],
    },
    "Passed": {"type": "object", "description": "As OpenAI defines it; passed on as it is."},
    # ── What goes ───────────────────────────────────────────────────────────────────────────
    "Problem": {
        "type": "object",
        "description": "RFC 9457.",
        "properties": {
            "type": TEXT,
            "title": TEXT,
            "status": WHOLE,
            "detail": TEXT,
            "field": TEXT,
        },
        "required": ["type", "title", "status", "detail"],
    },
    "OpenAIError": {
        "type": "object",
        "properties": {"error": {"type": "object"}},
        "required": ["error"],
    },
    "Turn": thing(
        "Words as they were recorded.",
        id=TEXT,
        session=NUMBERED,
        position=NUMBERED,
        speaker=SPEAKER,
        text=TEXT,
        time=TIME,
        language=TEXT,
        name=may_lack(TEXT),
    ),
    "Recorded": thing("The turns, in the order given.", turns=many(ref("Turn"))),
    "TurnPage": page("Turn"),
    "Recalled": thing(
        "Something that came to mind.",
        kind=TEXT,
        text=TEXT,
        score={"type": "number"},
        sources=many(TEXT),
        time=TIME,
        tokens=WHOLE,
        session=may_lack(NUMBERED),
        speaker=may_lack(SPEAKER),
    ),
    "Support": thing(
        "What speaks for memory knowing anything of it: `known` is the probability.",
        known={"type": "number"},
        best={"type": "number"},
        mismatch={"type": "number"},
    ),
    "RecalledList": thing("Best first.", items=many(ref("Recalled")), support=ref("Support")),
    "Contribution": thing(
        "Something that memory put into the prompt, and why.",
        mechanism=TEXT,
        place=TEXT,
        kind=TEXT,
        id=TEXT,
        text=TEXT,
        value={"type": "number"},
        sources=many(TEXT),
        time=TIME,
        why=TEXT,
        score={"type": "number"},
    ),
    "Reply": thing(
        "The answer; what was said before it is recorded, and so is it.",
        turn=ref("Turn"),
        text=TEXT,
        contributions=many(ref("Contribution")),
    ),
    "Session": thing(
        "A stretch of conversation.",
        number=NUMBERED,
        started=TIME,
        last=TIME,
        ended=may_lack(TIME),
        key=may_lack(TEXT),
        turns=WHOLE,
    ),
    "SessionPage": page("Session"),
    "Ended": thing("The sessions that this call ended.", sessions=many(ref("Session"))),
    "Sentence": thing(
        "One thing remembered, with the turns it rests on.",
        text=TEXT,
        about=may_lack(SPEAKER),
        sources=many(TEXT),
    ),
    "Memory": thing(
        "One version of the memory; number 0 is the empty one.",
        number=WHOLE,
        sentences=many(ref("Sentence")),
        origin=TEXT,
        session=may_lack(NUMBERED),
        time=TIME,
        language=TEXT,
        restored=may_lack(WHOLE),
        model=TEXT,
        prompt=TEXT,
        prompt_tokens=WHOLE,
        completion_tokens=WHOLE,
        seconds={"type": "number"},
        notes=many(TEXT),
    ),
    "MemoryPage": page("Memory"),
    "Change": thing(
        "What became of a sentence.",
        change={"type": "string", "enum": ["kept", "added", "removed", "changed"]},
        old=may_lack(TEXT),
        new=may_lack(TEXT),
    ),
    "Changes": thing("In the order of the newer version.", items=many(ref("Change"))),
    "Because": thing(
        "A sentence and what was said.", sentence=ref("Sentence"), turns=many(ref("Turn"))
    ),
    "Reasons": thing("Sentence by sentence.", items=many(ref("Because"))),
    "Rejected": thing(
        "An answer of a model that was not allowed to become memory.",
        session=NUMBERED,
        text=TEXT,
        problems=many(TEXT),
        model=TEXT,
        time=TIME,
    ),
    "RejectedList": thing("Oldest first.", items=many(ref("Rejected"))),
    "Erased": thing("What was removed.", sessions=WHOLE, turns=WHOLE, sentences=WHOLE),
    "Sum": thing(
        "What some calls of models took.",
        name=TEXT,
        calls=WHOLE,
        failed=WHOLE,
        prompt_tokens=WHOLE,
        completion_tokens=WHOLE,
        seconds={"type": "number"},
    ),
    "Cost": thing("Sums by group, and of all.", groups=many(ref("Sum")), total=ref("Sum")),
    "Job": thing(
        "Work in the background.",
        id=NUMBERED,
        user=TEXT,
        task=TEXT,
        session=may_lack(NUMBERED),
        state=TEXT,
        attempts=WHOLE,
        created=TIME,
        due=TIME,
        error=TEXT,
    ),
    "JobPage": page("Job"),
    "Event": {
        "type": "object",
        "description": "A server-sent event; its data is JSON, or [DONE].",
        "properties": {"event": TEXT, "data": TEXT},
        "required": ["data"],
    },
    "UserPage": thing("Names, in order.", items=many(TEXT), next=may_lack(TEXT)),
    "Health": thing("How it stands.", ("reason",), status=TEXT, reason=TEXT),
}
