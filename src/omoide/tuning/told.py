"""What a talk tells, checked: facts in the third person, each at the line that tells it.

What is to be learnt is checked as an answer of a model would be: a fact that its speaker's own
words do not support is left out. Where nobody vouches that the facts are all there are, sentences
that tell more are cut from the talk: to learn from a short list under the whole of it would be to
learn to leave things out.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from omoide.domain import Speaker, Turn
from omoide.errors import BadReply
from omoide.language import split_sentences
from omoide.memory.summary.facts import Fact, read_facts
from omoide.memory.summary.small_form import MOST, SmallForm, own_words
from omoide.memory.transcript import Line, lines
from omoide.tuning.examples import Example
from omoide.tuning.own import cues
from omoide.tuning.persons import clauses, durable, predicate, recased
from omoide.tuning.stems import stems
from omoide.tuning.taught import borne_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from omoide.ports import Message
    from omoide.tuning.own import Cue
    from omoide.tuning.talk import Talk

FORM = SmallForm()
LEAST = 0.6
"""Share of what is listed of a speaker that must be among the facts of a talk taken whole."""
START = datetime(2025, 3, 1, 9, 0, tzinfo=UTC)
"""When the first line of a talk is said, where a prompt or a guard wants a time."""


@dataclass(kw_only=True)
class Tally:
    """What became of the data."""

    talks: int = 0
    facts: Counter[str] = field(default_factory=Counter)
    """`kept`, `taught` by a model, `not turned` into the third person, `not supported`,
    `repeated`."""
    taught: Counter[str] = field(default_factory=Counter)
    """Facts that a model found beside those listed, by its name."""
    examples: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """By source, task and language."""
    refused: Counter[str] = field(default_factory=Counter)
    """By task: what the product's own guards would not have let through."""

    def counted(self, examples: Iterable[Example]) -> Iterable[Example]:
        """The same examples, each of them counted as it goes by."""
        for example in examples:
            self.examples[example.source, example.task, example.language] += 1
            yield example


