"""What is learnt, task by task: the product's own prompts, and answers that it would take."""

from __future__ import annotations

import itertools
import json
import random

import pytest

from omoide.claims.noted_facts import NotedFact
from omoide.domain import Speaker
from omoide.mechanisms.fused.json_form import JsonForm
from omoide.mechanisms.memos.reading import read_choice, read_entries
from omoide.mechanisms.summary.both_form import BothForm
from omoide.mechanisms.summary.forms import PaperForm
from omoide.mechanisms.summary.small_form import SmallForm
from omoide.prompts.transcript import Line
from omoide_tune.chains import chains, contradicted, joined, kind, known_after
from omoide_tune.checked_talks import CheckedTalk, DataTally, told
from omoide_tune.hard_cases import kinds, long_sessions, with_planted_order
from omoide_tune.own import RecallCue
from omoide_tune.talk import TrainingTalk
from omoide_tune.tasks.choice import FEWEST, MOST, choices
from omoide_tune.tasks.events import events
from omoide_tune.tasks.fused import fused
from omoide_tune.tasks.iteration import iteration
from omoide_tune.tasks.memos import memos
from omoide_tune.tasks.naming import named, topics
from omoide_tune.tasks.notes import notes
from omoide_tune.tasks.replies import fitting, from_scenes, replies, uses
from omoide_tune.written import LANGUAGES, planted, scenes

USER, FRIEND = Speaker.USER, Speaker.ASSISTANT


def talk(
    key: str,
    *said: str,
    known: dict[Speaker, tuple[str, ...]],
    chain: str = "",
    language: str = "en",
) -> TrainingTalk:
    """A talk of which everything is known, the user first."""
    speakers = itertools.cycle((USER, FRIEND))
    return TrainingTalk(
        key=key,
        language=language,
        lines=tuple(
            Line(speaker=who, text=text) for who, text in zip(speakers, said, strict=False)
        ),
        known=tuple((who, text) for who, texts in known.items() for text in texts),
        complete=True,
        chain=chain,
    )


def read(one: TrainingTalk) -> CheckedTalk:
    """What it tells."""
    return told(one, "own", DataTally())


FIRST = talk(
    "a/1",
    "Hello! I live in Porto and I have a parrot called Rio.",
    "Lovely. I collect old maps myself.",
    "On March 3rd I start work as a nurse.",
    "All the best for it!",
    known={
        USER: ("lives in Porto.", "has a parrot called Rio", "starts work as a nurse on March 3rd"),
        FRIEND: ("collects old maps",),
    },
    chain="a",
)
SECOND = TrainingTalk(
    key="a/2",
    language="en",
    lines=(
        Line(speaker=USER, text="Guess what, I moved from Porto to Lisbon last week."),
        Line(speaker=FRIEND, text="So far away! How does Rio like it?"),
        Line(speaker=USER, text="Very much. I do not eat meat any longer, by the way."),
        Line(speaker=FRIEND, text="Good for you."),
    ),
    known=((USER, "moved from Porto to Lisbon"), (USER, "does not eat meat any longer")),
    changed=((USER, "lives in Porto", "moved from Porto to Lisbon"),),
    complete=True,
    chain="a",
)
DICE = random.Random(3)


def test_what_is_known_is_kept_as_it_is_and_a_complete_talk_whole() -> None:
    """No turning into the third person, no cutting; each fact at the line that tells it."""
    found = read(FIRST)
    assert found.lines == FIRST.lines
    assert [fact.text for fact in found.of(USER)] == [
        "lives in Porto", "has a parrot called Rio", "starts work as a nurse on March 3rd",
    ]  # fmt: skip
    assert [i for i, _ in found.facts] == [0, 0, 2, 1]
    assert found.key == "a"


def test_what_nobody_said_is_not_known() -> None:
    """Even where the data says so."""
    found = read(talk("b", "I live in Porto.", known={USER: ("lives in Porto", "owns a yacht")}))
    assert [fact.text for fact in found.of()] == ["lives in Porto"]


def test_a_list_s_fact_must_be_told_by_one_line() -> None:
    """Words of several lines can be put together into what nobody told."""
    lines = (
        Line(speaker=USER, text="I played football in high school."),
        Line(speaker=FRIEND, text="Nice."),
        Line(speaker=USER, text="I'm currently on holiday."),
    )
    one = TrainingTalk(
        key="c", language="en", lines=lines, stated=((USER, "I am currently in high school."),)
    )
    assert not read(one).of()


