"""What a language model is asked about a turn, and what its answer becomes.

One request wants several questions of different styles about one marked line. A worked example in
the language of the talk comes first; without it a small model answers the line instead of asking.
"""

from __future__ import annotations

import random
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from omoide_tune.retrieval.shapes import Conversation, Turn

STYLES = {
    "direct": "a plain question that only this line answers",
    "general": "a question that names the kind of thing, not the thing: 'pet' for 'beagle'",
    "indirect": "a question about what follows from the line, in other words than the line",
    "when": "a question about when, how long or how often, or about the time it happened",
    "both": "a question about both people, of which this line gives one half",
    "request": "what the person says to an assistant who should remember: 'Can you remind me …'",
    "chat": "a later remark, no question, at which a friend would think of this line",
}
EACH = 5
"""Styles in one request."""
BEFORE, LONGEST = 2, 700
"""Lines shown before the marked one, and characters of a line."""
_CJK = ("zh", "ja", "ko")
_SCRIPTS = {
    "zh": re.compile(r"[\u4e00-\u9fff]"),
    "ja": re.compile(r"[\u3041-\u30ff]"),
    "ko": re.compile(r"[\uac00-\ud7a3]"),
}
_FOREIGN = re.compile(r"[\u3041-\u30ff\u4e00-\u9fff\uac00-\ud7a3]")
_LABEL = re.compile(rf"^\W*({'|'.join(STYLES)})\W*[:：]\s*(.+)$", re.IGNORECASE)
_LANGUAGES = {
    "en": "English",
    "zh": "Chinese",
    "ja": "Japanese",
    "ko": "Korean",
    "vi": "Vietnamese",
}


@dataclass(frozen=True, kw_only=True)
class Request:
    """A turn to be asked about."""

    conversation: str
    turn: str
    language: str
    messages: tuple[tuple[Literal["system", "user", "assistant"], str], ...]
    """Role and content."""


def worth_asking(turn: Turn, language: str) -> bool:
    """Whether the turn says enough to be asked about."""
    text = turn.text.strip()
    least = 14 if language in _CJK else 35
    return len(text) >= least and not text.endswith(("?", "？"))


def requests(conversation: Conversation, *, share: float = 1.0, seed: int = 1) -> Iterator[Request]:
    """One request for each turn that is worth it, or for a share of these."""
    dice = random.Random(f"{seed}/{conversation.name}")  # noqa: S311 - an order, not a secret
    for place, turn in enumerate(conversation.turns):
        if conversation.assisted and turn.speaker == "assistant" and dice.random() < 0.7:
            continue  # mostly it is the user's words that are asked for
        if worth_asking(turn, conversation.language) and dice.random() < share:
            yield request(conversation, place, dice)


def request(conversation: Conversation, place: int, dice: random.Random) -> Request:
    """What is sent about the turn at `place`."""
    styles = [style for style in STYLES if style != "both" or not conversation.assisted]
    chosen = sorted(dice.sample(styles, EACH), key=list(STYLES).index)
    shown = conversation.turns[max(place - BEFORE, 0) : place + 1]
    names = dict(zip(("user", "assistant"), conversation.names, strict=True))
    lines = [f"{names[turn.speaker]}: {_cut(turn.text)}" for turn in shown]
    lines[-1] = f">>> {lines[-1]}"
    example = _example(conversation.language, assisted=conversation.assisted)
    answer = "\n".join(f"{style}: {example[style]}" for style in chosen)
    turn = conversation.turns[place]
    return Request(
        conversation=conversation.name,
        turn=turn.id,
        language=conversation.language,
        messages=(
            ("system", _order(chosen, conversation, names[turn.speaker])),
            ("user", example["talk"].strip()),
            ("assistant", answer),
            ("user", "\n".join(lines)),
        ),
    )


def _order(chosen: list[str], conversation: Conversation, speaker: str) -> str:
    styles = "\n".join(f"{style}: {STYLES[style]}" for style in chosen)
    who = (
        "Speak as the user, who asks the assistant later: say I and my for the user."
        if conversation.assisted
        else f"Name {speaker}; do not say he, she or they alone. In request and chat say I."
    )
    return (
        "You write test questions for a memory of conversations. The line after >>> is what must "
        "be found. Write one line for each style, with its label, in "
        f"{_LANGUAGES[conversation.language]}:\n{styles}\n"
        f"Do not give the answer away. Do not copy the line: use other words. {who}"
    )


def parsed(reply: str, language: str) -> dict[str, str]:
    """Style and question of each line that is of the form, in the right script."""
    found: dict[str, str] = {}
    for line in reply.splitlines():
        if match := _LABEL.match(line.strip()):
            style, text = match[1].lower(), match[2].strip().strip("\"'“”「」")
            if style not in found and _right_script(text, language):
                found[style] = text
    return found


def _right_script(text: str, language: str) -> bool:
    if not 6 <= len(text) <= 240 or ">>>" in text:
        return False
    script = _SCRIPTS.get(language)
    return bool(script.search(text)) if script else not _FOREIGN.search(text)


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST else flat[:LONGEST] + " …"


@cache
def _examples() -> Mapping[str, Mapping[str, str]]:
    text = resources.files(__package__).joinpath("examples.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _example(language: str, *, assisted: bool) -> Mapping[str, str]:
    own = _examples()
    key = f"{language}-assisted"
    return own[key] if assisted and key in own else own[language]


def example_questions() -> list[str]:
    """What the worked examples ask; a model sometimes gives these back."""
    return [text for own in _examples().values() for style, text in own.items() if style in STYLES]
