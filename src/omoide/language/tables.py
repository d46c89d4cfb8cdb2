"""The tables of a language pack: one frozen dataclass for each table of `language.toml`.

Fields with a default may be left out of a pack; the rule that would use them is then inactive for
that language. A pattern that is left out matches nothing. docs/languages.md explains how to write
a pack.
"""

from __future__ import annotations

import re
from collections.abc import Mapping  # noqa: TC003 - read at run time by `reading`
from dataclasses import dataclass, field

NEVER = re.compile(r"(?!)")
"""Matches nothing."""
CASE = {"case": True}
"""Marks a case-sensitive pattern."""
_GROUP = re.compile(r"\(\?P<([a-z]+)>")


def with_numbered_groups(patterns: list[str]) -> list[str]:
    """The patterns with their number in each group's name, so that one pattern can hold all."""
    return [_GROUP.sub(rf"(?P<\g<1>{i}>", text) for i, text in enumerate(patterns)]


@dataclass(frozen=True, kw_only=True)
class Ending:
    """An ending and its replacement."""

    pattern: re.Pattern[str]
    instead: str


@dataclass(frozen=True, kw_only=True)
class Detection:
    """How to detect the language."""

    letters: re.Pattern[str]
    """One letter of its script."""
    script: str
    """The name of the script. `own` distinguishes languages of the same script."""
    weight: float = 1.0
    """Weight of a letter against those of other scripts: a Latin word has many letters, a Chinese
    one has one or two."""
    density: int = 1
    """How much more a character says than one of English."""
    own: re.Pattern[str] = NEVER
    """Letters or words that other languages of the script do not use. The pack without this
    pattern gets every text that no other matches."""
    own_share: float = 0.0
    """Minimum number of matches of `own` per letter."""
    own_share_of_one: float = 0.0
    """The same if there is only one match; 0 for the same minimum."""
    absorbs: float = 0.0
    """Lines without a match of `own` count as this language if the dialogue has at least one
    `absorbs`-th as much text of it; 0 for never."""


@dataclass(frozen=True, kw_only=True)
class Person:
    """How a speaker refers to themselves and to the other."""

    first: re.Pattern[str]
    second: re.Pattern[str] = NEVER
    polite: re.Pattern[str] = NEVER
    """Words of address or respect for the other in talk, which elsewhere may mean anyone."""
    reflexive: re.Pattern[str] = NEVER
    """First-person words that mean the subject of a note, as in "of one's own"."""
    dropped: bool = False
    """Whether the subject is mostly left out, so that its absence means nothing."""


@dataclass(frozen=True, kw_only=True)
class Words:
    """Word lists, by how much the words say."""

    stop: frozenset[str] = frozenset()
    """Ignored in queries and when texts are compared word by word."""
    light: frozenset[str] = frozenset()
    """Words that do not say what an event is about."""
    plain: frozenset[str] = frozenset()
    """Ignored when two notes are compared."""
    bounded: bool = True
    """Whether words are separated by spaces and have few endings."""
    unspaced: str = ""
    """Character ranges (as in a regular expression's character class) that are written without
    spaces and so indexed by bigrams. Chinese, Japanese and Korean always are."""
    short_forms: tuple[str, ...] = ()
    """Abbreviations: a full stop after them does not end a sentence."""


@dataclass(frozen=True, kw_only=True)
class Note:
    """How a note about a speaker is written."""

    user: str
    """How a sentence about the user begins, including a following space if there is one."""
    assistant: str
    possessive: str = ""
    """How a sentence about what is a speaker's goes on after their name: "User's sister …". Empty
    if it begins like every other sentence, or with what they have."""
    possessed: str = ""
    """Words within a sentence that make what it begins with the user's: "Con gái của người dùng"
    (the user's daughter)."""
    stop: str = "."
    join: str = "; "
    """Separator of facts that share a sentence."""
    comma: str = ", "
    colon: str = ": "
    support: float = 0.6
    """Share of a note's content that its speaker must have said."""
    brief: int = 2
    """Maximum number of content terms of a message that counts as small talk."""
    by_sentence: bool = False
    """Whether a single sentence of a turn must support a note, since subjects are not dropped."""
    topic_max_chars: int = 80
    """Maximum number of characters of a memo's topic."""
    memo_max_chars: int = 400
    """Maximum number of characters of a memo's summary."""
    first_letter: str = r"[^ \n]"
    """What a note may begin with, in GBNF."""
    banned: str = ""
    """Characters that may not occur in a note, such as first-person pronouns."""
    unit: str = "[^%s]"
    """One step of a note in GBNF; `%s` stands for the characters that may not occur."""
    last: str = ""
    """How a note ends, in GBNF."""
    event: str = "^.{4,140}$"
    """What an event looks like, as the pattern of a JSON schema."""
    talk: re.Pattern[str] = NEVER
    """Endings of talk that do not belong in a note."""
    about_the_chat: re.Pattern[str] = NEVER
    """Sentences about what happened in the chat, instead of facts."""
    boilerplate: re.Pattern[str] = NEVER
    """What every assistant says about itself."""
    commitment: re.Pattern[str] = NEVER
    """What an assistant promises or advises."""
    wish: re.Pattern[str] = field(default=NEVER, metadata=CASE)
    """Words after which a statement is not true, not yet, or no longer."""
    states: re.Pattern[str] = field(default=NEVER, metadata=CASE)
    """How a note that states a fact begins."""
    open: re.Pattern[str] = field(default=NEVER, metadata=CASE)
    """Words that leave a note's fact open, or apply it to somebody else."""
    clause: re.Pattern[str] = NEVER
    """Where a wish ends."""

    def subject(self, speaker: str) -> str:
        """How a sentence about the speaker begins."""
        return self.user if speaker == "user" else self.assistant


