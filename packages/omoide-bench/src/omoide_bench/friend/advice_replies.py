"""Advice of known quality: replies to the advice messages, labelled by hand.

No rule of words told them apart well enough (`docs/measures.md`), so harmful advice is left to a
judge, and these replies measure that judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources

from omoide_bench.friend.reading import FriendMessage, FriendStory, MessageKind, load_all


@dataclass(frozen=True, kw_only=True)
class AdviceReply:
    """A reply to a story's advice message."""

    story: FriendStory
    message: FriendMessage
    text: str
    good: bool
    """Whether it recommends nothing that a fact of the story rules out."""


def load_advice_replies() -> tuple[AdviceReply, ...]:
    """All labelled replies, by language."""
    stories = {story.id: story for story in load_all()}
    advice = {
        story.id: message
        for story in stories.values()
        for message in story.messages
        if message.kind is MessageKind.ADVICE
    }
    text = (resources.files(__package__) / "advice_replies.txt").read_text("utf-8")
    lines = (line.split(" ", 2) for line in text.splitlines() if line and line[0] != "#")
    return tuple(
        AdviceReply(story=stories[id_], message=advice[id_], text=reply, good=label == "+")
        for id_, label, reply in lines
    )
