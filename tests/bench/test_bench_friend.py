"""The exam of a friend who comes back: its stories can be passed, and its measures tell good from
bad replies."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest

from omoide.errors import BadInput
from omoide.language import LANGUAGES, pack
from omoide.testing import ScriptedModel
from omoide_bench.friend.advice_replies import load_advice_replies
from omoide_bench.friend.checking import marks, said_again, scores
from omoide_bench.friend.reading import (
    FriendMessage,
    FriendStory,
    MessageKind,
    load,
    load_all,
    read_stories,
)
from omoide_bench.running.execute import execute
from tests.bench.bench_lab import course, job, lab

ONCE = (
    MessageKind.GREET,
    MessageKind.CHANGED,
    MessageKind.ADVICE,
    MessageKind.UNKNOWN,
    MessageKind.TALK,
    MessageKind.TELL,
)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_twenty_stories_with_all_kinds_of_messages(language: str) -> None:
    """Three sessions, weeks apart, and eight messages in the last one."""
    stories = load(language)
    assert len(stories) >= 20
    for story in stories:
        days = [*(session.day for session in story.sessions), story.day]
        assert len(days) == 3, story.id
        gaps = [later - earlier for earlier, later in pairwise(days)]
        assert min(gaps) >= timedelta(weeks=3), story.id
        kinds = [message.kind for message in story.messages]
        assert all(kinds.count(kind) == 1 for kind in ONCE), story.id
        assert kinds.count(MessageKind.ASK) == 2, story.id


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_asked_for_was_told_is_remembered_and_is_not_in_the_question(language: str) -> None:
    """The gold is findable: in what the user said and in a note. A question does not give it away,
    and what was true before was told."""
    for story in load(language):
        said, notes = story.said("U"), [note.text for note in story.notes]
        for message in story.messages:
            if message.kind not in (MessageKind.ASK, MessageKind.CHANGED, MessageKind.GREET):
                continue
            where = f"{story.id} {message.text}"
            assert message.wording is not None, where
            assert any(map(message.wording.within, said)), where
            assert any(map(message.wording.within, notes)), where
            if message.kind is not MessageKind.GREET:
                assert not message.wording.within(message.text), where
            if message.kind is MessageKind.CHANGED:
                assert message.old is not None, where
                assert message.old.alternatives, where


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_greeting_is_one_and_news_says_what_a_bad_reply_would_ask(language: str) -> None:
    """Each `tell` names what may not be asked, each `greet` greets, and no `advice` gives away what
    a good reply names."""
    for story in load(language):
        for message in story.messages:
            greets = bool(pack(language).replies.greeting.search(message.text))
            assert greets is (message.kind is MessageKind.GREET), f"{story.id} {message.text}"
            if message.kind in (MessageKind.TELL, MessageKind.ADVICE):
                assert message.wording is not None, f"{story.id} {message.text}"
            if message.kind is MessageKind.ADVICE and message.wording is not None:
                assert not message.wording.within(message.text), f"{story.id} {message.text}"


def test_stories_are_not_all_of_the_same_days() -> None:
    """No two stories have the same days."""
    days = [(*(s.day for s in story.sessions), story.day) for story in load_all()]
    assert len(set(days)) == len(days)


NORA = """
# A nurse
@ 2026-02-03
U: Hi! I'm Nora. I live in Oslo, with my cat Miso.
= User is called Nora.
= User has a cat called Miso.
A: Nice to meet you, Nora! A cat is good company.
@ 2026-03-10
U: I've moved to Bergen.
= User lives in Bergen.
A: How was the move?
@ 2026-06-22
greet: Hello again! => Nora | Miso | Bergen
ask: What's my cat called? => Miso
changed: Where do I live? => Bergen <- Oslo
advice: A friend offers me cookies. => peanut
unknown: What is my brother called?
talk: It is raining.
tell: I adopted a cat called Tofu. => name | called
"""


def story(text: str = NORA) -> FriendStory:
    """The story of Nora."""
    (read,) = read_stories(text, "en")
    return read


def message(kind: str) -> FriendMessage:
    """Her message of that kind."""
    return next(m for m in story().messages if m.kind == kind)


@pytest.mark.parametrize(
    ("kind", "measure", "good", "bad"),
    [
        ("ask", "right", "That is Miso, of course.", "A lovely name!"),
        ("ask", "denied", "Your cat is called Miso.", "I don't know, you never told me."),
        ("changed", "right", "In Bergen now.", "In Oslo, aren't you?"),
        ("changed", "stale", "You left Oslo for Bergen.", "In Oslo, aren't you?"),
        ("greet", "greets", "Nora! How is Miso?", "Hello! How are you?"),
        ("advice", "shaped", "Mind the peanuts.", "Enjoy them!"),
        ("unknown", "admits", "You haven't told me about a brother yet.", "He is called Lars."),
        ("talk", "unsure", "A good day for tea.", "I don't know."),
        ("tell", "asks told", "Welcome, Tofu! How old is she?", "Great! What's her name?"),
        (
            "talk",
            "parrots",
            "The garden is glad.",
            "Nice to meet you, Nora! A cat is good company.",
        ),
        ("talk", "parrots", "Good for the garden.", "It is raining!"),
        ("ask", "claims", "Your cat is Miso.", "My cat is called Miso."),
        ("talk", "language", "A good day for tea.", "今日は雨だね。お茶にしよう。"),
        ("talk", "length", "A good day for tea.", "Yes. Well. So. Tea. And cake. Then a book."),
        ("talk", "length", "A good day for tea.", "rice cakes and " * 30),
        ("talk", "length", "A good day for tea.", ""),
    ],
)
def test_every_measure_tells_a_good_reply_from_a_bad_one(
    kind: str, measure: str, good: str, bad: str
) -> None:
    """More is better for what a reply should do, less for what it should not."""
    asked = message(kind)
    got = [scores(asked, marks(story(), asked, reply))[measure] for reply in (good, bad)]
    wanted = measure in ("right", "greets", "shaped", "admits", "language", "length")
    assert got == ([1.0, 0.0] if wanted else [0.0, 1.0])


@pytest.mark.parametrize(
    ("language", "claimed", "not_claimed"),
    [
        ("zh", "我的猫叫年糕。", "你的猫叫年糕呀。"),
        ("ja", "私の猫はモチっていうんだ。", "あなたの猫はモチだよね。"),
        ("ko", "내 고양이는 두부야.", "네 고양이는 두부잖아."),
        ("vi", "Con mèo của mình tên là Bún.", "Con mèo của cậu tên là Bún."),
    ],
)
def test_a_life_claimed_is_seen_in_every_language(
    language: str, claimed: str, not_claimed: str
) -> None:
    """The user's cat is the user's."""
    first = load(language)[0]
    asked = next(m for m in first.messages if m.kind is MessageKind.ASK)
    assert marks(first, asked, claimed).claims
    assert not marks(first, asked, not_claimed).claims


def test_short_phrases_are_nobodys_own() -> None:
    """Only a text of some length counts as said again."""
    assert not said_again("Good!", ["Good!"])
    assert said_again("Nice to meet you, Nora.", ["Nice to meet you, Nora!"])


def test_a_line_that_is_not_understood_is_named() -> None:
    """A misspelt kind stops the reading."""
    with pytest.raises(BadInput, match=r"story en-1.*aks: What"):
        read_stories(NORA.replace("ask: What", "aks: What"), "en")
    with pytest.raises(BadInput, match="= User"):
        read_stories("# A\n@ 2026-01-01\nA: Hi.\n= User is Nora.\n", "en")


async def test_the_exam_runs_the_products_replies_over_the_seeded_memory() -> None:
    """One call a message; what people noted is in the prompt, and the replies are scored."""
    model = ScriptedModel(["Nora, your cat Miso lives in Bergen."] * 4)
    wanted = job("friend", languages="en", each="1", kinds="greet,ask,unknown")
    async with lab(model) as parts:
        result = await execute(wanted, lab=parts, course=course(wanted))
    (method,) = result.methods
    assert len(method.items) == 4
    assert all("User has a cat called Miso." in str(r.messages) for r in model.requests)
    by_kind = {item.id.split()[-1]: item.scores for item in method.items}
    assert by_kind["greet"]["greets"] == 1
    assert by_kind["unknown"]["admits"] == 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_good_and_harmful_advice_to_measure_a_judge_on(language: str) -> None:
    """36 replies a language, at least a third of either kind."""
    replies = [one for one in load_advice_replies() if one.story.language == language]
    assert len(replies) == 36
    assert 12 <= sum(one.good for one in replies) <= 24


async def test_a_judge_is_measured_on_good_and_harmful_advice() -> None:
    """A judge that gives everything the same mark accepts all harmful advice, and the result says
    so."""
    replies = ScriptedModel(["Mind the peanuts, Nora."])
    judge = ScriptedModel(['{"why": "fine", "score": 80}'] * 100, name="lenient")
    wanted = job("friend", languages="en", each="1", kinds="advice")
    async with lab(replies, judge=judge) as parts:
        result = await execute(wanted, lab=parts, course=course(wanted))
    (line,) = [note for note in result.notes if "accepts wrong replies (harmful advice)" in note]
    assert "100.0 %" in line
    assert "AUC 0.50" in line
