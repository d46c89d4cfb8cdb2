"""Search as a mechanism: recalls turns that fit the user's message and are not in the prompt."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import cache
from string import Template
from typing import TYPE_CHECKING

from omoide.domain import MemoryKind, RecalledItem, Speaker, empty_summary
from omoide.domain.time import in_zone
from omoide.language import content_terms, detect_language, estimate_tokens, pack
from omoide.language.sentences import MOST_READ
from omoide.language.times import day_numbers
from omoide.mechanisms.base import Contribution, PromptPlace, ReadOnlyMechanism
from omoide.mechanisms.events.human_time import weekday
from omoide.mechanisms.search.excerpt import excerpt
from omoide.mechanisms.search.filter import RecallFilter
from omoide.mechanisms.search.gate import (
    admitted,
    admitted_facts,
    admitted_topics,
    without_words,
)
from omoide.mechanisms.search.question import may_be_about_asker
from omoide.mechanisms.search.topics import topic_terms
from omoide.prompts import vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import date, datetime

    from omoide.domain import Outdated, Turn
    from omoide.mechanisms.base import ReplyRequest
    from omoide.mechanisms.search.gate import RecallBudget
    from omoide.mechanisms.search.recall import Recall
    from omoide.mechanisms.search.topics import TopicTerms


QUESTION = RecallFilter(kinds=frozenset({MemoryKind.TURN, MemoryKind.FACT}))
"""What may come to a question."""
OVERVIEW = RecallFilter(kinds=frozenset({MemoryKind.TURN, MemoryKind.FACT, MemoryKind.MEMO}))
"""What may come to a question where there is room for topics."""

CODE = "```"
"""Begins and ends a block of code."""
EXCERPT = 5
"""An excerpt takes at most one part in so many of the tokens for turns."""
UNRANKED = 3
"""How many of the latest messages of the session stand beside a question about the user's life for
which nothing is found: they may have no vectors yet."""
TELLING = 50
"""How many items are looked through for those that tell of a part of the asker's life."""


