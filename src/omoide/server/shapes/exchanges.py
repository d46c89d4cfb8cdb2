"""JSON schemas of exchanges with a caller's own model, and of jobs, notes and calls."""

from __future__ import annotations

from omoide.server.shapes.builders import (
    NAME,
    NUMBERED,
    TEXT,
    TIME,
    WHOLE,
    WORDS,
    YES_OR_NO,
    Shape,
    list_of,
    nullable,
    object_of,
    page,
    ref,
)

_MESSAGES: Shape = {
    "type": "array",
    "minItems": 1,
    "maxItems": 1000,
    "items": {
        "type": "object",
        "properties": {"role": TEXT},
        "required": ["role"],
    },
    "description": "Messages as OpenAI's clients use them: `role`, `content` and anything else.",
}
_EITHER: Shape = {"oneOf": [{"required": ["text"]}, {"required": ["messages"]}]}
"""For the document; the handler checks it."""
_KIND: Shape = {**NAME, "pattern": r"^app\.[^\x00-\x1f\x7f-\xa0\xad]+$"}
_PROMPT: Shape = {"type": "array", "items": {"type": "object"}}

EXCHANGES: dict[str, Shape] = {
    "ContextRequest": {
        **object_of(
            "What the user says: `text`, or `messages` with their history.",
            ("text", "messages", "at", "budget"),
            text=WORDS,
            messages=_MESSAGES,
            at=TIME,
            budget=NUMBERED,
        ),
        **_EITHER,
    },
    "PromptContext": object_of(
        "What memory adds to the prompt of a reply: as one text, and as messages for a model.",
        text=TEXT,
        messages=_PROMPT,
        contributions=list_of(ref("Contribution")),
    ),
    "ExchangeRequest": {
        **object_of(
            "A message that a model of the caller's own will answer: `text`, or `messages` with "
            "their history, of which only the new ones are recorded.",
            ("text", "messages", "session", "id", "name", "at", "budget"),
            text=WORDS,
            messages=_MESSAGES,
            session=NAME,
            id=NAME,
            name=NAME,
            at=TIME,
            budget=NUMBERED,
        ),
        **_EITHER,
    },
    "ExchangeBegun": object_of(
        "The recorded message, and what memory adds to the prompt of its reply. `turns` is empty "
        "if the user said nothing.",
        turns=list_of(ref("Turn")),
        new=list_of(TEXT),
        text=TEXT,
        messages=_PROMPT,
        contributions=list_of(ref("Contribution")),
        version=WHOLE,
        repeated=YES_OR_NO,
        changes=list_of(TEXT),
    ),
    "ExchangeEnd": object_of(
        "The reply to a recorded message. `used` are the contributions of memory that were in its "
        "prompt: recalled events consolidate. With `once`, the same reply to the same message is "
        "recorded once, and another one takes the place of the former if the message was "
        "`repeated`. Without `record`, contributions are only marked as used.",
        ("session", "at", "used", "once", "complete", "record", "repeated"),
        turn=NAME,
        text=TEXT,
        session=NAME,
        at=TIME,
        used=list_of(ref("Used"), maxItems=1000),
        once=YES_OR_NO,
        complete=YES_OR_NO,
        record=YES_OR_NO,
        repeated=YES_OR_NO,
    ),
    "Used": object_of(
        "A contribution that was in a prompt, by these of its fields.",
        mechanism=TEXT,
        place={"type": "string", "enum": ["memory", "recalled"]},
        kind={"type": "string", "pattern": "^[a-z][a-z0-9_.-]{0,63}$"},
        id=TEXT,
        time=TIME,
    ),
    "ExchangeEnded": object_of(
        "The recorded turns of the reply; `new` are the ids of those that were not recorded "
        "before. There is none if the reply says nothing, or if the message was erased meanwhile, "
        "since the reply may quote it.",
        recorded=YES_OR_NO,
        turns=list_of(ref("Turn")),
        new=list_of(TEXT),
    ),
    "Digest": object_of("The session to digest again.", ("at",), session=NUMBERED, at=TIME),
    "Nothing": object_of("No fields."),
    "Ran": object_of("How many jobs this call started.", started=WHOLE),
    "Queued": object_of("The jobs that are waiting.", items=list_of(ref("Job"))),
    "Note": object_of(
        "A short text that a mechanism keeps under a kind and a key.",
        kind=TEXT,
        key=TEXT,
        text=TEXT,
        time=TIME,
        session=nullable(NUMBERED),
    ),
    "NewNote": object_of(
        "A text of the application's own.",
        ("at",),
        kind=_KIND,
        key=NAME,
        text=WORDS,
        at=TIME,
    ),
    "NoteNames": object_of(
        "Notes of one kind: those with these keys, or all.",
        ("keys",),
        kind=_KIND,
        keys=list_of(NAME, maxItems=1000),
    ),
    "RemovedNotes": object_of("How many there were.", removed=WHOLE),
    "Notes": object_of("By key.", items=list_of(ref("Note"))),
    "ModelCall": object_of(
        "One call of a model and what it cost.",
        purpose=TEXT,
        model=TEXT,
        session=nullable(NUMBERED),
        prompt_tokens=WHOLE,
        completion_tokens=WHOLE,
        seconds={"type": "number"},
        time=TIME,
        failed=YES_OR_NO,
    ),
    "ModelCallPage": page("ModelCall"),
    "ReceiptCheck": object_of(
        "Whether this database signed the receipt for this tenant, and nothing was changed since.",
        genuine=YES_OR_NO,
    ),
}