@dataclass(frozen=True, kw_only=True)
class Told:
    """A stretch of dialogue and the facts in it."""

    source: str
    key: str
    """The talk, or the chain of talks: what may not be on both sides."""
    language: str
    lines: tuple[Line, ...]
    facts: tuple[tuple[int, Fact], ...]
    """Each with the index of the line that tells it."""
    chain: str = ""
    """The chain of talks that it is one of, if of any."""
    judged: bool
    """Whether anybody has said what is true here: if not, no facts does not mean none told."""
    changed: tuple[tuple[Fact, Fact], ...] = ()
    """What was known from an earlier talk, and what is so instead."""
    topic: str = ""
    summary: str = ""
    later: tuple[str, ...] = ()
    """What the user might say of it at another time, where its maker has said."""
    assisted: bool = False
    """Whether what the other says is how an assistant should reply."""
    complete: bool = False
    """Whether the facts are known to be all that is told here."""
    hard: tuple[str, ...] = ()
    """What was made hard about it."""
    cues: tuple[Cue, ...] = ()
    """Moments of the whole talk that call for something remembered, where its maker has said."""
    partial: frozenset[Speaker] = frozenset()
    """Of whom the talk's own list says much more than the facts here do: to learn these from the
    whole talk would be to learn to leave things out."""

    def of(self, *speakers: Speaker) -> list[Fact]:
        """The facts about these speakers, or about all, in the order they come up."""
        wanted = speakers or tuple(Speaker)
        return [fact for who in wanted for _, fact in self.facts if fact.about is who]

    def part(self, first: int, last: int) -> Told:
        """Lines `first` up to, but not including, `last`, and what they tell."""
        return replace(
            self,
            lines=self.lines[first:last],
            facts=tuple((i - first, fact) for i, fact in self.facts if first <= i < last),
        )

    def then(self, other: Told) -> Told:
        """This stretch and the other as one."""
        size = len(self.lines)
        return replace(
            self,
            lines=(*self.lines, *other.lines),
            facts=(*self.facts, *((i + size, fact) for i, fact in other.facts)),
            changed=(*self.changed, *other.changed),
            partial=self.partial | other.partial,
            topic="",
            summary="",
            later=(),
            complete=self.complete and other.complete,
        )

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The lines as turns, as the guards want them."""
        return turns(self.lines, self.language)

    @property
    def shown(self) -> list[Line]:
        """The lines as a prompt shows them."""
        return lines(self.turns)

    def example(self, task: str, messages: tuple[Message, ...], answer: str, *hard: str) -> Example:
        """An example of it; `hard` says what makes it one, beside what it had before."""
        return Example(
            task=task,
            language=self.language,
            source=self.source,
            key=self.key,
            messages=messages,
            answer=answer,
            hard=" ".join(dict.fromkeys((*self.hard, *(kind for kind in hard if kind)))),
        )


def turns(said: Sequence[Line], language: str) -> tuple[Turn, ...]:
    """The lines as turns of one session."""
    return tuple(
        Turn(
            id=f"t{number}",
            session=1,
            position=number,
            speaker=line.speaker,
            text=line.text,
            time=START + timedelta(minutes=number),
            language=language,
        )
        for number, line in enumerate(said, start=1)
    )


def told(talk: Talk, source: str, tally: Tally) -> Told:
    """What the talk tells, and the talk without what nobody vouches for."""
    facts = {speaker: supported(talk, speaker, tally) for speaker in Speaker}
    kept = talk.lines
    if not talk.complete:
        kept = trimmed(talk.lines, facts, talk.language)
        facts = {who: [f for f in facts[who] if _stands(f, kept, talk.language)] for who in Speaker}
    listed = Counter(who for who, _ in talk.told)
    changed = tuple(
        (_stripped(speaker, old), _stripped(speaker, new)) for speaker, old, new in talk.changed
    )
    return Told(
        source=source,
        key=talk.chain or talk.key,
        language=talk.language,
        lines=kept,
        facts=tuple((place(fact, kept), fact) for speaker in Speaker for fact in facts[speaker]),
        chain=talk.chain,
        judged=bool(talk.told or talk.known or talk.taught or talk.complete),
        changed=tuple((old, new) for old, new in changed if new in facts[new.about]),
        topic=talk.topic,
        summary=talk.summary,
        later=talk.later,
        assisted=talk.assisted,
        complete=talk.complete and sum(map(len, facts.values())) >= len({*talk.known, *talk.told}),
        cues=cues(talk),
        partial=frozenset(
            who for who in Speaker if talk.complete and len(facts[who]) < LEAST * listed[who]
        ),
    )


def _stands(fact: Fact, said: Sequence[Line], language: str) -> bool:
    """Whether what is left of a talk still tells the fact."""
    own = own_words(said, fact.about, language)
    mine = [line for line in said if line.speaker is fact.about]
    return (
        bool(own)
        and holds(fact, [Line(speaker=fact.about, text=own)], language)
        and (_said_at_once(fact, mine, language))
    )


def supported(talk: Talk, speaker: Speaker, tally: Tally) -> list[Fact]:
    """What the speaker says of themselves that is true of them, in the order it comes up."""
    own = own_words(talk.lines, speaker, talk.language)
    said = [line for line in talk.lines if line.speaker is speaker]
    session = [Line(speaker=speaker, text=own)]
    found: dict[str, Fact] = {}
    for text in _texts(talk, speaker, own):
        if not text or not noted(text):
            tally.facts["not turned"] += 1
            continue
        fact = Fact(about=speaker, text=text)
        if not own or not holds(fact, session, talk.language):
            tally.facts["not supported"] += 1
            continue
        if not talk.complete and not _said_at_once(fact, said, talk.language):
            tally.facts["not supported"] += 1
            continue
        if text in found or (not talk.complete and _repeats(text, found)):
            tally.facts["repeated"] += 1
            continue
        tally.facts["kept"] += 1
        if not talk.complete:
            wanted = stems(text)
            found = {o: f for o, f in found.items() if len(wanted & stems(o)) < 0.7 * len(stems(o))}
        found[text] = fact
    for text, by in _taught(talk, speaker):
        fact = Fact(about=speaker, text=text)
        if not noted(text) or not borne_out(fact, talk.lines, talk.language):
            tally.facts["not supported"] += 1
        elif any(_overlap(text, other) for other in found):
            tally.facts["repeated"] += 1  # what was listed keeps its wording
        elif holds(fact, session, talk.language):
            tally.facts["taught"] += 1
            tally.taught[by] += 1
            found[text] = fact
        else:
            tally.facts["not supported"] += 1
    return sorted(found.values(), key=lambda fact: place(fact, said))[:MOST]


def _taught(talk: Talk, speaker: Speaker) -> list[tuple[str, str]]:
    """Predicates that a model found, each with the model's name."""
    return [
        (fact.text, one.model)
        for one in talk.taught
        for fact in read_facts(one.sentence, talk.language)
        if one.speaker is speaker is fact.about
    ]


def _overlap(one: str, other: str) -> bool:
    """Whether two facts say for the most part the same."""
    mine, theirs = stems(one), stems(other)
    return len(mine & theirs) > 0.5 * min(len(mine), len(theirs))


_QUALIFIERS = frozenset(
    "only never always currently long every no not without most all best favorite".split()
)