def test_english_sentences_that_tell_something_lasting_become_facts() -> None:
    """So that a target has more than a short list has; what hangs on other words does not."""
    said = "I have two grown children. I love the symbolism in it. I'm glad to hear that."
    one = TrainingTalk(
        key="d",
        language="en",
        lines=(Line(speaker=USER, text=f"I work as a baker. {said}"),),
        stated=((USER, "I work as a baker."),),
    )
    assert [fact.text for fact in read(one).of()] == ["works as a baker", "has two grown children"]


def test_notes_are_asked_for_and_kept_by_the_small_form() -> None:
    """One speaker at a time, every fact a line."""
    found = read(FIRST)
    made = [e for seed in range(20) for e in notes(found, random.Random(seed))]
    (asked,) = SmallForm().ask(
        old=(),
        session=[line for line in FIRST.lines if line.speaker is USER],
        language="en",
        limit=20,
    )
    alone = next(e for e in made if e.messages == asked.request.messages)
    assert alone.answer.splitlines()[0] == "User lives in Porto."
    assert len(alone.answer.splitlines()) == 3
    (both,) = BothForm().ask(old=(), session=FIRST.lines, language="en", limit=20)
    together = next(e for e in made if e.messages == both.request.messages)
    assert together.answer.splitlines()[-1] == "Assistant collects old maps."


def test_events_name_what_they_are_about_and_nothing_is_an_empty_list() -> None:
    """By the event writer's own schema."""
    (example,) = events(read(FIRST))
    listed = json.loads(example.answer)["events"]
    assert listed[1]["text"] == "User has a parrot called Rio."
    assert listed[1]["participants"] == ["User"]
    assert "parrot" in listed[1]["topics"][0]
    (nothing,) = events(read(talk("e", "Hi!", "Hello there!", known={})))
    assert json.loads(nothing.answer) == {"events": []}
    assert nothing.hard == "nothing"


def test_a_memory_is_carried_along_and_what_changed_takes_the_place_of_what_was() -> None:
    """Session by session, in the paper's form."""
    chain = [read(FIRST), read(SECOND)]
    made = next(m for s in range(20) if len(m := list(iteration(chain, [], random.Random(s)))) == 2)
    assert "(none)" in made[0].messages[-1].content
    old = made[0].answer.splitlines()
    new = made[1].answer.splitlines()
    assert "\n".join(old) in made[1].messages[-1].content
    assert set(old) - set(new) == {"User lives in Porto."}
    assert new[-3:] == [
        "User moved from Porto to Lisbon.",
        "User does not eat meat any longer.",
        "Assistant collects old maps.",
    ]
    assert made[1].hard == "changed"
    (asked,) = PaperForm().ask(old=(), session=FIRST.lines, language="en", limit=20)
    assert asked.request.messages == made[0].messages


def test_facts_are_lost_only_to_what_says_them_again() -> None:
    """A richer fact takes the place of a poorer one; one that is merely alike does not."""
    known = [
        NotedFact(about=USER, text="likes to read and watch films"),
        NotedFact(about=USER, text="has a cat"),
    ]
    heard = read(
        talk("f", "I have a cat called Tom.", "Oh!", known={USER: ("has a cat called Tom",)})
    )
    after = [fact.text for fact in known_after(known, heard)]
    assert after == ["likes to read and watch films", "has a cat called Tom"]


def test_a_talk_of_no_chain_is_cut_into_meetings_that_may_contradict_what_was() -> None:
    """Of some sorts of facts only one is true at a time."""
    said = [text for n in range(5) for text in (f"Number {n} is what I say.", "I see, go on then.")]
    said[6] = "I live in Porto now."
    said[0] = "I work as a nurse."
    one = read(talk("g", *said, known={USER: ("works as a nurse", "lives in Porto")}))
    (chain,) = chains([one], DICE)
    assert sum((part.lines for part in chain), ()) == one.lines
    known, changed = contradicted(chain[1:], {"lives in": ["lives in Oslo"]}, DICE)
    assert known == [NotedFact(about=USER, text="lives in Oslo")]
    assert changed[0].changed == ((known[0], NotedFact(about=USER, text="lives in Porto")),)
    assert kind(NotedFact(about=USER, text="likes soup")) == ""


def test_the_fused_writer_gets_memory_memos_and_events() -> None:
    """In one JSON object that each of its readers takes."""
    first, second = fused([read(FIRST), read(SECOND)], [])
    (asked,) = JsonForm().ask(old=(), session=FIRST.lines, language="en", limit=20)
    assert first.messages == asked.request.messages
    written = json.loads(second.answer)
    assert "User lives in Porto." not in written["memory"]
    assert written["memos"][0]["end"] == 4
    assert [event["text"] for event in written["events"]] == [
        "User moved from Porto to Lisbon.", "User does not eat meat any longer.",
    ]  # fmt: skip
    assert second.hard == "changed"


