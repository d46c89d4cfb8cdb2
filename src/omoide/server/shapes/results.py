"""JSON schemas of what a change returns: an erasure with its receipt, an import, a title."""

from __future__ import annotations

from omoide.server.shapes.builders import (
    NUMBERED,
    TEXT,
    TIME,
    WHOLE,
    YES_OR_NO,
    Shape,
    list_of,
    object_of,
    ref,
)

_COUNTS: Shape = {"type": "object", "additionalProperties": WHOLE}

RESULTS: dict[str, Shape] = {
    "Erased": object_of(
        "What was erased. `pending` means that the vector store could not be reached: a job erases "
        "the vectors as soon as possible.",
        sessions=WHOLE,
        turns=WHOLE,
        sentences=WHOLE,
        facts=WHOLE,
        events=WHOLE,
        memos=WHOLE,
        notes=WHOLE,
        rejected=WHOLE,
        pending=YES_OR_NO,
        receipt=ref("Receipt"),
    ),
    "Receipt": object_of(
        "The signed receipt of an erasure. `found` names kinds in which something was still found "
        "afterwards. Check it with `omoide verify-receipt`.",
        format=WHOLE,
        id=TEXT,
        time=TIME,
        tenant=TEXT,
        user=TEXT,
        scope=TEXT,
        removed=_COUNTS,
        searched=_COUNTS,
        found=list_of(TEXT),
        pending=YES_OR_NO,
        written_by=TEXT,
        signature=TEXT,
    ),
    "Imported": object_of(
        "What was recorded: new sessions and turns, turns that were known, and what was skipped.",
        source=TEXT,
        sessions=WHOLE,
        turns=WHOLE,
        known=WHOLE,
        to_digest=WHOLE,
        skipped=WHOLE,
        left_out=list_of(object_of("Something skipped.", where=TEXT, reason=TEXT)),
    ),
    "Titled": object_of("A session's title.", session=NUMBERED, title=TEXT),
}
