"""The facts of a talk, checked: in the third person, each with the line that states it.

Training answers are checked like a model's answer: a fact that its speaker's own words do not
support is left out. If a source does not guarantee that its list of facts is complete, sentences
that state more are cut from the talk: a short list under the full talk would teach the model to
leave things out.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from omoide.claims import NotedFact, read_facts, speaker_lines
from omoide.domain import Speaker, Turn
from omoide.errors import BadReply
from omoide.language import split_sentences
from omoide.mechanisms import Line, lines
from omoide.mechanisms.summary import MAX_FACTS, SmallForm
from omoide_tune.examples import Example
from omoide_tune.lessons import is_supported
from omoide_tune.own import cues
from omoide_tune.stem_cache import stems
from omoide_tune.third_person import clauses, durable, predicate, recased

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from omoide.ports import Message
    from omoide_tune.own import RecallCue
    from omoide_tune.talk import TrainingTalk

FORM = SmallForm()
MIN_FACT_SHARE = 0.6
"""For a talk used uncut, the minimum share of a speaker's listed facts that must be supported."""
START = datetime(2025, 3, 1, 9, 0, tzinfo=UTC)
"""Time of a talk's first line, where a prompt or a guard needs one."""


@dataclass(kw_only=True)
class DataTally:
    """Counts of what was made from the data."""

    talks: int = 0
    facts: Counter[str] = field(default_factory=Counter)
    """`kept`, `taught` by a model, `not turned` into the third person, `not supported`,
    `repeated`."""
    taught: Counter[str] = field(default_factory=Counter)
    """Facts that a model found beyond those listed, by the model's name."""
    examples: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """By source, task and language."""
    refused: Counter[str] = field(default_factory=Counter)
    """By task: examples that the product's own guards rejected."""

    def counted(self, examples: Iterable[Example]) -> Iterable[Example]:
        """The same examples, each counted as it is yielded."""
        for example in examples:
            self.examples[example.source, example.task, example.language] += 1
            yield example


@dataclass(frozen=True, kw_only=True)
class CheckedTalk:
    """A stretch of dialogue and the facts in it."""

    source: str
    key: str
    """The talk, or its chain of talks: it must not be in both training and held-out data."""
    language: str
    lines: tuple[Line, ...]
    facts: tuple[tuple[int, NotedFact], ...]
    """Each with the index of the line that states it."""
    chain: str = ""
    """The chain of talks that it belongs to, if any."""
    judged: bool
    """Whether the talk is annotated: if not, there may be facts beyond those listed."""
    changed: tuple[tuple[NotedFact, NotedFact], ...] = ()
    """Facts known from an earlier talk, each with the fact that replaces it."""
    topic: str = ""
    summary: str = ""
    later: tuple[str, ...] = ()
    """What the user might say about it later, if its author wrote that."""
    assisted: bool = False
    """Whether the other speaker replies as an assistant should."""
    complete: bool = False
    """Whether the list of facts is known to be complete."""
    hard: tuple[str, ...] = ()
    """What makes it a hard case."""
    cues: tuple[RecallCue, ...] = ()
    """Points of the whole talk that call for something remembered, if its author marked them."""
    partial: frozenset[Speaker] = frozenset()
    """Speakers for whom the talk lists many more facts than are here: training on these with the
    full talk would teach the model to leave things out."""

    def of(self, *speakers: Speaker) -> list[NotedFact]:
        """The facts about these speakers, or about all, in order of appearance."""
        wanted = speakers or tuple(Speaker)
        return [fact for who in wanted for _, fact in self.facts if fact.about is who]

    def part(self, first: int, last: int) -> CheckedTalk:
        """Lines `first` up to, but not including, `last`, with their facts."""
        return replace(
            self,
            lines=self.lines[first:last],
            facts=tuple((i - first, fact) for i, fact in self.facts if first <= i < last),
        )

    def then(self, other: CheckedTalk) -> CheckedTalk:
        """This stretch followed by the other, as one."""
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
        """The lines as turns, for the guards."""
        return turns(self.lines, self.language)

    @property
    def shown(self) -> list[Line]:
        """The lines as a prompt shows them."""
        return lines(self.turns)

    def example(self, task: str, messages: tuple[Message, ...], answer: str, *hard: str) -> Example:
        """An example from it; `hard` adds reasons why it is a hard case."""
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


def told(talk: TrainingTalk, source: str, tally: DataTally) -> CheckedTalk:
    """The talk with its checked facts, without sentences whose facts are not known."""
    facts = {speaker: supported(talk, speaker, tally) for speaker in Speaker}
    kept = talk.lines
    if not talk.complete:
        kept = trimmed(talk.lines, facts, talk.language)
        facts = {who: [f for f in facts[who] if _stands(f, kept, talk.language)] for who in Speaker}
    listed = Counter(who for who, _ in talk.stated)
    changed = tuple(
        (_stripped(speaker, old), _stripped(speaker, new)) for speaker, old, new in talk.changed
    )
    return CheckedTalk(
        source=source,
        key=talk.chain or talk.key,
        language=talk.language,
        lines=kept,
        facts=tuple(
            (line_of_fact(fact, kept), fact) for speaker in Speaker for fact in facts[speaker]
        ),
        chain=talk.chain,
        judged=bool(talk.stated or talk.known or talk.taught or talk.complete),
        changed=tuple((old, new) for old, new in changed if new in facts[new.about]),
        topic=talk.topic,
        summary=talk.summary,
        later=talk.later,
        assisted=talk.assisted,
        complete=talk.complete
        and sum(map(len, facts.values())) >= len({*talk.known, *talk.stated}),
        cues=cues(talk),
        partial=frozenset(
            who
            for who in Speaker
            if talk.complete and len(facts[who]) < MIN_FACT_SHARE * listed[who]
        ),
    )