PLACES = "Leeds Porto Cork Lima Quito Bergen".split()
PETS = "parrot rabbit hamster tortoise goat pony".split()
DEEDS = (
    "paint portraits of sailors",
    "restore wooden kayaks",
    "bake rye bread",
    "repair church organs",
    "grow purple orchids",
    "teach medieval history",
)


def stretches() -> list[CheckedTalk]:
    """Six short talks on different things."""
    return [
        one
        for place, deed in zip(PLACES, DEEDS, strict=True)
        for one in named(
            read(
                talk(
                    place, f"I {deed}.", "Really!", "Yes, at home.", f"I once saw {place}.",
                    known={USER: (deed.replace(" ", "s ", 1),), FRIEND: (f"once saw {place}",)},
                )
            )
        )
    ]  # fmt: skip


def test_memos_have_their_true_ranges() -> None:
    """The seams are where stretches were joined."""
    made = list(memos(stretches(), random.Random(1), paper=True))
    assert len(made) == 3
    for example in made:
        spans = [(e.span.first, e.span.last) for e in read_entries(example.answer)]
        assert spans == [(1, 4), (5, 8)]


def test_choices_are_the_memos_that_are_meant_up_to_four_or_none() -> None:
    """Numbers as the product's reader reads them; NOTO where the right one is not shown."""
    found = stretches()
    made = [e for s in range(12) for e in choices(found, random.Random(s), paper=False)]
    counts = set()
    for example in made:
        listed = example.messages[-1].content.split("\n\n")[0].splitlines()[2:]
        said = example.messages[-1].content.rpartition(": ")[2]
        numbers = read_choice(example.answer, count=len(listed))
        counts.add(len(numbers))
        for number in numbers:
            assert any(d.split()[-1] in listed[number - 1] for d in DEEDS if d in said)
        assert list(numbers) == sorted(numbers)
        assert FEWEST <= len(listed) <= MOST
        if not numbers:
            assert example.hard == "nothing"
    assert counts == {0, 1, 2, 3, 4}


def test_a_reply_rests_on_a_fact_that_the_lines_shown_do_not_hold() -> None:
    """From real turns; the memory holds it, and decoys with it."""
    one = talk(
        "h",
        "I have a parrot called Rio.", "How sweet!",
        "What can one do in such weather?", "In such weather your parrot Rio needs company!",
        known={USER: ("has a parrot called Rio",)},
    )  # fmt: skip
    others = stretches()
    made = [
        e
        for s in range(10)
        for e in replies(read(one), others, random.Random(s), order=0, paper=False)
    ]
    grounded = [e for e in made if e.answer.startswith("In such weather")]
    assert grounded
    for example in grounded:
        text = "\n".join(m.content for m in example.messages)
        assert "parrot called Rio" in text
        assert example.messages[-1].content.startswith("What can one do in such weather?")


def test_a_cue_of_an_invented_talk_is_a_reply() -> None:
    """The fact that fits is remembered, and what is not meant stands beside it."""
    from dataclasses import replace

    cue = RecallCue(
        at=2, message="x", reply="Mind the shrimps!", fits=1, kind="allergy",
        facts=((USER, "is allergic to shrimps"), (USER, "has a goat")),
    )  # fmt: skip
    one = replace(read(FIRST), cues=(cue,))
    (example,) = replies(one, [], DICE, order=0, paper=False)
    assert example.answer == "Mind the shrimps!"
    assert "is allergic to shrimps" in "".join(m.content for m in example.messages)


@pytest.mark.parametrize(
    ("reply", "good"),
    [
        ("That must be your parrot again!", True),
        ("Hello, nice to see you.", False),
        ("Let me know if there is anything else.", False),
        ("One. Two things. Three of them. Four altogether.", False),
        ("这是你的鹦鹉吧，真有意思。", False),
    ],
)
def test_which_replies_are_wanted(reply: str, good: bool) -> None:
    """Short ones, without greeting or offer, in the language."""
    assert fitting(reply, "en") is good


def test_words_that_were_just_said_show_no_memory() -> None:
    """A reply that echoes the message uses no fact."""
    fact = NotedFact(about=USER, text="has a green parrot")
    assert uses("Your green parrot!", fact, frozenset())
    assert not uses("Your green parrot!", fact, frozenset({"gree", "parr"}))


@pytest.mark.parametrize("language", LANGUAGES)
def test_our_own_scenes_have_no_gaps_left_and_give_replies(language: str) -> None:
    """In five languages, some of them with nothing that fits."""
    every = scenes(language)
    assert len({scene.key for scene in every}) == 30
    for scene in every:
        assert "{" not in scene.said + scene.fact + scene.reply
    assert sum(not scene.fact for scene in every) == 8
    made = [e for e in from_scenes(random.Random(1), times=1, order=0.3) if e.language == language]
    for scene, example in zip(every, made, strict=True):
        text = "\n".join(m.content for m in example.messages)
        assert scene.fact in text
        assert example.answer == scene.reply
    assert any("injected" in example.hard for example in made)


