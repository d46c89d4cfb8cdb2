"""The messages, written for this task: `scenes.jsonl`, one JSON object per line.

    {"id": "en-3", "language": "en", "message": "I need new kitchen scissors.",
     "fact": "User is left-handed.", "use": "left"}

`use` is a pattern that a reply that uses the fact matches. A message without a fact is small talk,
into which a reply should bring no fact. There are ten messages with a fact and two of small talk
per language; none was looked at while prompts were written.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib import resources

from omoide.language import detect_language

DECOYS = 4
"""Number of facts besides the right one."""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A user's message, and the fact that fits it."""

    id: str
    language: str
    message: str
    fact: str = ""
    """Empty for small talk."""
    use: str = ""
    decoys: tuple[tuple[str, str], ...] = ()
    """Other facts about the same person, with their patterns."""
    place: int = 0
    """Index of the fact among the decoys."""

    def given_notes(self, arm: str) -> tuple[str, ...]:
        """The facts in the prompt: `none`, the right one `alone`, or `among` decoys. For small talk
        a decoy takes the place of the right one."""
        others = [text for text, _ in self.decoys]
        if arm == "none":
            return ()
        if arm == "alone":
            return (self.fact or others[0],)
        if self.fact:
            others.insert(self.place, self.fact)
        return tuple(others)


@dataclass(frozen=True, kw_only=True)
class SceneMarks:
    """The checks of a reply."""

    uses: bool
    language: bool
    notes: bool
    """Whether it mentions notes, a memory, or "the User"."""
    offers: bool
    """Whether it introduces itself or offers help."""
    echoes: bool
    """Whether it begins by repeating the message."""

    @property
    def good(self) -> bool:
        """Whether it uses the fact as a friend would."""
        return self.uses and self.language and not (self.notes or self.offers or self.echoes)


def load() -> tuple[Scene, ...]:
    """All scenes, each with its decoys."""
    text = (resources.files(__package__) / "scenes.jsonl").read_text("utf-8")
    read = [json.loads(line) for line in text.splitlines()]
    scenes = []
    for number, fields in enumerate(read):
        facts = [r for r in read if r["language"] == fields["language"] and "fact" in r]
        start = next((i for i, r in enumerate(facts) if r["id"] == fields["id"]), number)
        chosen = [facts[(start + step) % len(facts)] for step in (2, 4, 5, 7)]
        decoys = tuple((r["fact"], r["use"]) for r in chosen[:DECOYS])
        scenes.append(Scene(**fields, decoys=decoys, place=number % (DECOYS + 1)))
    return tuple(scenes)


def marks(scene: Scene, reply: str) -> SceneMarks:
    """Check a reply; for small talk, `uses` means that it brought in some fact."""
    patterns = [scene.use] if scene.use else [use for _, use in scene.decoys]
    head = scene.message.strip()[: max(6, len(scene.message) * 2 // 3)]
    return SceneMarks(
        uses=any(re.search(pattern, reply, re.IGNORECASE) for pattern in patterns),
        language=detect_language(reply) == scene.language,
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
