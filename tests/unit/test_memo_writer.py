"""Memo writing: whatever a model answers, every line ends up in a memo that can be found."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.domain import Owner, Session, Turn
from omoide.engine import complete
from omoide.errors import BadReply, ContextTooLong, ModelStalled, ModelUnavailable
from omoide.mechanisms.base import SessionToDigest
from omoide.mechanisms.memos.ranges import grammar
from omoide.mechanisms.memos.reading import read_choice, read_entries
from omoide.mechanisms.memos.writer import MemosWritten, MemoWriter
from omoide.ports import Completion
from omoide.testing import ScriptedModel

from .talks import NOW, talk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.testing import Answer

TALK = talk(
    "I adopted a cat called Miso last week.",
    "How sweet! Is she settling in?",
    "She sleeps on my laptop all day.",
    "Cats love warm places.",
    "On Friday I start as a nurse in Oslo.",
    "Congratulations! Which hospital?",
    "Ullevål, in the children's ward.",
    "They are lucky to have you.",
)
CAT = {"topic": "Miso the cat", "start": 1, "end": 4, "summary": "The User took in a cat, Miso."}
JOB = {
    "topic": "Nursing job in Oslo",
    "start": 5,
    "end": 8,
    "summary": "The User begins on Friday as a children's nurse at Ullevål in Oslo.",
}
GOOD = json.dumps({"memos": [CAT, JOB]})


async def write(
    answers: Sequence[Answer],
    *,
    turns: Sequence[Turn] = TALK,
    language: str = "en",
    window: int = 8192,
    max_lines: int = 20,
) -> tuple[MemosWritten, ScriptedModel]:
    """Write with a scripted model."""
    model = ScriptedModel(answers, window=window)
    writer = MemoWriter(model=model, max_lines=max_lines)
    ended = SessionToDigest(
        owner=Owner(tenant="acme", user="ana"),
        session=Session(number=1, started=NOW, last=NOW, ended=NOW),
        turns=tuple(turns),
        language=language,
        ask=partial(complete, model),
    )
    written = await writer.write(turns, to_digest=ended)
    return written, model


def covered(written: MemosWritten) -> list[str]:
    """The turns in memos, in order."""
    return [turn.id for draft in written.drafts for turn in draft.turns]


async def test_numbered_lines_become_memos_by_topic() -> None:
    """The paper's task: topic, range and summary of each stretch, under a schema and, where one is
    taken, the grammar of eight lines."""
    written, model = await write([GOOD])
    assert [(d.topic, len(d.turns), d.whole) for d in written.drafts] == [
        ("Miso the cat", 4, True),
        ("Nursing job in Oslo", 4, True),
    ]
    assert covered(written) == [turn.id for turn in TALK]
    (request,) = model.requests
    assert "1 User: I adopted a cat called Miso last week." in request.messages[-1].content
    assert "8 Assistant: They are lucky to have you." in request.messages[-1].content
    assert request.schema is not None
    assert request.grammar == grammar(8, 2)
    assert request.temperature == 0


@pytest.mark.parametrize(
    ("spans", "wanted"),
    [
        ([(1, 4), (5, 8)], [4, 4]),
        ([(1, 3), (6, 8)], [5, 3]),
        ([(2, 6), (5, 7)], [4, 4]),
        ([(5, 8), (1, 4)], [4, 4]),
        ([(1, 99), (8, 8)], [7, 1]),
        ([(3, 2), (3, 3)], [3, 5]),
    ],
)
async def test_wrong_ranges_are_mended(spans: list[tuple[int, int]], wanted: list[int]) -> None:
    """Gaps, overlaps, wrong order and lines that are not there: each line is in one memo."""
    memos = [
        {**memo, "start": first, "end": last}
        for memo, (first, last) in zip((CAT, JOB), spans, strict=True)
    ]
    written, _ = await write([json.dumps({"memos": memos})])
    assert [len(draft.turns) for draft in written.drafts] == wanted
    assert covered(written) == [turn.id for turn in TALK]


@pytest.mark.parametrize(
    "answer",
    [
        GOOD,
        f"Here are the memos:\n```json\n{GOOD}\n```\nI hope this helps!",
        json.dumps([CAT, JOB]),
        f"[{json.dumps(CAT)}, {json.dumps(JOB)},]",
        str([CAT, JOB]),
        "{'topic': 'Miso the cat', 'start': '1', 'end': '4', 'summary': 'The User's cat is Miso.'},"
        "{'topic': 'Nursing job in Oslo', 'start': 5, 'end': 8, 'summary': 'The User is a nurse.'}",
        f"{json.dumps(CAT)}\n{json.dumps(JOB)}",
        'topic: "Miso the cat", start: 1, end: 4, summary: "The User has a cat."\n'
        'topic: "Nursing job in Oslo", start: line 5, end: line 8, summary: "The User nurses."',
        f'{{"memos": [{json.dumps(CAT)}, {json.dumps(JOB)}, {{"topic": "Thi',
    ],
)
def test_memos_are_read_out_of_whatever_surrounds_them(answer: str) -> None:
    """Fences, prose, Python's quotes, trailing commas, one object a line, a broken end."""
    entries = read_entries(answer)
    assert [entry.topic for entry in entries] == ["Miso the cat", "Nursing job in Oslo"]
    assert [entry.span.first for entry in entries] == [1, 5]


