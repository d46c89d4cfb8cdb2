"""Golden tests of the papers' presets: every prompt that they send, and every number that the
papers print and that a formula or a setting of ours must give."""

from __future__ import annotations

import json
import math
import re
from datetime import timedelta
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from omoide.adapters.analysers import analyser_for
from omoide.domain.forgetting import consolidated, recall_probability
from omoide.language import LANGUAGES, pack
from omoide.mechanisms.baselines.generative_agents_scoring import ScoreTrace, agent_scores
from omoide.mechanisms.memos.compression import FunctionWordCompressor
from omoide.mechanisms.parts import recall_settings
from omoide.mechanisms.reply_forms import FORMS
from omoide.presets import PRESETS
from omoide.settings import Settings
from omoide_bench.judges.pairwise import ASPECTS, Better
from omoide_bench.judges.pairwise import SCHEMA as PAIR
from omoide_bench.judges.single import SCHEMA as SINGLE
from omoide_bench.methods import registry
from omoide_tune.mixture import PAPER, PAPER_TEST, PAPER_VALID
from omoide_tune.recipe import Recipe
from tests.bench.judge_requests import GOLDEN as JUDGES
from tests.bench.judge_requests import judged
from tests.lanes import some
from tests.unit.preset_requests import GOLDEN, PAPERS, golden

if TYPE_CHECKING:
    from collections.abc import Sequence

PROMPTS = files("omoide_bench") / "prompts"
TABLE_1 = {
    "A": (0.776, 434_700, 5.102, 0.850, 7, 1.489),
    "B": (0.745, 148_800, 5.229, 0.830, 2, 1.130),
    "C": (0.757, 331_500, 5.028, 0.836, 5, 1.292),
    "D": (0.756, 55_800, 1.000, 0.836, 5, 1.620),
}
"""Hou et al. 2024: r, t in seconds, g, p; importance and score of Generative Agents."""
TABLES_3_AND_4 = (
    (0.837, 3_037_912, 1.998, 0.772),
    (0.831, 3_232_645, 1.007, 0.726),
    (0.812, 2_590_652, 1.000, 0.737),
    (0.846, 34_854, 1.085, 0.903),
    (0.831, 33_749, 1.003, 0.847),
    (0.823, 33_763, 1.000, 0.841),
)
ROUNDING = 0.0011


def off(rows: Sequence[tuple[float, float, float, float]], unit: timedelta) -> float:
    """By how much the formula with this unit misses the worst of the rows."""
    return max(
        abs(
            recall_probability(
                relevance=r, elapsed=timedelta(seconds=t), consolidation=g, unit=unit
            )
            - p
        )
        for r, t, g, p in rows
    )


# Korean's analyser takes five seconds to load.
@pytest.mark.parametrize("language", some(LANGUAGES, {*LANGUAGES} - {"ko"}))
async def test_presets_ask_what_they_asked(language: str) -> None:
    """Every request of two sessions and a reply, the replies of Wang et al.'s variants, and a
    reflection, in each language; `python -m tests.unit.preset_requests` rewrites the files."""
    wanted = {path.stem: path.read_text(encoding="utf-8") for path in (GOLDEN / language).iterdir()}
    found = await golden(language)
    assert found.keys() == wanted.keys() >= set(PAPERS)
    for name, text in found.items():
        assert text == wanted[name], name


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_judges_ask_what_they_asked(language: str) -> None:
    """One reply by each criterion, and two in both orders; `python -m tests.bench.judge_requests`
    rewrites the files."""
    assert await judged(language) == (JUDGES / f"{language}.txt").read_text(encoding="utf-8")


def fixed_part(name: str, language: str) -> str:
    """The longest part of a prompt that is the same whatever is filled in."""
    text = pack(language).prompt(name) or ""
    return max(re.split(r"\$\w+|^=== \w+$", text, flags=re.MULTILINE), key=len).strip()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("preset", PAPERS)
