"""Data sets: each is read from a small fixture in its own form, and what is wrong is named."""

from __future__ import annotations

import gzip
import json
from datetime import timedelta
from pathlib import Path

import pytest

from omoide.domain import Span
from omoide.errors import BadData, BadInput, DownloadFailed
from omoide_bench import corpora
from omoide_bench.data import (
    SOURCES,
    carecall,
    dialogsum,
    dulemon,
    japanese_daily_dialogue,
    locomo,
    longmemeval,
    memochat,
    memorybank,
    msc,
    msc_questions,
    real_persona_chat,
    synthetic_persona_chat,
)
from omoide_bench.data.shapes import FIRST_DAY

FIXTURES = Path(__file__).parents[1] / "fixtures"


def test_questions_from_the_annotations_of_msc() -> None:
    """A sentence of a known form becomes a question to the one whose fact it is, if its answer was
    said in one turn only, and says no more than was asked."""
    asked = {
        (dialogue.id, question.text): question
        for dialogue in msc_questions.load(FIXTURES)
        for question in dialogue.questions
    }
    assert {key: question.answer for key, question in asked.items()} == {
        ("test_0", "What are you afraid of?"): "heights",
        ("test_1", "What is my sister's name?"): "Lea",
    }
    sister = asked["test_1", "What is my sister's name?"]
    assert (sister.evidence, sister.category) == (frozenset({"s3.1"}), "told in session 3")


def test_what_was_noted_twice_or_said_twice_is_not_asked(tmp_path: Path) -> None:
    """Two answers to one question, and an answer that two turns have, make no question."""
    said = ["I live in Bonn.", "I work at a zoo, near the lake.", "The zoo pays badly."]
    notes = ["I live in Bonn.", "I live in Rome.", "I work at a zoo.", "I live near the lake."]
    turns = [{"speaker": "Speaker 1", "text": text} for text in said]
    turns.insert(1, {"speaker": "Speaker 2", "text": "I see."})
    session = {"session": 1, "turns": turns, "gold_persona_summary": [notes, []]}
    record = {"id": "one", "init_personas": [[], []], "sessions": [session]}
    (tmp_path / "test.jsonl").write_text(json.dumps(record), encoding="utf-8")
    [dialogue] = msc_questions.load(tmp_path)
    assert [(q.text, q.answer) for q in dialogue.questions] == [
        ("What do I live near?", "the lake")
    ]


def test_msc() -> None:
    """Sessions, gaps, gold notes and the missing last turn; gaps that are unknown are a day."""
    one, other = msc.load(FIXTURES)
    assert [session.number for session in one.sessions] == [1, 2, 3, 4, 5]
    assert one.sessions[0].start == FIRST_DAY
    gaps = [
        after.start - before.lines[-1].time
        for before, after in zip(one.sessions, one.sessions[1:], strict=False)
    ]
    assert gaps == [
        timedelta(hours=5),
        timedelta(days=3),
        timedelta(days=1),
        timedelta(days=1),
    ]
    assert one.facts(2)[0] == (
        "I keep bees.",
        "I have a brother named Per in Oslo.",
        "I sold ten jars of honey.",
    )
    assert [session.whole for session in one.sessions] == [True] * 4 + [False]
    assert one.sessions[4].facts == ()
    assert len({line.id for line in one.lines}) == len(one.lines)
    assert one.sessions[4].replies("Speaker 2") == (1, 3)
    assert other.sessions[3].replies("Speaker 2") == (2,), "what opens a session answers nothing"
    assert other.sessions[4].lines[0].speaker == "Speaker 1", "two turns under one name are a slip"
    assert not one.dated
    assert len(msc.load(FIXTURES, limit=1)) == 1


def test_msc_as_parlai_has_it() -> None:
    """The folder-a-session form gives the same shapes."""
    [dialogue] = msc.load(FIXTURES / "msc_parlai", "valid")
    assert dialogue.id == "valid_7"
    assert [len(session.lines) for session in dialogue.sessions] == [2, 2]
    assert dialogue.sessions[0].facts == (("I keep bees.",), ("I drive a tram.",))
    assert dialogue.sessions[1].start - dialogue.sessions[0].lines[-1].time == timedelta(hours=5)
    with pytest.raises(BadInput, match=r"train\.txt"):
        msc.load(FIXTURES / "msc_parlai", "train")


def test_carecall() -> None:
    """Memory before, summary after; ten days between calls; Korean and its translation."""
    [episode] = carecall.load(FIXTURES)
    assert episode.id == "interactive-7"
    assert episode.language == "ko"
    first, second = episode.sessions
    assert first.facts == (("무릎이 아프심", "병원에 갈 예정"), ())
    assert second.memory == first.facts[0]
    assert second.start - first.lines[-1].time == timedelta(days=10)
    [english] = carecall.load(FIXTURES, "en")
    assert english.lines[1].text == "My knee hurts these days."
    assert english.sessions[0].replies("system") == (2,)


