"""The choice among memos, paper C's second task: the right memos, decoys, and NOTO.

The query is what the user says in one stretch, or in two to four of them, a line or two
of each, or what they might say about it later, if that is known. The frequencies are close to
MemoChat's training instructions (of 353, 37 are about none of the memos, 182 about one, 111 about
two, 23 about three; two to nine memos are offered besides NOTO).
The paper's query is a true dialogue mixed with a decoy; if the decoy's own memo is among those
shown, both are right.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from omoide.claims import coverage
from omoide.domain import Memo, Owner, Speaker
from omoide.language import content_terms
from omoide.mechanisms import ReplyRequest
from omoide.mechanisms.memos import choice_request, read_choice
from omoide_tune.checked_talks import START

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from omoide.ports import Message
    from omoide_tune.checked_talks import CheckedTalk
    from omoide_tune.examples import Example

LIMIT = 6
"""`limit` of the prompt for choosing memos."""
WANTED = {0: 0.13, 1: 0.45, 2: 0.28, 3: 0.10, 4: 0.04}
"""Relative frequency of the number of right memos."""
ASTRAY = 0.2
"""Share with an additional line that is about none of the memos shown."""
FEWEST, MOST = 2, 9
"""Memos offered besides NOTO."""
LATER = 0.6
"""Share of the lines taken from what might be said later, if that is known."""
NEAR = 0.2
"""Share of a query's terms above which a decoy might also be meant."""


def choices(
    stretches: Sequence[CheckedTalk], dice: random.Random, *, paper: bool, rounds: int = 1
) -> Iterator[Example]:
    """A user's message, and the memos it is about among others; or none of them."""
    for one in (*stretches,) * rounds:
        count = dice.choices(list(WANTED), list(WANTED.values()))[0]
        others = dice.sample(stretches, min(len(stretches), 16))
        others = list({other.key: other for other in others if other.key != one.key}.values())
        if paper:
            about = [one, *(o for o in others[:1] if query(o))]
            wanted = about[: 1 if dice.random() < 0.5 else 2] if count else []
        else:
            about = [one, *[o for o in others if query(o)][: max(count, 1) - 1]]
            wanted = about if count else []
            about = [*about, *others[-1:]] if dice.random() < ASTRAY else about
        said = _said(about, dice, most=1 if paper else 2)
        terms = content_terms(said)
        decoys = [other for other in others if other not in about and not _near(terms, other)]
        shown = decoys[: max(dice.randint(FEWEST, MOST) - len(wanted), FEWEST - len(wanted), 1)]
        if not query(one) or len(shown) + len(wanted) < FEWEST:
            continue
        shown = [*shown, *wanted]
        dice.shuffle(shown)
        numbers = sorted(shown.index(right) + 1 for right in wanted) or [0]
        answer = json.dumps({"numbers": numbers})
        read_choice(answer, count=len(shown))  # raises if the product could not parse it
        messages = asked([(s.topic, s.summary) for s in shown], said, one.language)
        yield one.example("choice", messages, answer, "" if wanted else "nothing")


def asked(memos: Sequence[tuple[str, str]], said: str, language: str) -> tuple[Message, ...]:
    """The product's own prompt for choosing memos, given as topic and summary."""
    return choice_request(
        [_memo(*memo) for memo in memos], _reply_request(said, language), limit=LIMIT
    ).messages


def _said(about: Sequence[CheckedTalk], dice: random.Random, *, most: int) -> str:
    """One or more lines of each stretch, including its best one, in random order."""
    order = list(about)
    dice.shuffle(order)
    said = []
    for one in order:
        best = query(one)
        if one.later and (best in one.later or dice.random() < LATER):
            said.append(dice.choice(one.later))
            continue
        mine = [line.text for line in one.lines if line.speaker is Speaker.USER]
        more = [text for text in mine if text != best and len(content_terms(text)) >= 3]
        taken = {best, *more[: dice.randint(0, most - 1)]}
        said += [text for text in mine if text in taken]
    return " ".join(dict.fromkeys(said))


def _near(terms: set[str], checked: CheckedTalk) -> bool:
    return coverage(terms, content_terms(f"{checked.topic} {checked.summary}")) > NEAR


def query(checked: CheckedTalk) -> str:
    """The user's line that is most similar to the summary; if none is similar enough, one that
    might be said later, or an empty string."""
    wanted = content_terms(checked.summary)
    said = [line.text for line in checked.lines if line.speaker is Speaker.USER]
    best = max(said, key=lambda text: coverage(content_terms(text), wanted), default="")
    terms = content_terms(best)
    fits = len(terms) >= 3 and coverage(terms, wanted) >= 0.3
    return best if fits else "".join(checked.later[:1])


def _memo(topic: str, summary: str) -> Memo:
    return Memo(
        id="", session=1, topic=topic, summary=summary, sources=(), time=START,
        compressed="", method="",
    )  # fmt: skip


def _reply_request(text: str, language: str) -> ReplyRequest:
    owner = Owner(tenant="", user="")
    return ReplyRequest(owner=owner, text=text, session=(), now=START, language=language)
