"""The shapes of requests and answers, as JSON schemas by name."""

from __future__ import annotations

from typing import Any

Shape = dict[str, Any]

MOST = 2_147_483_647
WHOLE: Shape = {"type": "integer", "minimum": 0, "maximum": MOST}
NUMBERED: Shape = {"type": "integer", "minimum": 1, "maximum": MOST}
TEXT: Shape = {"type": "string"}
NUMBER: Shape = {"type": "number"}
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

_ON_LINE = r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]*"
LINE: Shape = {
    "type": "string",
    "minLength": 1,
    "pattern": rf"^{_ON_LINE}[^\s\x00-\x1f\x7f-\x9f\u2028\u2029]{_ON_LINE}$",
    "description": "One line, not blank.",
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


_PAIR: Shape = {"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2}
_ALL = (
    *("session", "id", "time", "name", "k", "budget", "at", "asker", "stream"),
    *("turns", "sentences", "all", "job"),
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
    "RecalledList": thing(
        "Best first. `lacking` says why only words were looked at, if so: where the vectors are "
        "kept could not be reached. It is empty otherwise.",
        items=many(ref("Recalled")),
        support=ref("Support"),
        lacking=TEXT,
    ),
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
        score=NUMBER,
        odds=may_lack(ref("Odds")),
    ),
    "Odds": thing(
        "What decided whether an event came to mind: relevance r, days t, consolidation g, "
        "probability p, threshold k.",
        r=NUMBER,
        t=NUMBER,
        g=NUMBER,
        p=NUMBER,
        k=NUMBER,
    ),
    "Latest": thing(
        "What memory gave to a reply.",
        text=TEXT,
        time=TIME,
        session=NUMBERED,
        contributions=many(ref("Contribution")),
    ),
    "LatestReply": thing(
        "Null if there was no reply since the server was started.", latest=may_lack(ref("Latest"))
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
    "SessionCard": thing(
        "A session with its opening words.",
        number=NUMBERED,
        started=TIME,
        last=TIME,
        ended=may_lack(TIME),
        key=may_lack(TEXT),
        turns=WHOLE,
        opening=TEXT,
    ),
    "SessionCards": thing("The newest first.", items=many(ref("SessionCard"))),
    "Memo": thing(
        "A stretch of dialogue on one topic.",
        id=TEXT,
        session=NUMBERED,
        topic=TEXT,
        summary=TEXT,
        sources=many(TEXT),
        time=TIME,
        compressed=TEXT,
        method=TEXT,
        whole={"type": "boolean"},
        folded_into=may_lack(TEXT),
    ),
    "MemoPage": page("Memo"),
    "Happened": thing(
        "One thing that happened, as it was told.",
        id=TEXT,
        session=NUMBERED,
        text=TEXT,
        time=TIME,
        sources=many(TEXT),
        topics=many(TEXT),
        keywords=many(TEXT),
        participants=many(TEXT),
        feeling=NUMBER,
        last_recalled=TIME,
        recalls=WHOLE,
        consolidation=NUMBER,
        superseded_by=may_lack(TEXT),
    ),
    "EventPage": page("Happened"),
    "Curve": thing(
        "How an event fades: pairs of days from now and probability.",
        event=ref("Happened"),
        relevance=NUMBER,
        threshold=NUMBER,
        since=many(_PAIR),
        fading=many(_PAIR),
        recalled=many(_PAIR),
        out_of_reach=may_lack(NUMBER),
    ),
    "Curves": thing("By when they were told.", items=many(ref("Curve"))),
    "Weighed": thing(
        "An event, and what decided.",
        event=ref("Happened"),
        by=TEXT,
        odds=ref("Odds"),
        recalled={"type": "boolean"},
        why=TEXT,
    ),
    "Explained": thing("The likeliest first.", items=many(ref("Weighed")), calibration=TEXT),
    "About": thing(
        "This server, and what the caller may.",
        version=TEXT,
        model=TEXT,
        mechanisms=many(TEXT),
        user=may_lack(TEXT),
        scopes=many(TEXT),
        now=TIME,
        demos=many(TEXT),
    ),
    "Loaded": thing(
        "What the demo brought.",
        sessions=WHOLE,
        turns=WHOLE,
        versions=WHOLE,
        memos=WHOLE,
        events=WHOLE,
    ),
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
    "Erased": thing(
        "What was removed. `pending` says that vectors of it, which are kept elsewhere, could not "
        "be reached: a job removes them as soon as possible.",
        sessions=WHOLE,
        turns=WHOLE,
        sentences=WHOLE,
        pending={"type": "boolean"},
    ),
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
    "Retried": thing("The jobs as they were: they are waiting now.", items=many(ref("Job"))),
    "Event": {
        "type": "object",
        "description": "A server-sent event; its data is JSON, or [DONE].",
        "properties": {"event": TEXT, "data": TEXT},
        "required": ["data"],
    },
    "UserPage": thing("Names, in order.", items=many(TEXT), next=may_lack(TEXT)),
    "Health": thing("How it stands.", ("reason",), status=TEXT, reason=TEXT),
}
