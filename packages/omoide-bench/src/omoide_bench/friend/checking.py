"""What can be told about a reply without a judge."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from omoide.language import detect_language, split_sentences
from omoide.mechanisms import is_looping
from omoide_bench.friend.reading import MessageKind
from omoide_bench.unknown.admitting import admits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omoide_bench.friend.reading import FriendMessage, FriendStory

SAME = 0.8
"""The likeness of two texts, by their characters, from which one is the other said again."""
SHORTEST = 8
"""Characters that a text must have to be recognised when it is said again: "Good morning!" is
nobody's own."""
SENTENCES = 4
LONGEST = {"en": 400, "vi": 400, "zh": 140, "ja": 180, "ko": 200}
"""Most sentences and characters of a reply in a chat between friends."""
_OWN = {
    "en": r"\b(?:my|our|i\ am|i[’']m|i\ live|i\ work|i\ have|i[’']ve\ got|i\ study|i\ moved)\b",
    "zh": r"(?:我|咱)(?:的|家|们家|养|住|在|是|叫|有|搬|对|儿子|女儿|妻子|老公)",
    "ja": r"(?:私|わたし|僕|ぼく|俺|おれ|うち)(?:の|は|も|が|って)",
    "ko": r"(?:^|\s)(?:나는|난|내|나도|저는|제|우리)\s",
    "vi": r"\b(?:của\ (?:mình|tớ|tôi)|(?:mình|tớ|tôi)\ (?:sống|làm|có|nuôi|học|bị|chuyển|là))\b",
}
_YOURS = {
    "en": r"\b(?:you|your|yours)\b|[’']re\b",
    "zh": r"[你您]",
    "ja": r"あなた|君|きみ|さん|ちゃん|でしょ|だよね|よね|んだね|てるね|たね",
    "ko": r"너|네|니가|당신|씨|님|잖아|했지|이지|하지",
    "vi": r"\b(?:bạn|cậu|anh|chị|ông|bác)\b",
}
"""Words for the speaker's own life, and words that say whose it is. A sentence with a fact and only
the former tells the user's life as one's own."""


@dataclass(frozen=True, kw_only=True)
class FriendMarks:
    """The checks of a reply."""

    has: bool
    """It has the wording that a good reply has."""
    stale: bool
    """It has what was true before and not what is true now."""
    admits: bool
    """It says that it does not know or was not told."""
    parrots: bool
    """It says an earlier reply, or the message itself, again."""
    asks_told: bool
    """It asks for what the message says."""
    claims: bool
    """It tells the user's life as its own."""
    language: bool
    length: bool
    """It is as long as a friend's reply: a few sentences, and no loop."""


def marks(story: FriendStory, message: FriendMessage, reply: str) -> FriendMarks:
    """Check a reply to a message of the story's last session."""
    language = detect_language(reply, default=story.language)
    sentences = [s for s in map(str.strip, split_sentences(reply)) if s]
    told = message.kind is MessageKind.TELL
    has = not told and message.wording is not None and message.wording.within(reply)
    questions = [s for s in sentences if s.endswith(("?", "？"))]
    return FriendMarks(
        has=has,
        stale=message.old is not None and message.old.within(reply) and not has,
        admits=any(admits(reply, code) for code in {language, story.language}),
        parrots=said_again(reply, (*story.said("A"), message.text)),
        asks_told=told
        and message.wording is not None
        and any(message.wording.within(question) for question in questions),
        claims=any(_claims(story, sentence) for sentence in sentences),
        language=language == story.language,
        length=0 < len(reply) <= LONGEST[story.language]
        and len(sentences) <= SENTENCES
        and not is_looping(reply),
    )


def scores(message: FriendMessage, got: FriendMarks) -> dict[str, float]:
    """The measures that a message's kind has."""
    kind = message.kind
    found = {
        "parrots": got.parrots,
        "claims": got.claims,
        "language": got.language,
        "length": got.length,
    }
    if kind in (MessageKind.ASK, MessageKind.CHANGED):
        found |= {"right": got.has, "denied": got.admits and not got.has}
    if kind is MessageKind.CHANGED:
        found["stale"] = got.stale
    if kind is MessageKind.ADVICE:
        found["shaped"] = got.has
    if kind is MessageKind.GREET:
        found["greets"] = got.has
    if kind is MessageKind.UNKNOWN:
        found["admits"] = got.admits
    if kind in (MessageKind.GREET, MessageKind.TALK, MessageKind.TELL, MessageKind.ADVICE):
        found["unsure"] = got.admits
    if kind is MessageKind.TELL:
        found["asks told"] = got.asks_told
    return {name: float(value) for name, value in found.items()}


def said_again(reply: str, earlier: Iterable[str]) -> bool:
    """Whether the reply, or most of it, is one of these texts.

    >>> said_again("No peanuts, promised!", ["No peanuts, promised."])
    True
    >>> said_again("No peanuts in the cake.", ["No peanuts, promised."])
    False
    """
    said = _bare(reply)
    return any(
        len(one) >= SHORTEST
        and ((one in said and len(one) >= len(said) / 2) or _likeness(one, said) >= SAME)
        for one in map(_bare, earlier)
    )


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def _bare(text: str) -> str:
    """The text without case, spaces and marks."""
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def _claims(story: FriendStory, sentence: str) -> bool:
    """Whether the sentence tells something that the user told as the speaker's own."""
    own = re.search(_OWN[story.language], sentence, re.IGNORECASE | re.VERBOSE)
    yours = re.search(_YOURS[story.language], sentence, re.IGNORECASE | re.VERBOSE)
    golds = (m.wording for m in story.messages if m.kind in (MessageKind.ASK, MessageKind.CHANGED))
    return bool(own and not yours) and any(gold.within(sentence) for gold in golds if gold)
