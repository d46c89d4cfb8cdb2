"""JSON schemas of what a change returns: an erasure with its receipt, a calibration, a title."""

from __future__ import annotations

from omoide.server.shapes.builders import (
    NUMBER,
    NUMBERED,
    TEXT,
    TIME,
    WHOLE,
    YES_OR_NO,
    Shape,
    list_of,
    nullable,
    object_of,
    page,
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
    "EndedIdle": object_of("How many sessions were ended.", ended=WHOLE),
    "Calibration": object_of(
        "A map from an embedder's similarities to the relevance of the paper: pairs of both. "
        "`measured` is false if it was estimated from a user's own data.",
        embedder=TEXT,
        version=TEXT,
        points=list_of(list_of(NUMBER, minItems=2, maxItems=2)),
        n=WHOLE,
        data=TEXT,
        languages=list_of(TEXT),
        measured=YES_OR_NO,
        true_recalls=nullable(ref("HitRate")),
        false_recalls=nullable(ref("HitRate")),
    ),
    "HitRate": object_of(
        "A share of n cases, with its 95 % interval.",
        share=NUMBER,
        low=NUMBER,
        high=NUMBER,
        n=WHOLE,
    ),
    "FileVersion": object_of(
        "A file of the memory tool after one change. `text` is null if the change removed it; `by` "
        "is the name of the API key that did it, or what the application said.",
        number=NUMBERED,
        path=TEXT,
        text=nullable(TEXT),
        time=TIME,
        command=TEXT,
        by=TEXT,
    ),
    "FileVersionPage": page("FileVersion"),
    "Titled": object_of("A session's title.", session=NUMBERED, title=TEXT),
    "PresetNumber": object_of(
        "A number that a paper prints, and where.", what=TEXT, value=TEXT, where=TEXT
    ),
    "PresetDeparture": object_of("What a preset does otherwise, and why.", what=TEXT, why=TEXT),
    "Preset": object_of(
        "A paper's method, or ours, by one name. `settings` are its values as text.",
        name=TEXT,
        about=TEXT,
        paper=TEXT,
        mechanisms=list_of(TEXT),
        settings={"type": "object", "additionalProperties": TEXT},
        prompts=list_of(TEXT),
        numbers=list_of(ref("PresetNumber")),
        departures=list_of(ref("PresetDeparture")),
    ),
    "Presets": object_of(
        "`preset` is the user's, `server` the server's own; `open` says "
        "whether another may be chosen.",
        preset=TEXT,
        server=TEXT,
        open=YES_OR_NO,
        items=list_of(ref("Preset")),
    ),
}
