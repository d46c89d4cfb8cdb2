"""Presets: each paper's settings, numbers and prompts under one name."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from omoide.domain.forgetting import THRESHOLD, UNIT, recall_probability, recency, retention
from omoide.errors import BadInput
from omoide.language import LANGUAGES, pack, split_sentences
from omoide.mechanisms.baselines.generative_agents import ENOUGH, LOOKED_AT
from omoide.mechanisms.baselines.generative_agents_answers import INSIGHTS, ratings_schema
from omoide.mechanisms.baselines.generative_agents_scoring import PAPER as AGENT_WEIGHTS
from omoide.mechanisms.memos.mechanism import MemoTrigger
from omoide.mechanisms.parts import recall_settings
from omoide.mechanisms.registry import MECHANISMS
from omoide.presets import DEFAULT, PRESETS
from omoide.settings import Settings

if TYPE_CHECKING:
    from omoide.presets import Preset

PAGE = (Path(__file__).parents[2] / "docs/presets.md").read_text(encoding="utf-8")
PAPERS = [preset for preset in PRESETS.values() if preset.name != DEFAULT]


def ids(preset: Preset) -> str:
    """Its name, as the id of a case."""
    return preset.name


@pytest.mark.parametrize("preset", PRESETS.values(), ids=ids)
def test_a_preset_names_settings_mechanisms_and_prompts_that_exist(preset: Preset) -> None:
    """Every field, mechanism and prompt is there, in all five languages."""
    assert preset.settings.keys() <= {f.name for f in fields(Settings)}
    settings = Settings.of(preset.name)
    assert set(settings.mechanisms) <= set(MECHANISMS)
    assert settings.preset == preset.name
    for language in LANGUAGES:
        assert set(preset.prompts) <= set(pack(language).prompts())


@pytest.mark.parametrize("preset", PRESETS.values(), ids=ids)
def test_the_page_tells_what_the_code_does(preset: Preset) -> None:
    """Settings, numbers and departures stand in docs/presets.md under the preset's name."""
    section = PAGE.split(f"\n## {preset.name}\n", 1)[1].split("\n## ", 1)[0]
    assert preset.about in section
    for variable in preset.variables:
        assert f"\n{variable}\n" in section
    for number in preset.numbers:
        assert f"| {number.what} | {number.value} | {number.where} |" in section
    several = PAGE.split("\n## Departures that several have\n", 1)[1].split("\n## ", 1)[0]
    for departure in preset.departures:
        row = f"| {departure.what} | {departure.why} |"
        [shown] = [line for line in (section + several).splitlines() if line.startswith(row)]
        assert shown == row or f"`{preset.name}`" in shown or shown.endswith("| all papers |")


def test_the_page_lists_the_presets_and_no_others() -> None:
    """In the order of the code."""
    headings = re.findall(r"^## (.+)$", PAGE, flags=re.MULTILINE)
    assert headings == ["Departures that several have", *PRESETS]


@pytest.mark.parametrize("preset", PAPERS, ids=ids)
def test_a_papers_preset_flags_and_writes_for_itself(preset: Preset) -> None:
    """No guard of ours refuses in it, no fact is written, and it says where it departs."""
    settings = Settings.of(preset.name)
    assert (settings.guards, settings.effective_writer) == ("flag", "separate")
    assert preset.departures
    assert all(departure.what and departure.why for departure in preset.departures)


def test_the_default_is_ours() -> None:
    """Naming it changes nothing."""
    assert Settings.of("omoide") == Settings(preset="omoide") == Settings()


def test_what_is_set_beside_a_preset_counts_more() -> None:
    """In the environment, by name and in a copy, also where it says the default."""
    by_variable = Settings.read({"OMOIDE_PRESET": "hou2024", "OMOIDE_EVENT_ITEMS": "3"})
    assert (by_variable.event_items, by_variable.event_fading) == (3, 1.1e7)
    assert Settings.of("hou2024", event_items=3).event_items == 3
    assert replace(Settings(preset="hou2024"), event_items=3).event_items == 3
    assert Settings(preset="hou2024", event_threshold=0.5).event_threshold == 0.5
    given = Settings.read({"OMOIDE_PRESET": "hou2024"}, preset="wang2023")
    assert (given.preset, given.mechanisms, given.event_items) == ("wang2023", ("summary",), 3)


def test_another_preset_takes_the_place_of_the_first() -> None:
    """Nothing of the first is left, except what was set by hand."""
    first = Settings.of("taniguchi2025", user="ana", compression_percent=50)
    second = first.changed(preset="wang2023")
    assert second == Settings.of("wang2023", user="ana", compression_percent=50)
    assert first.changed(preset="omoide", compression_percent=25) == Settings(user="ana")


def test_an_unknown_preset_is_refused_with_the_names() -> None:
    """Wherever it is named."""
    wanted = r"no preset 'wang2024'; choose from omoide, wang2023"
    with pytest.raises(BadInput, match=wanted):
        Settings(preset="wang2024")
    with pytest.raises(BadInput, match=wanted):
        Settings.of("wang2024")
    with pytest.raises(BadInput, match=wanted):
        Settings.read({"OMOIDE_PRESET": "wang2024"})


def number(preset: str, what: str) -> float:
    """The value of a number as the preset states it."""
    (found,) = [n.value for n in PRESETS[preset].numbers if n.what == what]
    return float(found)


def steps(prompt: str, language: str) -> int:
    """How many numbered steps a prompt has."""
    return len(re.findall(r"^\d+\.", pack(language).prompt(prompt) or "", flags=re.MULTILINE))


