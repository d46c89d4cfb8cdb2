"""English, by its closed word classes: a list of words, and the preceding word where one is
ambiguous.

A tagger would cost hundreds of megabytes for what about 150 words decide: English marks grammar
with words that hardly ever change.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from omoide.adapters.analysers.tagged import TaggedSpan, TaggingAnalyser
from omoide.ports.analysis import Role

if TYPE_CHECKING:
    from collections.abc import Iterable

_WORD = re.compile(r"[^\W_]+(?:[-'’.,:/][^\W_]+)*\.?(?=\W|$)|\S", re.UNICODE)
_NEGATION = frozenset(
    """no not never none nobody nothing nowhere neither nor without cannot cant dont wont didnt
    doesnt isnt arent wasnt werent couldnt shouldnt wouldnt hardly barely unless except
    few""".split()
)
_FUNCTION = frozenset(
    """a an the of to in on at by for with about into onto upon as than and but so
    that this these those there it its it's that's there's i i'm i've i'd i'll my you you're
    you've you'd you'll your he he's she she's we we're we've we'd we'll our they they're they've
    they'd their them him me us be is am are was were been being does did having
    would could shall just very really quite too also then well oh yeah okay ok wow hey um uh hmm
    lol haha such some any which who whom whose what's how's let's when where whether though
    although however even still already actually basically definitely certainly totally simply
    truly""".split()
)
"""Words that change the meaning are left out: from, or, if, because, might, should, must."""
_SUBJECTS = ("i", "you", "he", "she", "it", "we", "they", "who")
_AMBIGUOUS = {
    "like": ("i", "we", "you", "they", "would", "i'd", "really", "do", "to", "don't", "also"),
    "do": (*_SUBJECTS, "to"),
    "have": (*_SUBJECTS, "to", "don't", "didn't"),
    "has": _SUBJECTS,
    "had": _SUBJECTS,
    "will": ("the", "a", "my", "his", "her", "free", "good"),
    "can": ("a", "the", "of", "tin", "beer"),
    "may": ("in", "of", "on", "since", "last", "next", "this", "by", "until"),
    "her": (),
    "his": (),
    "up": (),
}
"""Ambiguous words, and the words after which they are content: "I like", "in May"."""
_ASKING = frozenset("when where who which whose whom what's how's".split())
_PRONOUNS = frozenset(
    "i i'm i've i'd i'll my you you're you've you'd you'll your he he's she she's we we're we've"
    " we'd we'll our they they're they've they'd their them him me us her his".split()
)


class English(TaggingAnalyser):
    """Articles, prepositions, conjunctions, auxiliaries, pronouns and fillers are grammar.

    Pronouns are dropped too, because each line of a memo begins with its speaker. Question words
    at the start of a sentence, negation, numbers and capitalised words inside a sentence are kept.
    """

    def tag(self, text: str) -> Iterable[TaggedSpan]:
        """A word's tag is the word before it in lower case, or `^` at the start of a sentence."""
        before = "^"
        for match in _WORD.finditer(text):
            last = match.end()
            if (
                match.group().endswith(".")
                and len(match.group()) > 1
                and not _is_abbreviation(match.group())
            ):
                last -= 1
            yield TaggedSpan(first=match.start(), last=last, tag=before)
            word = text[match.start() : last]
            after = text[last : last + 1]
            before = "^" if word in ".!?" or (after in (".", "!", "?")) else word.lower()

    def role(self, word: str, tag: str) -> Role:
        """By the list, and by the word before it if it is ambiguous."""
        plain = word.lower().replace("’", "'").rstrip(".")
        if plain in _NEGATION or plain.endswith("n't") or any(c.isdigit() for c in word):
            return Role.FIXED
        if plain in _AMBIGUOUS:
            is_content = tag in _AMBIGUOUS[plain] or (plain == "may" and word[0].isupper())
            return Role.CONTENT if is_content else Role.FUNCTION
        if plain in _ASKING and tag == "^":
            return Role.CONTENT
        if plain in _FUNCTION:
            is_name = word[:1].isupper() and tag != "^" and plain not in _PRONOUNS
            return Role.FIXED if is_name else Role.FUNCTION
        if word[:1].isupper() and tag != "^":
            return Role.FIXED
        return Role.CONTENT


def _is_abbreviation(word: str) -> bool:
    return (
        re.fullmatch(r"(?:[A-Z]|Mr|Mrs|Ms|Dr|St|Prof|a\.m|p\.m|e\.g|i\.e|etc)\.", word) is not None
    )