def test_locomo_in_the_shared_shape() -> None:
    """All questions come along by category, with answers where there are any."""
    [dialogue] = locomo.load(FIXTURES)
    assert [(q.category, q.answer) for q in dialogue.questions] == [
        ("temporal", "7 May 2023"),
        ("multi-hop", "a parrot, two cats"),
        ("open", "Likely yes; she bought a kayak"),
        ("single-hop", "Captain"),
        ("temporal", "2022"),
        ("adversarial", None),
    ]
    assert dialogue.questions[-1].wrong == "a green kayak"
    assert [session.number for session in dialogue.sessions] == [1, 2]
    [conversation] = corpora.locomo.load(FIXTURES)
    assert conversation.lines == dialogue.lines
    assert len(conversation.questions) == 4, "one has no evidence, one no answer"


def test_longmemeval() -> None:
    """Sessions are put in the order of their dates; evidence is by line."""
    one, absent = longmemeval.load(FIXTURES)
    assert [session.start.day for session in one.sessions] == [20, 22]
    [line] = [line for line in one.lines if line.id in one.questions[0].evidence]
    assert line.text == "I bought a cello last week."
    assert not longmemeval.unanswerable(one.questions[0])
    assert longmemeval.unanswerable(absent.questions[0])


def test_mtbench_plus() -> None:
    """The last question knows which earlier turns it is about, of two stretches if it joins two."""
    back, on, both = memochat.load_mtbench_plus(FIXTURES)
    assert back.kind == "retrospection"
    assert back.evidence == {0, 1}
    assert on.evidence == {0}
    assert both.evidence == {0, 1}
    assert back.question == "Which red bird did you name?"
    assert back.at(3) - back.at(0) == timedelta(minutes=3)


def test_memochat_instructions() -> None:
    """Writing, choosing and chatting, of both splits, as values rather than text."""
    writing, choosing, chatting, bare = memochat.load_instructions(FIXTURES)
    assert isinstance(writing, memochat.WritingInstruction)
    assert writing.lines[3] == ("bot", "Only on Fridays.")
    assert [topic.span for topic in writing.topics] == [
        Span(first=1, last=2),
        Span(first=3, last=4),
    ]
    assert isinstance(choosing, memochat.ChoiceInstruction)
    assert choosing.query == "Taxi! Where to?"
    assert choosing.options[1] == "NOTO. None of the others."
    assert choosing.right == {1}
    assert isinstance(chatting, memochat.ChatInstruction)
    assert chatting.reply == "To the station."
    assert isinstance(bare, memochat.WritingInstruction)
    assert bare.topics[0].summary == ""
    assert len(memochat.load_instructions(FIXTURES, "train")) == 2


def test_memorybank() -> None:
    """Days in order, both speakers, names without the spaces around them, and the questions."""
    [mira] = memorybank.load(FIXTURES)
    assert mira.id == "Mira"
    assert [session.start.isoformat()[:13] for session in mira.sessions] == [
        "2023-04-27T12",
        "2023-04-28T12",
    ]
    assert [line.speaker for line in mira.sessions[0].lines] == ["Mira", "AI"] * 2
    assert mira.questions[0].text == "Where is my workshop?"
    assert mira.questions[0].answer is None
    assert not mira.questions[0].evidence, "those whose turns were labelled are others"
    [known] = memorybank.load(FIXTURES, labels="0.1u -")
    assert [len(question.evidence) for question in known.questions] == [1, 0]
    [line] = [line for line in known.lines if line.id in known.questions[0].evidence]
    assert line.text == "My workshop is in Turku."
    [chinese] = memorybank.load(FIXTURES, "zh")
    assert chinese.language == "zh"


def test_dialogsum() -> None:
    """One summary in training, three in the test part; the hub's table too."""
    [dialogue] = dialogsum.load(FIXTURES, "train")
    assert dialogue.topic == "late ferry"
    assert [line.speaker for line in dialogue.lines] == ["#Person1#", "#Person2#", "#Person1#"]
    [test] = dialogsum.load(FIXTURES, "test")
    assert len(test.summaries) == 3
    assert test.speakers == ("#Person1#", "#Person2#")
    [table] = dialogsum.load(FIXTURES, "dev")
    assert (table.id, table.topic, len(table.lines)) == ("dev_7", "umbrella", 2)


def test_japanese_daily_dialogue() -> None:
    """Topics that are asked for, in order."""
    one, other = japanese_daily_dialogue.load(FIXTURES, (1, 3))
    assert (one.id, one.topic, len(one.lines)) == ("1-7", "Dailylife", 3)
    assert other.lines[1].text == "枕があると楽ですよ。"


def test_real_persona_chat() -> None:
    """Conversations of a pair are its sessions, by their real times; a missing time is filled."""
    [pair] = real_persona_chat.load(FIXTURES)
    assert [session.start.day for session in pair.sessions] == [13, 17]
    first, second = pair.sessions
    assert first.lines[1].time - first.lines[0].time == timedelta(seconds=30)
    assert second.lines[1].time - second.lines[0].time == timedelta(seconds=30)
    assert pair.dated