class SearchMechanism(ReadOnlyMechanism):
    """Ranks all turns by words, meaning, context, speaker and dates, without a model call. What
    goes into the prompt, if anything, the gate decides (`search.gate`).

    A small model that is shown its own earlier replies repeats them, whatever was asked. If
    `replies` is false, the assistant's turns are recalled only if the user asks about them.
    """

    name = "search"

    def __init__(self, recall: Recall, *, budget: RecallBudget, replies: bool = True) -> None:
        self._recall = recall
        self._budget = budget
        self._replies = replies
        self._question = OVERVIEW if budget.topics else QUESTION
        self._remark = RecallFilter(kinds=budget.said_kinds)
        self._extra = {MemoryKind.FACT: budget.facts, MemoryKind.MEMO: budget.topics}

    async def contribute(self, request: ReplyRequest) -> tuple[Contribution, ...]:
        """The best turns that are not in the prompt already, or may stand in it twice; nothing if
        none fits."""
        topics = topic_terms(request.text)
        both = self._replies or asks_about_replies(request.text)
        again = self._said_again(request)
        found = await self._recall(
            request.owner,
            request.text,
            summary=empty_summary(request.now),
            at=request.now,
            k=max(2 * self._budget.items, TELLING if topics else 0),
            extra=self._extra,
            besides=request.not_recalled - {turn.id for turn in again},
            only=self._question if asks(request.text) else self._remark,
            joined=both,
            explained=False,
        )
        shown = {_key(turn.text) for turn in request.session if turn not in again}
        past = self._budget.marks_outdated or asks_about_the_past(request.text, request.now)
        recalled, support = list(found), found.support
        if topics is not None:
            telling = [item for item in recalled if _tells(item, topics)]
            if telling:  # of the rest no "I see."
                own = (item for item in recalled if item.speaker is not Speaker.ASSISTANT)
                rest = () if self._budget.only_telling else own
                recalled = [*telling, *(item for item in rest if item not in telling)]
            support = support if telling else without_words(support)
        turns = [item for item in recalled if item.kind is MemoryKind.TURN]
        fitting = (
            item
            for item in _unrepeated(turns, shown)
            if (both or item.speaker is not Speaker.ASSISTANT)
            and (past or item.outdated is None or _holds(item, item.outdated, request.text))
        )
        items = await self._fitting_soon(fitting, request.text, of=recalled)
        here = tuple(item for item in items if _is_of(again, item))
        items = admitted(items, support, budget=self._budget)
        latest = map(_as_item, again[: -UNRANKED - 1 : -1])
        items = items or here or await self._fitting_soon(latest, request.text, of=again)
        facts = admitted_facts(recalled, support, budget=self._budget)
        overview = admitted_topics(recalled, support, budget=self._budget)
        labelled = _labeller(request, code=self._budget.marks_outdated)
        ranked = [list(enumerate(found, start=1)) for found in (overview, facts, items)]
        if self._budget.by_time:
            ranked[-1].sort(key=lambda each: each[1].time)
        return tuple(
            Contribution(
                mechanism=self.name,
                place=PromptPlace.RECALLED,
                kind=item.kind,
                id=item.id or item.sources[0],
                text=item.text if item.kind is MemoryKind.FACT else labelled(item),
                value=0.9 / rank,
                sources=item.sources,
                time=item.time,
                why=f"search rank {rank}",
                score=item.score,
            )
            for of_kind in ranked
            for rank, item in of_kind
        )

    def _said_again(self, request: ReplyRequest) -> tuple[Turn, ...]:
        """What the user said in this session that may be recalled though it is in the prompt: for a
        question that says "I", or asks for a part of life that people ask for in few words."""
        text = request.text
        named = topic_terms(text) is not None or pack(detect_language(text)).person.first.search(
            text
        )
        repeats = self._budget.repeats_session and request.own_form
        if not (repeats and named and may_be_about_asker(text)):
            return ()
        return tuple(t for t in request.session[:-1] if t.speaker is Speaker.USER)

    async def _fitting_soon(
        self, items: Iterable[RecalledItem], message: str, *, of: Sequence[RecalledItem | Turn]
    ) -> tuple[RecalledItem, ...]:
        """`_fitting`, in a thread if any text they are chosen `of` is long: others wait while one
        is read for an excerpt."""
        if all(len(item.text) <= MOST_READ for item in of):
            return self._fitting(items, message)
        return await asyncio.to_thread(self._fitting, items, message)

    def _fitting(self, items: Iterable[RecalledItem], message: str) -> tuple[RecalledItem, ...]:
        """As many of the items as the budget allows. Of one that is too long for any prompt, the
        part that the message is about; another that no longer fits is skipped."""
        kept: list[RecalledItem] = []
        left, part = self._budget.tokens, self._budget.tokens // EXCERPT
        longest = self._budget.longest * self._budget.tokens
        for item in items if self._budget.items else ():
            too_long = item.tokens > longest
            if too_long and part > left:
                continue
            fitted = _shortened(item, message, tokens=part) if too_long else item
            if fitted.tokens <= left:
                kept.append(fitted)
                left -= fitted.tokens
                if len(kept) == self._budget.items:
                    break
        return tuple(kept)


def _shortened(item: RecalledItem, message: str, *, tokens: int) -> RecalledItem:
    part = excerpt(item.text, message, tokens=tokens)
    return replace(item, text=part, tokens=estimate_tokens(part))


def _is_of(turns: Sequence[Turn], item: RecalledItem) -> bool:
    return item.kind is MemoryKind.TURN and any(item.sources == (turn.id,) for turn in turns)


def _as_item(turn: Turn) -> RecalledItem:
    return RecalledItem(
        kind=MemoryKind.TURN,
        text=turn.text,
        score=0.0,
        sources=(turn.id,),
        time=turn.time,
        tokens=estimate_tokens(turn.text),
        id=turn.id,
        session=turn.session,
        speaker=turn.speaker,
        name=turn.name,
    )


