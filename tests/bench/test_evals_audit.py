"""The error audit of memories: worked examples, and agreement with labels made by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from omoide_bench.agreement import agreement
from omoide_bench.data.shapes import FIRST_DAY, DatasetLine, timed
from omoide_bench.metrics.auditing import Fault, audit, audit_rates, numbers, statements

FIXTURE = Path(__file__).parents[1] / "fixtures" / "audit" / "synthetic_persona_chat.jsonl"


def said(*texts: str) -> tuple[DatasetLine, ...]:
    """Lines of Ann and Bo by turns."""
    return timed(
        [(("Ann", "Bo")[n % 2], text) for n, text in enumerate(texts)], session=1, start=FIRST_DAY
    )


TALK = said(
    "I keep bees behind my house. Do you have pets?",
    "Yes, two cats. I don't like dogs.",
    "My brother Per lives in Oslo, so I go there in August.",
    "I used to drive a tram. You are a good sister!",
    "I want to be a pilot, and what do you do now?",
    "I bake bread. I love baking with rye.",
    "Me too! How long have you done it?",
    "For 7 years.",
)


@pytest.mark.parametrize(
    ("about", "sentence", "fault"),
    [
        ("Ann", "Ann keeps bees.", Fault.SOUND),
        ("Ann", "Ann owns a castle.", Fault.FABRICATED),
        ("Bo", "Bo keeps bees.", Fault.RELATION),
        ("Bo", "Bo has two cats.", Fault.SOUND),
        ("Bo", "Bo has three cats.", Fault.FABRICATED),
        ("Bo", "Bo has cats.", Fault.MISSING),
        ("Bo", "Bo likes dogs.", Fault.MISSING),
        ("Bo", "Bo does not like dogs.", Fault.SOUND),
        ("Ann", "Ann's brother Per lives in Oslo.", Fault.SOUND),
        ("Ann", "Ann's brother lives abroad.", Fault.MISSING),
        ("Bo", "Bo drives a tram.", Fault.MISSING),
        ("Bo", "Bo used to drive a tram.", Fault.SOUND),
        ("Ann", "Ann is a good sister.", Fault.SOUND),
        ("Bo", "Bo is a good sister.", Fault.RELATION),
        ("Ann", "Ann wants to be a pilot.", Fault.SOUND),
        ("Ann", "Ann is a pilot.", Fault.MISSING),
        ("Ann", "Ann loves baking with rye.", Fault.SOUND),
        ("Bo", "Bo has baked for 7 years.", Fault.SOUND),
        ("Ann", "Ann keeps bees and owns a castle.", Fault.FABRICATED),
    ],
)
def test_worked_examples(about: str, sentence: str, fault: Fault) -> None:
    """Each fault, and what only looks like one."""
    assert audit(sentence, about=about, lines=TALK).fault is fault


@pytest.mark.parametrize(
    ("sentence", "fault"),
    [
        ("Ann will visit Per in Oslo on 10 January 2026.", Fault.SOUND),
        ("Ann will visit Per in Oslo on Saturday.", Fault.SOUND),
        ("Ann will visit Per in Oslo on 11 January 2026.", Fault.FABRICATED),
        ("Ann will visit Per in Oslo in 2027.", Fault.FABRICATED),
        ("Ann will visit Per in Oslo.", Fault.MISSING),
    ],
)
def test_a_relative_date_supports_the_day_that_it_was(sentence: str, fault: Fault) -> None:
    """Said on Monday, 5 January 2026; a memory has the absolute date."""
    talk = said("I will visit Per in Oslo on Saturday.", "Have fun!")
    assert audit(sentence, about="Ann", lines=talk).fault is fault


@pytest.mark.parametrize(
    ("language", "lines", "sound", "turned", "foreign"),
    [
        ("zh", ("我养了两只猫。", "我不喜欢狗。"), "我养了两只猫", "我喜欢狗", "住在北京"),
        (
            "ja",
            ("猫を二匹飼っています。", "犬は好きではない。"),
            "猫を二匹飼っている",
            "犬は好き",
            "北京に住む",
        ),
        (
            "ko",
            ("고양이 두 마리를 키워요.", "개는 좋아하지 않아요."),
            "고양이 두 마리를 키움",
            "개는 좋아함",
            "서울 거주",
        ),
        (
            "vi",
            ("Tôi nuôi hai con mèo.", "Tôi không thích chó."),
            "nuôi hai con mèo",
            "thích chó",
            "sống ở Huế",
        ),
    ],
)
def test_other_languages(
    language: str, lines: tuple[str, str], sound: str, turned: str, foreign: str
) -> None:
    """What was said, what was denied and what nobody said, in the other four languages."""
    talk = said(*lines)
    assert audit(sound, about="Ann", lines=talk, language=language).fault is Fault.SOUND
    assert audit(sound, about="Bo", lines=talk, language=language).fault is Fault.RELATION
    assert audit(turned, about="Bo", lines=talk, language=language).fault is Fault.MISSING
    assert audit(foreign, about="Bo", lines=talk, language=language).fault is Fault.FABRICATED


def test_statements_know_whom_they_tell_of() -> None:
    """Questions are left out unless they tell of the one who asks; "you" tells of the other."""
    told = {unit.text: unit.about for unit in statements(TALK, "en")}
    assert told["You are a good sister!"] == "Ann"
    assert told["I want to be a pilot, and what do you do now?"] == "Ann"
    assert "Do you have pets?" not in told


def test_nothing_was_said() -> None:
    """A memory of an empty dialogue is fabricated; rates of no sentences are 0."""
    found = audit("Ann keeps bees.", about="Ann", lines=())
    assert found.fault is Fault.FABRICATED
    assert found.line is None
    assert audit_rates([found, found])[Fault.FABRICATED] == 1
    assert audit_rates([])[Fault.SOUND] == 0
    assert numbers("twelve of 12") == {"12"}


def test_agreement_with_hand_labels() -> None:
    """On 75 sentences labelled by hand: 87 % of four labels (kappa 0.81), and 95 % of whether
    anything is wrong (kappa 0.89). Its rules were made with these in sight; on 61 sentences of
    real memories that were not, it was 82 % (0.63) and 89 % (0.74): see
    docs/experiments/*-measures.md."""
    found, labels = [], []
    for text in FIXTURE.read_text(encoding="utf-8").splitlines():
        record = json.loads(text)
        lines = timed([tuple(pair) for pair in record["lines"]], session=1, start=FIRST_DAY)
        for sentence in record["sentences"]:
            finding = audit(sentence["text"], about=sentence["about"], lines=lines)
            found.append(finding.fault.value)
            labels.append(sentence["label"])
    four = agreement(found, labels)
    assert four.count == 75
    assert four.accuracy >= 0.86
    assert four.kappa >= 0.8
    assert {name: label.count for name, label in four.labels.items()} == {
        "fabricated": 18,
        "missing": 11,
        "relation": 13,
        "sound": 33,
    }
    assert all(label.recall >= 0.6 for label in four.labels.values())
    wrong = agreement([f != "sound" for f in found], [label != "sound" for label in labels])
    assert wrong.accuracy >= 0.94
    assert wrong.kappa >= 0.88
