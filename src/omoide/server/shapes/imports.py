"""JSON schemas of imports and restores: what other programs stored, and exports of omoide."""

from __future__ import annotations

from omoide.server.shapes.builders import (
    NAME,
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

_DIGEST: Shape = {
    **YES_OR_NO,
    "description": "Whether they are digested into memory; default true.",
}
_KEPT_TEXT: Shape = {"type": "string", "pattern": r"^[^\x00]*$"}
_FOREIGN = list_of(ref("ForeignConversation"), maxItems=1000)
_SKIPPED = list_of(ref("SkippedItem"))

IMPORTS: dict[str, Shape] = {
    "Import": object_of(
        "Conversations as ChatGPT or Claude export them, or objects with `messages`. Send a large "
        "export in several requests; what was imported before is not recorded again.",
        ("digest",),
        conversations=list_of({"type": "object"}, minItems=1, maxItems=1000),
        digest=_DIGEST,
    ),
    "Imported": object_of(
        "What was recorded: new sessions and turns, turns that were known, and what was skipped.",
        source=TEXT,
        sessions=WHOLE,
        turns=WHOLE,
        known=WHOLE,
        to_digest=WHOLE,
        skipped=WHOLE,
        left_out=_SKIPPED,
    ),
    "SkippedItem": object_of("Something skipped.", where=TEXT, reason=TEXT),
    "ForeignMessage": object_of(
        "A message of another program. Without a time it gets that of the message before it.",
        ("time",),
        id=NAME,
        speaker=SPEAKER,
        text=WORDS,
        time=nullable(TIME),
    ),
    "ForeignConversation": object_of(
        "A conversation of another program, under an id that is the same in each export.",
        ("started", "title"),
        key=NAME,
        messages=list_of(ref("ForeignMessage"), minItems=1),
        started=nullable(TIME),
        title=_KEPT_TEXT,
    ),
    "ImportConversations": object_of(
        "Conversations that the caller has read already.",
        ("digest", "at"),
        conversations={**_FOREIGN, "minItems": 1},
        digest=_DIGEST,
        at=TIME,
    ),
    "ImportedConversations": object_of(
        "What was recorded, and what was skipped.",
        sessions=WHOLE,
        turns=WHOLE,
        known=WHOLE,
        to_digest=WHOLE,
        left_out=_SKIPPED,
    ),
    "ForeignFact": object_of(
        "A statement in another product's memory, under an id that is the same in each export.",
        ("about", "said", "since", "ended", "until", "tags"),
        id=NAME,
        text=WORDS,
        about=NAME,
        said=nullable(TIME),
        since=nullable(TIME),
        ended=nullable(TIME),
        until=nullable(TIME),
        tags=list_of(TEXT, maxItems=1000),
    ),
    "KeptItem": object_of(
        "Something of another product that has no counterpart, as JSON text; it is kept as a note.",
        key=NAME,
        text=_KEPT_TEXT,
        what=TEXT,
    ),
    "ImportMemories": object_of(
        "What another memory product has stored. Send much in several requests; what was imported "
        "before is not stored again.",
        ("facts", "conversations", "kept", "digest", "at"),
        source=NAME,
        facts=list_of(ref("ForeignFact"), maxItems=1000),
        conversations=_FOREIGN,
        kept=list_of(ref("KeptItem"), maxItems=1000),
        digest=_DIGEST,
        at=TIME,
    ),
    "ImportedMemories": object_of(
        "What was stored, what was known, and what was skipped. `kept` counts by what it is.",
        sessions=WHOLE,
        turns=WHOLE,
        facts=WHOLE,
        known=WHOLE,
        kept={"type": "object", "additionalProperties": WHOLE},
        to_digest=WHOLE,
        left_out=_SKIPPED,
    ),
    "Restore": object_of(
        "All records of an export of omoide, its header first. They are checked before anything is "
        "written. What is there already is not written again.",
        ("at",),
        records=list_of({"type": "object"}, minItems=1),
        at=TIME,
    ),
    "Restored": object_of(
        "What was added to what was there.",
        **dict.fromkeys(
            (
                *("sessions", "turns", "versions", "aside", "calls"),
                *("facts", "events", "memos", "notes", "to_digest"),
            ),
            WHOLE,
        ),
    ),
}