def _said_at_once(fact: Fact, said: Sequence[Line], language: str) -> bool:
    """Whether one line has most of what an English fact says: out of words of different lines a
    list's fact can be put together that nobody told."""
    if language != "en":
        return True
    wanted = stems(fact.text)
    words = set(re.findall(r"[\w']+", fact.text.lower()))
    for line in said:
        heard = set(re.findall(r"[\w']+", line.text.lower()))
        enough = len(wanted & stems(line.text)) >= 0.75 * len(wanted)
        if enough and words & _QUALIFIERS <= heard | {"not"} and (len(wanted) > 1 or words & heard):
            return True
    return False


def _repeats(text: str, found: Iterable[str]) -> bool:
    """Whether those found already say nearly all of it together."""
    wanted = stems(text)
    near = [
        stems(other) for other in found if len(wanted & stems(other)) >= 0.5 * len(stems(other))
    ]
    told = frozenset[str]().union(*near)
    return len(wanted & told) > 0.6 * len(wanted)


def place(fact: Fact, said: Sequence[Line]) -> int:
    """The line of the fact's speaker that has most of its words."""
    wanted = stems(fact.text)
    shares = {
        i: len(wanted & stems(line.text))
        for i, line in enumerate(said)
        if line.speaker is fact.about
    }
    return max(shares, key=lambda i: (shares[i], -i), default=0)


def trimmed(
    said: Sequence[Line], facts: dict[Speaker, list[Fact]], language: str
) -> tuple[Line, ...]:
    """The talk without sentences in which a speaker tells of themselves what no fact holds."""
    known = {who: [stems(fact.text) for fact in facts[who]] for who in Speaker}
    if not any(known.values()):
        return tuple(said)
    few, least = (3, 0.6) if language in ("en", "zh") else (2, 0.8)
    kept = []
    for line in said:
        sentences = [
            sentence
            for sentence in split_sentences(line.text)
            if not _tells(sentence, language)
            or len(heard := stems(sentence)) < few
            or (
                any(len(heard & fact) >= least * len(fact) for fact in known[line.speaker])
                and len(heard.difference(_FILLING, *known[line.speaker])) <= MORE
            )
        ]
        if sentences:
            join = "" if language in ("zh", "ja") else " "
            kept.append(replace(line, text=join.join(sentences)))
    return tuple(kept)


_TELLS = re.compile(r"\b(?:i|i'm|i've|i'd|my|we|we're|we've|our)\b|我", re.IGNORECASE)
_ASKS = re.compile(r"[?？]\s*$")


def _tells(sentence: str, language: str) -> bool:
    """Whether a sentence may be about its speaker; where subjects are left out, any but a
    question may."""
    if language in ("en", "zh"):
        return bool(_TELLS.search(sentence))
    return not _ASKS.search(sentence)


_FILLING = frozenset(
    "i i'm my me we our you your yes yeah well now really so too actu just gues thin know it's "
    "that's m ve s d re ll t".split()
)
MORE = 5
"""Words beside its facts after which a sentence tells more than they do."""


def holds(fact: Fact, session: Sequence[Line], language: str) -> bool:
    """Whether the small form would keep the fact, were it a model's."""
    try:
        reading = FORM.read(
            [fact.sentence(language)], old=(), session=session, language=language, limit=20
        )
    except BadReply:
        return False
    return not reading.notes


def _texts(talk: Talk, speaker: Speaker, own: str) -> list[str]:
    """Predicates: as they are known, turned from what the data lists, and, in English, turned
    from the speaker's own sentences where a rule is sure that they tell something lasting."""
    known = [_stripped(who, text).text for who, text in talk.known if who is speaker]
    listed = [
        predicate(part, talk.language)
        for who, text in talk.told
        if who is speaker
        for part in (clauses(text) if talk.language == "en" else [text])
    ]
    if talk.language == "en":
        listed = [_recased(text, own) for text in listed]
        if not talk.complete and (talk.told or talk.known):
            listed += [
                made
                for line in own.splitlines()
                for sentence in split_sentences(line[2:])
                if (made := durable(sentence))
            ]
    return [*known, *listed]


def _recased(text: str, own: str) -> str:
    first = text.split(" ", 1)[0]
    return first + recased(text, own)[len(first) :]


def _stripped(speaker: Speaker, text: str) -> Fact:
    return Fact(about=speaker, text=text.strip(" .。．"))


def noted(text: str) -> bool:
    """Whether the grammar of the notes lets the text pass."""
    return 4 <= len(text) <= 150 and not re.search(r"[\n\r\t?!:;\"“”„«»「」『』？！：；؟]", text)