@pytest.mark.parametrize(
    "answer", ["", "No memos today.", "[]", "{}", "null", '{"memos": [{"topic": "x"}]}', "[[[[[["]
)
def test_what_holds_no_memo_is_a_bad_reply(answer: str) -> None:
    """Never an empty list that could be taken for an answer."""
    with pytest.raises(BadReply, match="wanted memos with topic"):
        read_entries(answer)


_JSONISH = st.text(alphabet="{}[]\",:'\\ topicsumarynde0123456789\n", max_size=200)


@given(st.one_of(st.text(max_size=300), _JSONISH))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Arbitrary text raises nothing but `BadReply`."""
    for read in (read_entries, partial(read_choice, count=5)):
        try:
            read(text)
        except BadReply:
            continue


@given(
    st.lists(st.tuples(st.integers(-9, 99), st.integers(-9, 99)), min_size=1, max_size=9),
    st.integers(1, 30),
)
async def test_every_line_is_in_one_memo_whatever_the_ranges(
    pairs: list[tuple[int, int]], count: int
) -> None:
    """Mended ranges cover the dialogue, in order."""
    turns = talk(*(f"Thing number {n} happened to aunt {n}." for n in range(count)))
    memos = [
        {"topic": f"Topic {a}", "start": a, "end": b, "summary": f"Aunt {i * 7} and {i} met."}
        for i, (a, b) in enumerate(pairs)
    ]
    answer = json.dumps({"memos": memos})
    written, _ = await write([answer] * 9, turns=turns, max_lines=30)
    assert covered(written) == [turn.id for turn in turns]


@pytest.mark.parametrize(
    ("bad", "flaw"),
    [
        ("", "no facts"),
        ("I'm afraid I can't do that.", "form that was asked"),
        ('{"memos": {"topic": 7}}', "form that was asked"),
        (
            json.dumps([{**CAT, "summary": "用户收养了一只叫味噌的猫，它整天睡在电脑上。"}]),
            "not in English",
        ),
        (
            json.dumps([{**CAT, "summary": TALK[0].text}, {**JOB, "summary": TALK[4].text}]),
            "copied",
        ),
        (
            json.dumps(
                [
                    {**CAT, "summary": "The User has a cat, laptop, job, hospital, ward and Oslo."},
                    {
                        **JOB,
                        "summary": "The User has a laptop, hospital, cat, job, Oslo, week, ward.",
                    },
                ]
            ),
            "same thing several times",
        ),
    ],
)
async def test_a_bad_answer_is_asked_for_again_with_what_was_wrong(bad: str, flaw: str) -> None:
    """The second try is told why; the first answer is kept aside."""
    written, model = await write([bad, GOOD])
    assert len(written.drafts) == 2
    assert flaw in model.requests[1].messages[-1].content
    (rejected,) = written.rejected
    assert rejected.text == bad


@pytest.mark.parametrize("bad", ["", "Sorry, no.", "[]", "用户有一只猫。", json.dumps(CAT)[:30]])
async def test_a_dialogue_that_gets_no_memo_is_kept_as_it_was_said(bad: str) -> None:
    """After the last try its own words are the memo, marked as not whole."""
    written, model = await write([bad] * 3)
    assert len(model.requests) == 3
    (draft,) = written.drafts
    assert not draft.whole
    assert draft.topic == ""
    assert "User: I adopted a cat called Miso last week." in draft.summary
    assert covered(written) == [turn.id for turn in TALK]
    assert len(written.rejected) == 3


async def test_of_an_answer_that_keeps_breaking_off_the_whole_memos_are_saved() -> None:
    """The first memo is complete; the lines after it are kept as they were said."""
    cut = Completion(
        text=json.dumps({"memos": [CAT, JOB]})[:-60],
        prompt_tokens=1,
        completion_tokens=9,
        seconds=0,
        finish="length",
    )
    written, model = await write([cut, cut, cut])
    assert "broke off" in model.requests[1].messages[-1].content
    assert [(draft.topic, draft.whole) for draft in written.drafts] == [
        ("Miso the cat", True),
        ("", False),
    ]
    assert "Ullevål" in written.drafts[1].summary
    assert covered(written) == [turn.id for turn in TALK]


@pytest.mark.parametrize("error", [ModelUnavailable("HTTP 500"), ModelStalled("no token in 120 s")])
async def test_a_model_that_cannot_be_had_is_not_a_bad_answer(error: Exception) -> None:
    """The error goes to whoever schedules the work, who tries again later."""
    with pytest.raises(type(error)):
        await write([error])


async def test_a_long_dialogue_is_written_in_parts() -> None:
    """Every line is in exactly one prompt, and the parts are of about the same length."""
    turns = talk(*(f"Fact {n}: my {n}th cousin lives in house {n}." for n in range(45)))
    answers: list[Answer] = [
        json.dumps({"memos": [{**CAT, "summary": f"The User has cousins, part {n}."}]})
        for n in range(3)
    ]
    written, model = await write(answers, turns=turns)
    assert len(model.requests) == 3
    prompts = [request.messages[-1].content for request in model.requests]
    assert [prompt.count("cousin lives") for prompt in prompts] == [15, 15, 15]
    assert covered(written) == [turn.id for turn in turns]


async def test_a_dialogue_beyond_the_window_is_written_in_parts_that_fit() -> None:
    """Even a single enormous turn is read to its end and belongs to a memo."""
    turns = talk(" ".join(f"Word{n} stands in the garden." for n in range(800)), "I see.")
    summary = {"memos": [{**CAT, "summary": "The User names words that stand in the garden."}]}
    written, model = await write([json.dumps(summary)] * 40, turns=turns, window=4000)
    assert len(model.requests) > 3
    read = " ".join(request.messages[-1].content for request in model.requests)
    assert all(f"Word{n} " in read for n in range(800))
    assert {turn.id for draft in written.drafts for turn in draft.turns} == {"t1", "t2"}


async def test_a_prompt_that_did_not_fit_after_all_is_halved() -> None:
    """Where the count was an estimate, the model's refusal decides."""
    half = json.dumps({"memos": [{**CAT, "end": 4}]})
    other = json.dumps({"memos": [{**JOB, "start": 1, "end": 4}]})
    written, model = await write([ContextTooLong("8 lines are too many"), half, other])
    assert len(model.requests) == 3
    assert [draft.topic for draft in written.drafts] == ["Miso the cat", "Nursing job in Oslo"]
    assert covered(written) == [turn.id for turn in TALK]