@pytest.mark.parametrize("language", LANGUAGES)
def test_wang2023_has_the_papers_steps(language: str) -> None:
    """Four for the memory with its limit of sentences, five for the reply (Tables 1 and 2)."""
    assert steps("memory_paper", language) == number("wang2023", "steps of the memory prompt")
    assert steps("reply_paper", language) == number("wang2023", "steps of the reply prompt")
    asked = pack(language).prompt("memory_paper") or ""
    for variable in ("$limit", "$memory", "$session"):
        assert variable in asked
    limit = number("wang2023", "sentences of a memory, at most")
    assert Settings.of("wang2023").max_sentences == limit == 20


TABLE_1 = [
    (0.776, 434_700, 5.102, 0.850),
    (0.745, 148_800, 5.229, 0.830),
    (0.757, 331_500, 5.028, 0.836),
    (0.756, 55_800, 1.000, 0.836),
]


@pytest.mark.parametrize(("r", "t", "g", "p"), TABLE_1)
def test_hou2024_gives_table_1(r: float, t: float, g: float, p: float) -> None:
    """With the preset's unit of time, to the third decimal within the rounding of r and g."""
    knobs = recall_settings(Settings.of("hou2024"))
    found = recall_probability(
        relevance=r, elapsed=timedelta(seconds=t), consolidation=g, unit=knobs.unit
    )
    assert found == pytest.approx(p, abs=0.0011)
    assert found <= knobs.threshold


def test_our_own_unit_does_not_give_table_1() -> None:
    """So the paper's preset needs its own: the first row is off in the second decimal."""
    r, t, g, p = TABLE_1[0]
    knobs = recall_settings(Settings())
    found = recall_probability(
        relevance=r, elapsed=timedelta(seconds=t), consolidation=g, unit=knobs.unit
    )
    assert abs(found - p) > 0.0011


def test_hou2024_has_the_papers_numbers() -> None:
    """The threshold, one event, the unit, no emotion, nothing retired, labels shown."""
    knobs = recall_settings(Settings.of("hou2024"))
    assert knobs.threshold == number("hou2024", "threshold k") == THRESHOLD == 0.86
    assert knobs.most == number("hou2024", "events in a prompt, at most") == 1
    seconds = number("hou2024", "unit of time, in seconds")
    assert knobs.unit == knobs.spacing == UNIT == timedelta(seconds=seconds)
    assert (knobs.feeling, knobs.retires, knobs.labels) == (0.0, False, True)


def test_ours_keeps_what_was_learnt() -> None:
    """Without a preset the settings are those that recall had before they could be set."""
    from omoide.mechanisms.events.scoring import RecallSettings

    assert recall_settings(Settings()) == RecallSettings()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("event_fading", 0),
        ("event_spacing", -1.0),
        ("event_threshold", 1.5),
        ("event_items", -1),
        ("event_emotion", -0.1),
        ("event_relevance", "guessed"),
    ],
)
def test_an_impossible_recall_setting_is_refused(name: str, value: object) -> None:
    """With the setting's name in the message."""
    with pytest.raises(BadInput, match=name.replace("event_relevance", "event relevance")):
        recall_settings(Settings().changed(**{name: value}))


def test_taniguchi2025_has_the_papers_numbers() -> None:
    """A window of 4k, a quarter of the particles dropped, two turns kept."""
    settings = Settings.of("taniguchi2025")
    assert settings.window == number("taniguchi2025", "context window, in tokens") == 4096
    share = number("taniguchi2025", "particles and auxiliaries dropped, in percent")
    assert (settings.compression, settings.compression_percent) == ("function-words", share)
    for name in ("taniguchi2025", "memochat"):
        assert MemoTrigger().recent == number(name, "turns that stay in the prompt, at least")
        length = number(name, "tokens of dialogue after which memos are written")
        assert MemoTrigger().tokens == length


def test_memorybank_has_the_papers_numbers() -> None:
    """A new memory is at 1/e after one day, and at a slower e^(-1/2) once recalled."""
    first = number("memorybank", "strength of a new memory, S")
    more = number("memorybank", "strength added by a recall")
    day = timedelta(days=number("memorybank", "unit of time, in days"))
    assert retention(elapsed=day, strength=first) == pytest.approx(0.3679, abs=1e-4)
    assert retention(elapsed=day, strength=first + more) == pytest.approx(0.6065, abs=1e-4)


def test_generative_agents_has_the_papers_numbers() -> None:
    """Decay, weights, importance from 1 to 10, reflection above 150."""
    name = "generative-agents"
    assert recency(elapsed=timedelta(hours=1)) == number(name, "decay an hour") == 0.995
    weights = (AGENT_WEIGHTS.recency, AGENT_WEIGHTS.importance, AGENT_WEIGHTS.relevance)
    assert set(weights) == {number(name, "weight of each factor")}
    assert number(name, "importance above which it reflects") == ENOUGH == 150
    assert number(name, "latest memories that it reflects on") == LOOKED_AT
    assert number(name, "insights of a reflection, at most") == INSIGHTS
    rating = str(ratings_schema(1))
    for which in ("from", "to"):
        assert f": {number(name, f'importance, {which}'):.0f}" in rating


def test_ours_says_in_two_sentences_what_it_takes_and_changes() -> None:
    """The first names each of the three papers, the second begins with what is changed."""
    took, changed = split_sentences(PRESETS[DEFAULT].about.replace("et al.", "et al"))
    for paper in ("wang2023", "hou2024", "taniguchi2025"):
        assert PRESETS[paper].paper.split(",")[0].split("20")[0].replace("et al.", "et al") in took
    assert changed.startswith("It changes ")
