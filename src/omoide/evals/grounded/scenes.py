"""The messages, written for this: `scenes.jsonl`, one JSON object a line.

    {"id": "en-3", "language": "en", "message": "I need new kitchen scissors.",
     "fact": "User is left-handed.", "use": "left"}

`use` is a pattern that a reply which puts the fact to use holds. A message without a fact is small
talk, which a reply should leave alone. Ten messages and two of small talk a language; none of them
was looked at while a prompt was written.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib import resources

from omoide.language import detect

DECOYS = 4
"""Facts beside the right one."""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """Something that the user says, and the fact that it calls for."""

    id: str
    language: str
    message: str
    fact: str = ""
    """Empty where it is small talk."""
    use: str = ""
    decoys: tuple[tuple[str, str], ...] = ()
    """Other facts of the same person, with their patterns."""
    place: int = 0
    """Where among the decoys the fact stands."""

    def handed(self, arm: str) -> tuple[str, ...]:
        """The facts that a reply is given: none, the right one `alone`, or it `among` decoys. With
        small talk one that does not belong stands for the right one."""
        others = [text for text, _ in self.decoys]
        if arm == "none":
            return ()
        if arm == "alone":
            return (self.fact or others[0],)
        if self.fact:
            others.insert(self.place, self.fact)
        return tuple(others)


@dataclass(frozen=True, kw_only=True)
class Marks:
    """What is right and wrong with a reply."""

    uses: bool
    language: bool
    notes: bool
    """Whether it speaks of notes, a memory, or "the User"."""
    offers: bool
    """Whether it introduces itself or offers help."""
    echoes: bool
    """Whether it begins with the message itself."""

    @property
    def good(self) -> bool:
        """Whether it uses the fact as a friend would."""
        return self.uses and self.language and not (self.notes or self.offers or self.echoes)


def load() -> tuple[Scene, ...]:
    """All scenes, each with the facts that stand beside its own."""
    text = (resources.files(__package__) / "scenes.jsonl").read_text("utf-8")
    read = [json.loads(line) for line in text.splitlines()]
    found = []
    for number, fields in enumerate(read):
        own = [r for r in read if r["language"] == fields["language"] and "fact" in r]
        start = next((i for i, r in enumerate(own) if r["id"] == fields["id"]), number)
        turned = [own[(start + step) % len(own)] for step in (2, 4, 5, 7)]
        decoys = tuple((r["fact"], r["use"]) for r in turned[:DECOYS])
        found.append(Scene(**fields, decoys=decoys, place=number % (DECOYS + 1)))
    return tuple(found)


def marks(scene: Scene, reply: str) -> Marks:
    """How the reply did; of small talk `uses` says that some fact was dragged in."""
    patterns = [scene.use] if scene.use else [use for _, use in scene.decoys]
    head = scene.message.strip()[: max(6, len(scene.message) * 2 // 3)]
    return Marks(
        uses=any(re.search(pattern, reply, re.IGNORECASE) for pattern in patterns),
        language=detect(reply) == scene.language,
        notes=bool(_NOTES.search(reply)),
        offers=bool(re.search(_OFFERS[scene.language], reply, re.IGNORECASE)),
        echoes=reply.strip().startswith(head),
    )


_NOTES = re.compile(
    r"\bnotes?\b|\bmemor(?:y|ies)\b|笔记|メモ|메모|ghi chú"
    r"|\bUser\b|用户|ユーザー|사용자|[Nn]gười dùng"
)
_OFFERS = {
    "en": r"\bassist|help you|how can I|let me know if",
    "zh": r"助手|帮助你|帮到你|为您|您好",
    "ja": r"アシスタント|手伝い|こんにちは|お役に立|どういたしまして",
    "ko": r"도와|도움이 필요|안녕하세요|어시스턴트|인공지능",
    "vi": r"trợ lý|giúp gì|giúp bạn|xin chào",
}