@dataclass(frozen=True, kw_only=True)
class LifeTopic:
    """A part of life that people ask about by its name and tell of in other words: "Where do I
    live?", "I moved to Bergen"."""

    asked: tuple[str, ...]
    """Words and phrases by which a question names it."""
    told: tuple[str, ...]
    """Single words by which people tell of it; of Chinese, Japanese and Korean at most two
    characters, as they are indexed."""


@dataclass(frozen=True, kw_only=True)
class Questions:
    """How people ask."""

    asks: re.Pattern[str] = re.compile(r"[?？]")
    wants_time: re.Pattern[str] = NEVER
    help: re.Pattern[str] = NEVER
    """Asks for advice or help, or about the person asked."""
    courtesy: re.Pattern[str] = NEVER
    """"Do you remember", "Can you": a request, which asks nothing about the other's life."""
    after_replies: re.Pattern[str] = NEVER
    """Asks what the other said, advised or promised."""
    past: re.Pattern[str] = NEVER
    """Asks how things were: before, back then, in the past tense."""
    between: re.Pattern[str] = NEVER
    """Separates the words of a question that is written without spaces."""
    lone: re.Pattern[str] = NEVER
    """A word of one character, as group 1."""
    empty: frozenset[str] = frozenset()
    """Characters that say little on their own."""
    topics: Mapping[str, LifeTopic] = field(default_factory=dict)
    """The parts of life that people ask about most."""


@dataclass(frozen=True, kw_only=True)
class Replies:
    """How people greet, and what a small model's reply must not say (`mechanisms.reply_checks`)."""

    greeting: re.Pattern[str] = NEVER
    """How somebody greets who comes back."""
    denies: re.Pattern[str] = NEVER
    """Claims not to know something, or not to have been told it."""
    asks_name: re.Pattern[str] = NEVER
    """A question for a name."""
    gives_name: re.Pattern[str] = NEVER
    """A message that says what somebody or something is called."""
    together: re.Pattern[str] = field(default=NEVER, metadata=CASE)
    """The speaker together with somebody ("Lars and I"), whose name is a group."""


@dataclass(frozen=True, kw_only=True)
class Names:
    """How names are given and mentioned, and how a note states one. Case-sensitive."""

    told: re.Pattern[str] = field(default=NEVER, metadata=CASE)
    """Words that announce a name ("my name is"), with the name as a group."""
    stated: re.Pattern[str] = field(default=NEVER, metadata=CASE)
    """Words that say who or what one is ("I'm"), with the name as a group."""
    greeting: re.Pattern[str] = field(default=NEVER, metadata=CASE)
    """Greetings; if a pack has them, `stated` counts only after one or in the first turn."""
    mentioned: re.Pattern[str] = field(default=NEVER, metadata=CASE)
    """What looks like the name of somebody who is spoken of, as the group `name`."""
    denied: re.Pattern[str] = NEVER
    """Words before a name that deny it."""
    asked: re.Pattern[str] = NEVER
    """How a sentence that asks for a name ends."""
    words: frozenset[str] = frozenset()
    """Words that are not names after `stated`."""
    never: frozenset[str] = frozenset()
    """Words that are never names."""
    endings: tuple[str, ...] = ()
    """Endings of jobs, nationalities and states."""
    lead: re.Pattern[str] = NEVER
    """The start of a sentence about the user, before its predicate."""
    noted: re.Pattern[str] = field(default=NEVER, metadata=CASE)
    """How a note states a name, as its only filled group."""
    unsure: re.Pattern[str] = field(default=NEVER, metadata=CASE)
    """Notes that match `noted` but may mean something else."""
    copula: str = ""
    """How a note says that the user is somebody (`{}`)."""
    later: bool = False
    """Whether a later clause without a subject states the user's name ("has a cat and is called
    Ana"). Elsewhere it may be the name of the cat."""


