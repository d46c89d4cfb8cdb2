"""What the fields of requests mean, for the OpenAPI document and the docs.

They are kept apart from the shapes because many shapes share a field's type but not its meaning. A
field whose name says it all has no entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omoide.server.shapes.builders import Shape

_CONVERSATION = "The caller's key of a conversation, such as a thread id."
_TURN = "The caller's id of the turn. The same id and text again is not recorded twice."

MEANINGS: dict[str, dict[str, str]] = {
    "Utterance": {
        "speaker": "Who said it.",
        "id": _TURN,
        "time": "When it was said; now if left out.",
        "name": "The speaker's name.",
    },
    "Record": {"session": _CONVERSATION},
    "Query": {
        "query": "A question or a remark.",
        "k": "Most items; 10 if left out.",
        "budget": "Most tokens of all items together.",
        "at": "Recall as it would have been then.",
        "asker": 'Who "I" is in the query; `user` if left out.',
        "kinds": "Only items of these kinds.",
        "since": "Only what was said from then on.",
        "until": "Only what was said until then.",
        "speaker": "Only turns of this speaker.",
        "about": "Only facts about this person: `user`, `assistant` or a name.",
        "tags": "Only facts with one of these tags.",
    },
    "Say": {
        "text": "What the user says.",
        "session": _CONVERSATION,
        "id": _TURN,
        "stream": "Answer with server-sent events, piece by piece.",
    },
    "End": {"session": "The session's number."},
    "Retry": {"job": "The job's id."},
    "Amendment": {"sentence": "The sentence as it is now.", "text": "What it should say."},
    "Correction": {"id": "The fact's id.", "text": "What is true instead, as one sentence."},
    "Marks": {
        "id": "The fact's id.",
        "pinned": "Keep it in every version of the summary.",
        "expires": "When it stops being remembered; null for never.",
        "tags": "Its tags, instead of those it has.",
    },
    "Explain": {"text": "What the user might say.", "at": "The time to explain it for."},
    "Erasure": {
        "session": "The session with this number.",
        "turns": "Turns by their ids, and what cites them.",
        "sentences": "These sentences, from every version of the summary.",
        "facts": "Facts by their ids, and their text wherever memory has it.",
        "all": "Everything about the user.",
    },
}


def with_meanings(shapes: Mapping[str, Shape]) -> dict[str, Shape]:
    """The shapes with a description for each field that has a meaning here."""
    return {name: _described(shape, MEANINGS.get(name, {})) for name, shape in shapes.items()}


def _described(shape: Shape, meanings: Mapping[str, str]) -> Shape:
    if not meanings:
        return shape
    fields = shape["properties"]
    return {
        **shape,
        "properties": {
            name: {**field, "description": meanings[name]} if name in meanings else field
            for name, field in fields.items()
        },
    }