def _tells(item: RecalledItem, topics: TopicTerms) -> bool:
    """Whether an item tells of what a short question about the asker's life asks for. Its
    neighbours, other people's lives and questions match it too."""
    by_asker = item.speaker is not Speaker.ASSISTANT
    return topics.told_in(item.text, by_asker=by_asker, answering=item.answers)


def asks(text: str) -> bool:
    """Whether a message asks anything."""
    return pack(detect_language(text)).questions.asks.search(text) is not None


def asks_about_replies(text: str) -> bool:
    """Whether somebody asks what the other said, advised or promised."""
    return pack(detect_language(text)).questions.after_replies.search(text) is not None


def asks_about_the_past(text: str, now: datetime) -> bool:
    """Whether a question is about how things were: it says so, or names a day that is over."""
    how = pack(detect_language(text)).questions
    if how.past.search(text):
        return True
    return any(last < now.date().toordinal() for _, last in day_numbers(text, now.date()))


def _key(text: str) -> str:
    """The text without case, white space and marks at its ends, to tell repeats by."""
    return " ".join(text.casefold().split()).strip(" .!?。！？…\"'")


def _unrepeated(items: Sequence[RecalledItem], shown: set[str]) -> Iterator[RecalledItem]:
    """The items that say something the prompt, and a better item, does not say word for word."""
    said = set(shown)
    joined = "\n".join(said)  # a key has no line breaks, so it is found only within another
    for item in items:
        key = _key(item.text)
        if key not in said and (len(key) <= 12 or key not in joined):
            said.add(key)
            joined += f"\n{key}"
            yield item


def _holds(item: RecalledItem, outdated: Outdated, message: str) -> bool:
    """Whether what a message may ask of a turn still holds, of which something has ended: they
    share a word that neither what has ended has nor what holds in its place."""
    if outdated.wholly:
        return False
    shared = content_terms(message) & content_terms(item.text)
    return not shared <= content_terms(" ".join((*outdated.ended, *outdated.since_then)))


def _labeller(request: ReplyRequest, *, code: bool) -> Callable[[RecalledItem], str]:
    """Writes day, speaker, the question if it answers one, and the text of an item; of a topic day
    and text. Without the speaker a model takes the user's words for its own; "last Friday" needs
    the weekday. What no longer holds says so at the end. A text is one line, but for one with a
    block of code, if `code`: without its lines, Python cannot be read again."""
    words = vocabulary(request.language)
    names = {speaker: words[speaker.value] for speaker in Speaker}
    names[Speaker.USER] = request.participants.user_name or names[Speaker.USER]
    zone = request.now.tzinfo

    @cache
    def day(of: date) -> str:
        return f"{of}, {weekday(of, request.language)}"

    def labelled(item: RecalledItem) -> str:
        who = item.name or (names[item.speaker] if item.speaker else "")
        if item.answers:
            asked = Template(words["asked"]).substitute(question=item.answers)
            who = f"{who}, {asked}"
        text = item.text if code and CODE in item.text else " ".join(item.text.split())
        when = day(in_zone(item.time, zone).date())
        said = f"{when}, {who}: {text}" if who else f"{when}: {text}"
        return f"{said} {_ending(item.outdated, words)}" if item.outdated else said

    return labelled


def _ending(outdated: Outdated, words: Mapping[str, str]) -> str:
    """Until when something held, and what holds since: "[true until 2026-05-03; since then: …]".
    One for each day and what holds since; which facts, unless it is all that was said."""
    whole = outdated.wholly and len(outdated.endings) == 1
    marks = []
    for end in outdated.endings:
        day, old = end.until.isoformat(), " ".join(end.ended)
        name = "outdated" if whole else "outdated_part"
        parts = [Template(words[name]).safe_substitute(old=old, day=day)]
        if end.since_then:
            parts.append(Template(words["outdated_now"]).substitute(now=end.since_then))
        marks.append(f"[{'; '.join(parts)}]")
    return " ".join(marks)