@dataclass(frozen=True, kw_only=True)
class Clauses:
    """How clauses are split, and how spoken endings are replaced."""

    chain: re.Pattern[str] = NEVER
    """Where a new clause of a chain begins."""
    join: str = " "
    """Separator of a clause and a short one after it."""
    listed: re.Pattern[str] = NEVER
    """Separator of the clauses of a note."""
    spoken: tuple[Ending, ...] = ()
    """Endings in talk, and their written form."""
    unfinished: tuple[Ending, ...] = ()
    """Endings of a clause that another follows, and their form if none does."""


@dataclass(frozen=True, kw_only=True)
class Dates:
    """How days are named; used by `omoide.language.times`."""

    patterns: tuple[re.Pattern[str], ...] = ()
    """Tried in order. Groups: y, m and d (a date), season, n and unit (how long ago), way and
    period (last week), weekday."""
    months: tuple[str, ...] = ()
    """Twelve strings, each with the names of a month."""
    seasons: Mapping[str, int] = field(default_factory=dict)
    """The first month of each season."""
    counts: Mapping[str, int] = field(default_factory=dict)
    vague: Mapping[str, int] = field(default_factory=dict)
    """Approximate counts, which may be off by half."""
    units: Mapping[str, int] = field(default_factory=dict)
    """Number of days in each unit."""
    directions: Mapping[str, int] = field(default_factory=dict)
    """-1 for last, 0 for this, 1 for next."""
    near: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """First and last day of words such as "yesterday", relative to the day they were said."""
    not_months: frozenset[str] = frozenset()
    """Months that mean something else in lower case."""
    dated: re.Pattern[str] = NEVER
    """Index terms that express a time."""


@dataclass(frozen=True, kw_only=True)
class Ago:
    """How to say when something was. `{n}` is a number, `{day}` a day of the week, `{part}` a
    part of the day."""

    weekdays: tuple[str, ...]
    called: tuple[str, ...] = ()
    """Other names of the weekdays: seven strings of words."""
    parts: tuple[str, ...]
    """The parts of a day: night, morning, afternoon, evening."""
    numbers: tuple[str, ...] = ()
    """Words for the numbers from zero on."""
    just_now: str
    minutes: str
    hours: str
    today: str
    yesterday: str
    days: str
    weeks: str
    months: str
    years: str
    one: Mapping[str, str] = field(default_factory=dict)
    """Singular forms of the units, if the language has them."""
    now: str


@dataclass(frozen=True, kw_only=True)
class Slot:
    """A part of life of which a person has one at a time."""

    talk: re.Pattern[str]
    """Words about that part of life."""
    changed: re.Pattern[str]
    """Its words for a change: moved, quit, divorced."""
    held: re.Pattern[str] = NEVER
    """How a note states the current one: works as, works at."""
    told: re.Pattern[str] = NEVER
    """How people say in talk that it has changed; used if both notes match `held`."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """How people say that something has changed."""

    slots: Mapping[str, Slot] = field(default_factory=dict)
    left: re.Pattern[str] = NEVER
    """Changes that end something rather than begin it: quit, divorced, graduated."""
    states: re.Pattern[str] = NEVER
    """Mutually exclusive states, such as single and married; the group `state` if there is one."""
    ended: re.Pattern[str] = NEVER
    """No longer, stopped, gave up."""
    once: re.Pattern[str] = NEVER
    """A single occasion: today, this time, next Thursday."""
    planned: re.Pattern[str] = NEVER
    """Not yet true: plans, wishes, maybe."""
    lasting: re.Pattern[str] = NEVER
    """From now on, every week, for good."""
    place: re.Pattern[str] = NEVER
    """Where someone lives, as the group `where`."""
    whereabouts: re.Pattern[str] = NEVER
    """Where someone was or goes, as the group `where`."""
    relative: re.Pattern[str] = NEVER
    """How a sentence about a relative of the user begins, as the group `kin`."""
    company: re.Pattern[str] = NEVER
    """A home and who shares it: the groups are what stays true after a move."""


@dataclass(frozen=True, kw_only=True)
class Feeling:
    """Words of emotion."""

    strong: tuple[str, ...] = ()
    mild: tuple[str, ...] = ()
    very: tuple[str, ...] = ()
    loud: re.Pattern[str] = NEVER
    """Marks of excitement that only this language uses, such as written laughter."""


@dataclass(frozen=True, kw_only=True)
class Topics:
    """How to find phrases that may name a topic: matches of `find`, the parts between `between`,
    words without `particle` that do not end in `ending`, or runs of words that are not `dull`."""

    find: re.Pattern[str] | None = None
    between: re.Pattern[str] | None = None
    particle: re.Pattern[str] | None = None
    ending: re.Pattern[str] = NEVER
    dull: frozenset[str] = frozenset()
    comma: str = ", "