def _stands(fact: NotedFact, said: Sequence[Line], language: str) -> bool:
    """Whether the remaining lines of a talk still state the fact."""
    own = speaker_lines(said, fact.about, language)
    mine = [line for line in said if line.speaker is fact.about]
    return (
        bool(own)
        and keeps_fact(fact, [Line(speaker=fact.about, text=own)], language)
        and (_said_at_once(fact, mine, language))
    )


def supported(talk: TrainingTalk, speaker: Speaker, tally: DataTally) -> list[NotedFact]:
    """The speaker's supported facts about themselves, in order of appearance."""
    own = speaker_lines(talk.lines, speaker, talk.language)
    said = [line for line in talk.lines if line.speaker is speaker]
    session = [Line(speaker=speaker, text=own)]
    found: dict[str, NotedFact] = {}
    for text in _texts(talk, speaker, own):
        if not text or not noted(text):
            tally.facts["not turned"] += 1
            continue
        fact = NotedFact(about=speaker, text=text)
        if not own or not keeps_fact(fact, session, talk.language):
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
        fact = NotedFact(about=speaker, text=text)
        if not noted(text) or not is_supported(fact, talk.lines, talk.language):
            tally.facts["not supported"] += 1
        elif any(_overlap(text, other) for other in found):
            tally.facts["repeated"] += 1  # the listed fact keeps its wording
        elif keeps_fact(fact, session, talk.language):
            tally.facts["taught"] += 1
            tally.taught[by] += 1
            found[text] = fact
        else:
            tally.facts["not supported"] += 1
    return sorted(found.values(), key=lambda fact: line_of_fact(fact, said))[:MAX_FACTS]


def _taught(talk: TrainingTalk, speaker: Speaker) -> list[tuple[str, str]]:
    """Predicates that a model found, each with the model's name."""
    return [
        (fact.text, one.model)
        for one in talk.taught
        for fact in read_facts(one.sentence, talk.language)
        if one.speaker is speaker is fact.about
    ]


def _overlap(one: str, other: str) -> bool:
    """Whether two facts mostly say the same."""
    mine, theirs = stems(one), stems(other)
    return len(mine & theirs) > 0.5 * min(len(mine), len(theirs))


_QUALIFIERS = frozenset(
    "only never always currently long every no not without most all best favorite".split()
)


def _said_at_once(fact: NotedFact, said: Sequence[Line], language: str) -> bool:
    """Whether a single line has most of what an English fact says: a listed fact whose words are
    scattered over several lines may never have been stated."""
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
    """Whether the facts found so far together say nearly all of it."""
    wanted = stems(text)
    near = [
        stems(other) for other in found if len(wanted & stems(other)) >= 0.5 * len(stems(other))
    ]
    known_stems = frozenset[str]().union(*near)
    return len(wanted & known_stems) > 0.6 * len(wanted)


def line_of_fact(fact: NotedFact, said: Sequence[Line]) -> int:
    """The line of the fact's speaker that has most of its words."""
    wanted = stems(fact.text)
    shares = {
        i: len(wanted & stems(line.text))
        for i, line in enumerate(said)
        if line.speaker is fact.about
    }
    return max(shares, key=lambda i: (shares[i], -i), default=0)


def trimmed(
    said: Sequence[Line], facts: dict[Speaker, list[NotedFact]], language: str
) -> tuple[Line, ...]:
    """The talk without sentences about their speakers that no fact covers."""
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


_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|i'd|my|we|we're|we've|our)\b|我", re.IGNORECASE)
_ASKS = re.compile(r"[?？]\s*$")


def _tells(sentence: str, language: str) -> bool:
    """Whether a sentence may be about its speaker. In languages that omit subjects, any sentence
    except a question may."""
    if language in ("en", "zh"):
        return bool(_FIRST_PERSON.search(sentence))
    return not _ASKS.search(sentence)


_FILLING = frozenset(
    "i i'm my me we our you your yes yeah well now really so too actu just gues thin know it's "
    "that's m ve s d re ll t".split()
)
MORE = 5
"""Words not covered by its facts beyond which a sentence counts as saying more than they do."""


def keeps_fact(fact: NotedFact, session: Sequence[Line], language: str) -> bool:
    """Whether the small form would keep the fact if a model had written it."""
    try:
        reading = FORM.read(
            [fact.sentence(language)], old=(), session=session, language=language, limit=20
        )
    except BadReply:
        return False
    return not reading.notes


def _texts(talk: TrainingTalk, speaker: Speaker, own: str) -> list[str]:
    """Predicates: known ones, listed ones rewritten, and, in English, the speaker's own sentences
    rewritten if a rule is sure that they state something lasting."""
    known = [_stripped(who, text).text for who, text in talk.known if who is speaker]
    listed = [
        predicate(part, talk.language)
        for who, text in talk.stated
        if who is speaker
        for part in (clauses(text) if talk.language == "en" else [text])
    ]
    if talk.language == "en":
        listed = [_recased(text, own) for text in listed]
        if not talk.complete and (talk.stated or talk.known):
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


def _stripped(speaker: Speaker, text: str) -> NotedFact:
    return NotedFact(about=speaker, text=text.strip(" .。．"))


def noted(text: str) -> bool:
    """Whether the notes grammar allows the text."""
    return 4 <= len(text) <= 150 and not re.search(r"[\n\r\t?!:;\"“”„«»「」『』？！：；؟]", text)