def test_synthetic_persona_chat() -> None:
    """Lines without a speaker go on with the one above; asterisks are not part of a name."""
    one, other = synthetic_persona_chat.load(FIXTURES)
    assert one.personas == (("I tune pianos.", "I have a twin."), ("I grow leeks.",))
    assert one.lines[1].text == "I grow leeks.\nHere is how:\nwater them."
    assert [(line.speaker, line.text) for line in other.lines] == [
        ("User 1", "I knit."),
        ("User 2", "I sail."),
    ]


def test_synthetic_persona_chat_without_speakers(tmp_path: Path) -> None:
    """Where no line names a speaker they take turns; an empty conversation is left out."""
    head = "user 1 personas,user 2 personas,Best Generated Conversation\n"
    file = tmp_path / "synthetic-persona-chat_test.csv"
    file.write_text(head + 'I knit.,I sail.,""\nI knit.,I sail.,"I knit.\n\nI sail."\n')
    [dialogue] = synthetic_persona_chat.load(tmp_path)
    assert [line.speaker for line in dialogue.lines] == ["User 1", "User 2"]
    assert dialogue.id == "test_1"


def test_dulemon() -> None:
    """Words are joined, facts have their labels, and lines say which facts they rest on."""
    [told] = dulemon.load(FIXTURES)
    assert told.dialogue.lines[0].text == "猫又打架了"
    assert told.facts["U2"] == "我在IT公司工作"
    assert told.grounds["s1.2"] == ("U1",)
    assert told.dialogue.personas[1] == ("我喜欢下棋",)


def test_a_packed_file_is_read_too(tmp_path: Path) -> None:
    """A folder of its own with the file gzipped, as data sets are often kept."""
    text = (FIXTURES / "msc" / "test.jsonl").read_bytes()
    (tmp_path / "test.jsonl.gz").write_bytes(gzip.compress(text))
    assert msc.load(tmp_path) == msc.load(FIXTURES)


WRONG = [
    (
        msc,
        "test.jsonl",
        '{"id": "a", "sessions": []}\n',
        "line 1: wanted the field 'init_personas'",
    ),
    (msc, "test.jsonl", "\n{not json}\n", "line 2: not JSON"),
    (msc, "test.jsonl", '{"id": "a", "sessions": [{"session": "x"}]}\n', "wanted a whole number"),
    (
        dialogsum,
        "test.jsonl",
        '{"fname": "a", "dialogue": "Hi"}\n',
        "line 1, dialogue: wanted lines",
    ),
    (carecall, "carecall-memory.json", '[[{"guid": "x"}]]', "guid: wanted a name such as"),
    (locomo, "locomo10.json", "[\n[1,\n]", "line 3: not JSON"),
    (real_persona_chat, "multi_day_pairs.jsonl", '{"pair": [1]}', "line 1, pair"),
    (synthetic_persona_chat, "synthetic-persona-chat_test.csv", "a,b\n1,2\n", "line 1: wanted the"),
    (dulemon, "samples.json", '{"user_said_persona": ["x"]}', "wanted a fact"),
    (longmemeval, "longmemeval_s.json", '[{"haystack_dates": ["May"]}]', "wanted a date such as"),
]


@pytest.mark.parametrize(("module", "file", "text", "why"), WRONG)
def test_a_wrong_record_is_named(
    tmp_path: Path, module: object, file: str, text: str, why: str
) -> None:
    """The error says which file, which line or record, what was wanted and what came."""
    (tmp_path / file).write_text(text)
    with pytest.raises(BadData, match=file.replace(".", r"\.")) as caught:
        module.load(tmp_path)  # type: ignore[attr-defined]
    assert why in str(caught.value)


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    """A folder without the file names the file and where the data set is published."""
    for module in (msc, locomo, longmemeval, memorybank, dialogsum):
        with pytest.raises(BadInput, match="published at https"):
            module.load(tmp_path)
    for module, wrong in ((msc, "tset"), (dialogsum, "tset"), (carecall, "fr"), (memorybank, "fr")):
        with pytest.raises(BadInput, match=wrong):
            module.load(tmp_path, wrong)


def test_every_set_has_a_licence_to_show() -> None:
    """What a person must know is in one notice."""
    assert len(SOURCES) == 15
    for name, source in SOURCES.items():
        assert source.name == name
        assert source.licence in source.notice()
        assert source.page.startswith("https://")


def test_without_a_folder_the_hub_is_asked(tmp_path: Path) -> None:
    """By the official name of the set and its file; a set that is not there says so."""
    asked = []

    def fetch(repository: str, file: str) -> str:
        asked.append((repository, file))
        return str(tmp_path / "here")

    found = longmemeval.SOURCE.find(None, "longmemeval_s.json", fetch=fetch)
    assert found == tmp_path / "here"
    assert asked == [("xiaowu0162/longmemeval", "longmemeval_s")]
    with pytest.raises(DownloadFailed, match="--data"):
        msc.load(None)


def test_fixtures_are_whole_json() -> None:
    """The fixtures themselves are in the form they stand for."""
    for path in FIXTURES.rglob("*.json"):
        if path.parent.name != "dulemon":
            json.loads(path.read_text(encoding="utf-8"))