async def test_memos_are_asked_for_in_the_users_language() -> None:
    """A Japanese dialogue gets a Japanese prompt."""
    turns = talk("猫を飼い始めました。名前はミソです。", "可愛い名前ですね。", language="ja")
    memo = {
        "topic": "猫のミソ",
        "start": 1,
        "end": 2,
        "summary": "ユーザーは猫のミソを飼い始めた。",
    }
    written, model = await write(
        [json.dumps({"memos": [memo]}, ensure_ascii=False)], turns=turns, language="ja"
    )
    assert written.drafts[0].topic == "猫のミソ"
    assert "1 ユーザー: 猫を飼い始めました。" in model.requests[0].messages[-1].content


@pytest.mark.parametrize(
    ("answer", "chosen"),
    [
        ('{"numbers": [2, 1]}', (2, 1)),
        ("2#3", (2, 3)),
        ("```json\n[3]\n```", (3,)),
        ("Memos 1 and 3 are related.", (1, 3)),
        ('{"numbers": [0]}', ()),
        ("NOTO", ()),
        ("noto.", ()),
        ("2, 9, 2", (2,)),
    ],
)
def test_choices_are_read_leniently(answer: str, chosen: tuple[int, ...]) -> None:
    """JSON, the paper's 2#3, prose; NOTO and 0 are none."""
    assert read_choice(answer, count=5) == chosen


@pytest.mark.parametrize("answer", ["", "I don't know", "9", "3.14", "2026"])
def test_a_choice_that_names_no_memo_is_a_bad_reply(answer: str) -> None:
    """Numbers that are not on the list are not a choice."""
    with pytest.raises(BadReply, match="wanted numbers from 0 to 5"):
        read_choice(answer, count=5)