def test_the_prompts_that_a_preset_names_are_those_it_sends(preset: str, language: str) -> None:
    """The longest words of each, before anything is filled in, occur in its golden files."""
    files = (GOLDEN / language).glob(f"{preset}*.txt")
    asked = "\n".join(path.read_text(encoding="utf-8") for path in files)
    for name in PRESETS[preset].prompts:
        assert fixed_part(name, language) in asked, name


OTHERS = {
    "wang2023-variants": (
        *("reply_context", "reply_retrieval", "reply_retrieval_memory"),
        *("reply_shots", "reply_shot", "reply_paper"),
    ),
    "generative-agents-reflection": ("importance_reflection",),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_baselines_prompts_are_golden_too(language: str) -> None:
    """Context-only, retrieval, with memory, worked examples, reflection."""
    for file, names in OTHERS.items():
        asked = (GOLDEN / language / f"{file}.txt").read_text(encoding="utf-8")
        for name in names:
            assert fixed_part(name, language) in asked, name


def test_wang2023_has_the_papers_variants() -> None:
    """Context-only, retrieval with k of 3 and 5, with memory, and two and three examples."""
    assert FORMS.keys() >= {"paper", "context", "retrieval", "retrieval+memory"}
    assert FORMS.keys() >= {"2-shot", "3-shot"}
    assert registry().keys() >= {f"{kind}:{k}" for kind in ("bm25", "dense") for k in (3, 5)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_wang2023s_baselines_have_no_steps_and_the_papers_order(language: str) -> None:
    """Appendix B: the related utterances, then the memory, then the dialogue."""
    wanted = {
        "reply_context": ("$history", "$dialogue"),
        "reply_retrieval": ("$retrieved", "$dialogue"),
        "reply_retrieval_memory": ("$retrieved", "$memory", "$dialogue"),
    }
    for name, variables in wanted.items():
        text = pack(language).prompt(name) or ""
        assert re.findall(r"\$\w+", text) == list(variables)
        assert not re.search(r"^\d+\.", text, flags=re.MULTILINE)


@pytest.mark.parametrize("language", LANGUAGES)
def test_wang2023s_judges_explain_before_they_mark(language: str) -> None:
    """One reply from 1 to 100; two replies by three aspects with four graded options."""
    single = json.loads(json.dumps(SINGLE))["properties"]
    assert list(single) == ["why", "score"]
    assert (single["score"]["minimum"], single["score"]["maximum"]) == (1, 100)
    assert list(json.loads(json.dumps(PAIR))["properties"]) == ["why", "better"]
    assert [option.value for option in Better] == ["A", "slightly A", "slightly B", "B"]
    assert ASPECTS == ("engaging", "coherent", "consistent")
    for name, fields in (("judge_single", ("why", "score")), ("judge_pair", ("why", "better"))):
        text = (PROMPTS / language / f"{name}.txt").read_text("utf-8")
        assert text.index(f'"{fields[0]}"') < text.index(f'"{fields[1]}"')


def test_hou2024_gives_table_1_with_a_range_of_units() -> None:
    """From 1.014e7 to 1.213e7 s within rounding, and neither with days, weeks nor months."""
    rows = [row[:4] for row in TABLE_1.values()]
    unit = recall_settings(Settings.of("hou2024")).unit
    assert off(rows, unit) < ROUNDING
    for seconds in (1.02e7, 1.2e7):
        assert off(rows, timedelta(seconds=seconds)) < ROUNDING
    for wrong in (1, 3600, 86_400, 7 * 86_400, 30 * 86_400, 365 * 86_400):
        assert off(rows, timedelta(seconds=wrong)) > ROUNDING


def test_no_unit_gives_tables_3_and_4_as_well() -> None:
    """An erratum of the paper: each of its tables needs another unit."""
    rows = [row[:4] for row in TABLE_1.values()]
    units = [timedelta(seconds=10 ** (exponent / 50)) for exponent in range(200, 500)]
    assert min(off([*rows, *TABLES_3_AND_4], unit) for unit in units) > 5 * ROUNDING


def test_only_one_event_of_the_papers_tables_exceeds_its_threshold() -> None:
    """The first of Table 4, though the others are shown as recalled or not."""
    threshold = recall_settings(Settings.of("hou2024")).threshold
    printed = [*(row[3] for row in TABLE_1.values()), *(row[3] for row in TABLES_3_AND_4)]
    assert [p for p in printed if p > threshold] == [0.903]


def test_equations_8_and_9_at_their_ends() -> None:
    """p is 1 for r = 1 at once and never 0; S is at most 1, and tanh of half the pause."""
    now = timedelta(0)
    assert recall_probability(relevance=1.0, elapsed=now, consolidation=1.0) == pytest.approx(1.0)
    late = recall_probability(relevance=0.5, elapsed=timedelta(days=3000), consolidation=1.0)
    assert late > 0
    unit = timedelta(days=1)
    pause = (1 - math.exp(-1)) / (1 + math.exp(-1))
    assert consolidated(1.0, elapsed=unit, unit=unit) == pytest.approx(1 + pause)
    assert consolidated(1.0, elapsed=1000 * unit, unit=unit) == pytest.approx(2.0)


def test_generative_agents_scores_of_table_1_are_not_by_the_formula() -> None:
    """An erratum of Hou et al.: min-max scaling gives 2.0 and 1.955 to A and D, not 1.489 and
    1.620, so that the order of the two is the other way round."""
    traces = [
        ScoreTrace(elapsed=timedelta(seconds=t), importance=importance, relevance=r)
        for r, t, _, _, importance, _ in TABLE_1.values()
    ]
    scores = dict(zip(TABLE_1, agent_scores(traces), strict=True))
    assert scores["A"] == pytest.approx(2.0, abs=0.001)
    assert scores["D"] == pytest.approx(1.955, abs=0.001)
    assert TABLE_1["A"][5] < TABLE_1["D"][5]


async def test_taniguchi2025_drops_every_particle_and_auxiliary() -> None:
    """All of them at 100 %, negation too, as in the paper; ours keeps what negates."""
    from tests.unit.talks import talk

    said = talk("私は昨日、東京へ行かなかった。")
    left = {}
    for keep in (False, True):
        words = FunctionWordCompressor(share=1.0, analyser=analyser_for, keep_negation=keep)
        (left[keep],) = await words.shorten(said, language="ja", weight={})
    assert left == {False: "私昨日、東京行か。", True: "私昨日、東京行かなかっ。"}
    assert not Settings.of("taniguchi2025").keep_negation
    assert Settings().keep_negation


def test_taniguchi2025_has_the_papers_sweep() -> None:
    """Random 25, 50, 75 %; particles and auxiliaries 25, 50, 75, 100 %."""
    known = registry(analyser=analyser_for)
    shares = {"random": (25, 50, 75), "function": (25, 50, 75, 100)}
    for kind, percents in shares.items():
        assert {name for name in known if re.fullmatch(rf"memos:{kind}-\d+", name)} == {
            f"memos:{kind}-{percent}" for percent in percents
        }


@pytest.mark.parametrize("language", LANGUAGES)
def test_taniguchi2025_offers_noto(language: str) -> None:
    """Beside the numbered memos, as number 0."""
    assert "\n0. NOTO" in (pack(language).prompt("memo_choose") or "")


def test_taniguchi2025s_instruction_data_and_tuning() -> None:
    """1970 + 1482 + 1977 = 5429 examples, 150 and 40 of each aside; LoRA as in Table 5."""
    assert PAPER == {"memos": 1970, "choice": 1482, "reply": 1977}
    assert sum(PAPER.values()) == 5429
    assert (PAPER_TEST, PAPER_VALID) == (150, 40)
    recipe = Recipe()
    assert (recipe.alpha, recipe.rate, recipe.length) == (16, 2e-5, 2048)
    assert (recipe.epochs, recipe.batch, recipe.accumulate) == (4, 8, 8)