@pytest.mark.parametrize("language", LANGUAGES)
def test_planted_orders_are_others_than_those_of_the_red_team(language: str) -> None:
    """Or the red team would measure what was learnt by heart."""
    from omoide_bench.redteam import cases

    theirs = "\n".join(case.text for case in cases.load())
    for via in ("said", "memory"):
        orders = planted(language, via)
        assert len(orders) == len(set(orders)) >= 6
        assert not any(order in theirs for order in orders)


def test_an_order_in_a_talk_changes_nothing_of_what_is_to_be_learnt() -> None:
    """The facts stay where they are, and template tokens are letters."""
    found = read(FIRST)
    for seed in range(30):
        shown = with_planted_order(found, random.Random(seed))
        assert shown.of() == found.of()
        for i, fact in shown.facts:
            assert shown.lines[i].speaker is fact.about
        for example in notes(shown, random.Random(seed)):
            assert "injected" in example.hard
            assert "castle" not in example.answer
            assert "<|" not in example.messages[-1].content


def test_long_sessions_are_joined_of_talks_that_agree() -> None:
    """As long as the recipe allows; two homes would be one too many."""
    filler = ["Well, what shall I say about the weather of today and of tomorrow?"] * 20
    some = [
        read(talk(f"l{n}", f"I collect {pet}s.", *filler, known={USER: (f"collects {pet}s",)}))
        for n, pet in enumerate(PETS)
    ]
    (joined,) = list(long_sessions(some, random.Random(2), share=0.2))
    assert len(joined.of()) > 1
    assert joined.hard == ("long",)
    homes = [
        read(talk(f"l{n}", f"I live in {place}.", *filler, known={USER: (f"lives in {place}",)}))
        for n, place in enumerate(PLACES)
    ]
    assert not list(long_sessions(homes, random.Random(2), share=0.2))


def test_kinds_of_trouble_are_told_apart() -> None:
    """By what the answer has to get right."""
    (example,) = events(read(SECOND))
    assert {"negation", "names"} <= set(kinds(example))
    assert "numbers" not in kinds(example)


def test_topics_are_named_without_the_verb() -> None:
    """Nor by what is left around a number."""
    assert topics([NotedFact(about=USER, text="lives in Seattle")], "en") == ["Seattle"]
    fact = NotedFact(about=USER, text="has a ten-year-old daughter called Wendy")
    assert set(topics([fact], "en")) == {"daughter", "Wendy"}


def test_two_meetings_become_one_where_the_second_takes_nothing_back() -> None:
    """So that a speaker tells much at once; not more than the form asks for."""
    third = talk("a/3", "I paint boats.", "Nice.", known={USER: ("paints boats",)}, chain="a")
    first, second, last = read(FIRST), read(SECOND), read(third)
    assert not list(joined([first, second], 10))
    (whole,) = joined([first, last], 10)
    assert [fact.text for fact in whole.of(USER)][-1] == "paints boats"
    assert len(whole.lines) == len(first.lines) + 2
    assert not list(joined([first, last], 3))


def test_a_list_of_which_too_little_could_be_turned_is_not_learnt_from() -> None:
    """A talk that is taken whole, and facts that are not all it tells."""
    one = TrainingTalk(
        key="m", language="en", complete=True,
        lines=(
            Line(speaker=USER, text="I paint boats. Cats? Love them. Two at home."),
            Line(speaker=FRIEND, text="I play the harp."),
        ),
        stated=(
            (USER, "I paint boats."), (USER, "Two cats live here."), (USER, "Cats are loved."),
            (FRIEND, "I play the harp."),
        ),
    )  # fmt: skip
    found = read(one)
    assert found.partial == {USER}
    assert [e.answer for e in notes(found, DICE)] == ["Assistant plays the harp."]
    assert not list(events(found))


def test_memos_have_up_to_five_stretches_and_end_at_the_last_line() -> None:
    """In long sessions as well; some have a single topic."""
    made = [e for s in range(20) for e in memos(stretches(), random.Random(s), paper=False)]
    counts, max_chars = set(), 0
    for example in made:
        entries = read_entries(example.answer)
        numbered = [
            int(line.split()[0])
            for line in example.messages[-1].content.splitlines()
            if line.split()[0].isdigit()
        ]
        assert entries[0].span.first == 1
        assert entries[-1].span.last == max(numbered)
        counts.add(len(entries))
        max_chars = max(max_chars, max(numbered))
    assert counts == {1, 2, 3, 4, 5}
    assert max_chars == 20
