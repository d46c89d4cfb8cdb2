"""Generates chains of meetings from a language's phrases."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.language import LANGUAGES
from omoide.mechanisms import Line
from omoide.mechanisms.summary import MAX_FACTS
from omoide_tune.own import OwnTalk, RecallCue
from omoide_tune.own.phrases import CASED, PhraseFiller, book

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from omoide_tune.own.phrases import FactChange, FactKind, PhraseBook

FULL = 0.4
"""Share of the chains with many facts per meeting."""
CHAINS = 400
"""Chains per language."""
LASTING = 100
"""Additional chains of five to eight meetings with many facts: their memory fills up."""
SEED = 20
USER, FRIEND = Speaker.USER, Speaker.ASSISTANT


def read(folder: Path) -> Iterator[OwnTalk]:
    """Every talk of every language; nothing is read from the folder."""
    del folder
    for language in LANGUAGES:
        yield from in_language(language)


def in_language(language: str) -> Iterator[OwnTalk]:
    """Every talk of one language."""
    return talks(language, lasting=LASTING)


def talks(
    language: str, *, chains: int = CHAINS, lasting: int = 0, seed: int = SEED
) -> Iterator[OwnTalk]:
    """The talks of `chains` chains and `lasting` long ones, the same for the same seed."""
    for number in range(chains):
        yield from _Chain(language, number=number, seed=seed).talks()
    for number in range(chains, chains + lasting):
        yield from _Chain(language, number=number, seed=seed, lasting=True).talks()


@dataclass(kw_only=True, eq=False)
class StatedFact:
    """A fact that a speaker stated, with its values."""

    kind: FactKind
    about: Speaker
    values: dict[str, str]
    fact: str
    meeting: int
    change: FactChange | None = None
    """How it last changed."""
    cued: bool = False


@dataclass(kw_only=True)
class _Meeting:
    """A meeting being generated."""

    lines: list[Line] = field(default_factory=list)
    known: list[tuple[Speaker, str]] = field(default_factory=list)
    changed: list[tuple[Speaker, str, str]] = field(default_factory=list)
    cues: list[RecallCue] = field(default_factory=list)

    def say(self, speaker: Speaker, text: str) -> None:
        if self.lines and self.lines[-1].speaker is speaker:
            last = self.lines.pop().text
            glue = "" if last[-1] in "。！？…" else " "
            text = last + glue + text
        self.lines.append(Line(speaker=speaker, text=text))


class _Chain:
    """Two people, from the first to the last meeting of a chain."""

    def __init__(self, language: str, *, number: int, seed: int, lasting: bool = False) -> None:
        self.book: PhraseBook = book(language)
        self.name = f"{language}/{number}"
        self.dice = random.Random(f"{seed}/{self.name}")  # noqa: S311 - an order, not a secret
        self.pen = PhraseFiller(
            book=self.book,
            dice=self.dice,
            polite=self.dice.random() < 0.4,
            voice=self.dice.choice(self.book.voices),
        )
        self.stated: list[StatedFact] = []
        self.begun: set[tuple[str, Speaker]] = set()
        """Kinds of facts stated so far, and about whom."""
        self.lasting = lasting
        self.full = self.dice.random() < FULL or lasting
        self.seen: set[tuple[str, ...]] = set()
        """Exchanges used in this chain."""

    def talks(self) -> Iterator[OwnTalk]:
        count = self.dice.choice((5, 6, 7, 8) if self.lasting else (2, 3, 3, 4))
        for number in range(count):
            empty = self.dice.random() < 0.1
            meeting = self._meeting(number, empty=empty)
            yield OwnTalk(
                key=f"{self.name}/{number + 1}",
                chain=self.name,
                language=self.book.language,
                lines=tuple(meeting.lines),
                known=tuple(meeting.known),
                changed=tuple(meeting.changed),
                complete=True,
                cues=tuple(meeting.cues),
            )

    def _meeting(self, number: int, *, empty: bool) -> _Meeting:
        meeting = _Meeting()
        if self.dice.random() < 0.7:
            self._exchange(meeting, self.book.open)
        blocks: list[str] = ["small"] * self.dice.randint(0, 1) + ["trap"] * self.dice.randint(0, 2)
        blocks += ["plain"] * (self.dice.random() < 0.5)
        if empty:
            blocks += ["small", "trap"]
        else:
            few, many = (1, 4 if number == 0 else 2) if not self.full else (3, 5 - (number > 0))
            blocks += ["facts"] * self.dice.randint(few, many)
            friend = self.dice.randint(1, 4) if self.full else int(self.dice.random() < 0.4)
            blocks += ["friend"] * friend
        if number:
            blocks += ["cue"] * self.dice.randint(1, 2)
            if not empty:
                blocks += ["change"] * self.dice.choice((0, 1, 1, 2))
        self.dice.shuffle(blocks)
        for block in blocks:
            match block:
                case "facts":
                    self._facts(meeting, number)
                case "friend":
                    self._friend(meeting, number)
                case "change":
                    self._change(meeting, number)
                case "cue":
                    self._cue(meeting, number)
                case "plain":
                    self._plain(meeting)
                case "trap":
                    self._exchange(meeting, self.book.trap)
                case _:
                    self._exchange(meeting, self.book.small)
        if self.dice.random() < 0.6 or not meeting.lines:
            self._exchange(meeting, self.book.close)
        return meeting

    # ── Facts ───────────────────────────────────────────────────────────────────────────────

    def _facts(self, meeting: _Meeting, number: int) -> None:
        """One to three facts about the user, in one message."""
        dice = self.dice
        entries = sum(about is USER for about, _ in meeting.known)
        count = min(dice.choice((1, 1, 2, 2, 3)), MAX_FACTS - 1 - entries)
        new = [one for _ in range(count) if (one := self._new(USER, number))]
        if not new:
            return
        parts = [one for one in new if one.kind.mid]
        if len(new) > 1 and len(parts) == len(new) and dice.random() < 0.75:
            text = self._compound(new)
        else:
            new = new[: dice.choice((1, 2))]
            text = self._fill(self._pick(new[0].kind.tell), new[0].values)
            if new[0].kind.ask and dice.random() < 0.4:
                meeting.say(FRIEND, self._fill(self._pick(new[0].kind.ask), {}, FRIEND))
            elif dice.random() < 0.35:
                text = self._fill(self._pick(self.book.lead), {}) + self.book.space + text
            for one in new[1:]:
                also = self._pick(self.book.also)
                phrase = self._pick(one.kind.tell)
                more = self._fill(phrase, one.values)
                if also and phrase[0] != "{" and self.book.language in CASED:
                    more = _small(more)
                text += self.book.space + also + more
        if dice.random() < 0.15:
            text += self.book.space + self._fill(self._pick(self.book.question), {})
        for one in new:
            one.fact = self._note(one.kind.fact, one.values)
            self._know(meeting, one)
        meeting.say(USER, text)
        self._react(meeting, new[-1].kind.react, new[-1].values)

    def _compound(self, new: Sequence[StatedFact]) -> str:
        parts = []
        for place, one in enumerate(new):
            last = one is new[-1]
            phrase = self._pick((one.kind.fin if last else ()) or one.kind.mid)
            if place:
                phrase = phrase.removeprefix(self.book.drop)
            part = self._fill(phrase, one.values)
            parts.append(_small(part) if self.book.language in CASED and phrase[0] != "{" else part)
        text = self.book.join[0].join(parts[:-1]) + self.book.join[1] + parts[-1]
        if text[-1] not in ".。":
            text += self._fill(self._pick(self.book.end), {})
        return text[:1].upper() + text[1:]

    def _friend(self, meeting: _Meeting, number: int) -> None:
        """A fact about the friend, mostly in answer to a question."""
        one = self._new(FRIEND, number)
        if one is None:
            return
        if one.kind.ask:
            meeting.say(USER, self._fill(self._pick(one.kind.ask), {}))
        one.fact = self._note(one.kind.fact, one.values)
        meeting.say(FRIEND, self._fill(self._pick(one.kind.tell), one.values, FRIEND))
        self._know(meeting, one)

    def _new(self, about: Speaker, number: int) -> StatedFact | None:
        kinds = self.book.kinds
        stated = {name for name, who in self.begun if who is about}
        excluded = stated.union(*(kinds[name].without for name in stated))
        free = [
            kind
            for kind in kinds.values()
            if (about is USER or kind.back)
            and kind.name not in excluded
            and stated.isdisjoint(kind.without)
        ]
        if not free:
            return None
        kind = self.dice.choice(free)
        self.begun.add((kind.name, about))
        return StatedFact(kind=kind, about=about, values={}, fact="", meeting=number)

    def _know(self, meeting: _Meeting, one: StatedFact) -> None:
        self.stated.append(one)
        meeting.known.append((one.about, one.fact))

    def _change(self, meeting: _Meeting, number: int) -> None:
        """A fact from an earlier meeting is no longer true."""
        able = [t for t in self._earlier(number) if t.kind.change and t.change is None]
        if not able:
            return
        one = self.dice.choice(able)
        change = self.dice.choice(one.kind.change)
        old = one.fact
        text = self._fill(self._pick(change.tell), one.values)
        if self.dice.random() < 0.3:
            text = self._fill(self._pick(self.book.lead), {}) + self.book.space + text
        one.fact = self._note(change.fact, one.values)
        one.change, one.cued, one.meeting = change, False, number
        meeting.known.append((one.about, one.fact))
        meeting.changed.append((one.about, old, one.fact))
        meeting.say(USER, text)
        self._react(meeting, change.react, one.values)

    # ── Cues ────────────────────────────────────────────────────────────────────────────────

    def _cue(self, meeting: _Meeting, number: int) -> None:
        able = [t for t in self._earlier(number) if not t.cued and self._cues(t)]
        if not able:
            self._plain(meeting)
            return
        one = self.dice.choice(able)
        one.cued = True
        message, *replies = self.dice.choice(self._cues(one))
        said = self._fill(message, one.values)
        reply = self._fill(self._pick(replies), one.values, FRIEND)
        others = [t for t in self.stated if t is not one]
        self._called(meeting, said, reply, [one, *others], kind=one.kind.name)

    def _plain(self, meeting: _Meeting) -> None:
        left = [one for one in self.book.plain if one not in self.seen]
        if left:
            picked = self.dice.choice(left)
            self.seen.add(picked)
            reply = self._fill(self._pick(picked[1:]), {}, FRIEND)
            self._called(meeting, self._fill(picked[0], {}), reply, self.stated, kind="")

    def _called(
        self, meeting: _Meeting, said: str, reply: str, known: Sequence[StatedFact], *, kind: str
    ) -> None:
        if meeting.lines and meeting.lines[-1].speaker is USER:
            meeting.say(FRIEND, self._fill(self._pick(self.book.nod), {}, FRIEND))
        meeting.say(USER, said)
        cue = RecallCue(
            at=len(meeting.lines) - 1,
            message=said,
            facts=tuple((one.about, one.fact) for one in known),
            fits=1 if kind else 0,
            reply=reply,
            kind=kind,
        )
        meeting.cues.append(cue)
        meeting.lines.append(Line(speaker=FRIEND, text=reply))

    def _cues(self, one: StatedFact) -> Sequence[tuple[str, ...]]:
        return one.kind.cue if one.change is None else one.change.cue

    def _earlier(self, number: int) -> list[StatedFact]:
        return [one for one in self.stated if one.about is USER and one.meeting < number]

    # ── Helpers ─────────────────────────────────────────────────────────────────────────────

    def _exchange(self, meeting: _Meeting, among: Sequence[tuple[str, ...]]) -> None:
        left = [one for one in among if one not in self.seen]
        if not left:
            return
        picked = self.dice.choice(left)
        self.seen.add(picked)
        values: dict[str, str] = {}
        speaker = USER
        for line in picked:
            speaker = FRIEND if line.startswith(">") else USER
            meeting.say(speaker, self._fill(line.removeprefix(">"), values, speaker))

    def _react(self, meeting: _Meeting, own: Sequence[str], values: dict[str, str]) -> None:
        meeting.say(FRIEND, self._fill(self._pick(own or self.book.react), values, FRIEND))

    def _pick(self, among: Sequence[str]) -> str:
        return self.dice.choice(among)

    def _fill(self, phrase: str, values: dict[str, str], speaker: Speaker = USER) -> str:
        return self.pen.fill(phrase, values, polite=self.pen.polite and speaker is USER)

    def _note(self, phrase: str, values: dict[str, str]) -> str:
        text = self.pen.fill(phrase, values, polite=False)
        return text[:1].lower() + text[1:]


def _small(part: str) -> str:
    """Without a leading capital, unless it begins with "I"."""
    return part if part.startswith(("I ", "I'")) else part[:1].lower() + part[1:]
