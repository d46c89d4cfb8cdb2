"""No departure from a paper goes unlisted: every setting and every number in the code of a paper's
mechanism is the paper's, or a departure names it, or it is said here why it does not matter.

A new setting or a new limit fails here until somebody decides which of the three it is.
"""

from __future__ import annotations

import ast
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import omoide
from omoide.presets import DEFAULT, PRESETS
from omoide.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omoide.presets import Preset

CODE = Path(omoide.__file__).parent
PAPERS = [name for name in PRESETS if name != DEFAULT]

NO_PART_OF_THE_METHOD = frozenset(
    {
        # where things are stored, and who may see them
        *("preset", "db", "key", "spool", "partitions", "vectors", "vectors_key", "tenant", "user"),
        *("retention", "telemetry", "webhooks", "webhook_secret", "webhook_texts"),
        # how the model is reached
        *("api_key", "grammar", "weights_dir", "offline", "hub", "local_servers", "threads"),
        *("prompt_cache", "timeout"),
        # who talks, where
        *("persona", "user_name", "timezone", "partner"),
        # how much one may say at once
        "max_turn_chars",
        # of our own method: presets set the writer, the reply form and the room for memory, which
        # are all that the profile decides in theirs
        *("layers", "profile", "recall_items", "recall_tokens"),
    }
)
"""Settings that no paper has anything to say about."""
OF_ONE_MECHANISM = {
    "summary": ("form", "max_sentences", "repeated_sentences"),
    "human-recall": (
        *("event_fading", "event_spacing", "event_threshold", "event_items", "event_relevance"),
        *("event_emotion", "event_labels", "retire_events"),
    ),
    "compressed-memos": ("compression", "compression_percent", "keep_negation"),
}
"""Settings that only one mechanism reads."""

EVENTS = ("events/writer.py", "events/form.py")
MEMOS = ("memos/mechanism.py", "memos/writer.py", "memos/search.py")
REPLIES = ("reply_forms.py", "parts.py")
MODULES = {
    "wang2023": ("summary/mechanism.py", "summary/summariser.py", "summary/forms.py", *REPLIES),
    "hou2024": ("events/human_recall.py", "events/scoring.py", *EVENTS, *REPLIES),
    "taniguchi2025": ("memos/compression.py", *MEMOS, *REPLIES),
    "memochat": (*MEMOS, *REPLIES),
    "memorybank": ("baselines/memory_bank.py", "baselines/memory_bank_summaries.py", *REPLIES),
    "generative-agents": (
        "baselines/generative_agents.py",
        "baselines/generative_agents_answers.py",
        "baselines/generative_agents_scoring.py",
        "base.py",
        *EVENTS,
        *REPLIES,
    ),
}
"""Where the code of each preset's mechanism is, under `mechanisms/`."""

SAID = {
    "summary/forms.py SENTENCE": "room for {} tokens a sentence",
    "summary/summariser.py __init__(limit)": "sentences of a memory, at most: {}",
    "events/form.py LIMIT": "At most {} events",
    "events/form.py LABELS": "at most {} topics and {} keywords",
    "events/form.py LABEL_CHARS": "keywords of {} characters",
    "events/writer.py TOKENS": "of {} tokens on average",
    "events/scoring.py RecallSettings.depth": "The {} nearest events are weighed",
    "memos/mechanism.py MemoTrigger.turns": "turns after which memos are written, if sooner: {}",
    "memos/mechanism.py MemoTrigger.tokens": "tokens of dialogue after which memos are written: {}",
    "memos/mechanism.py MemoTrigger.recent": "turns that stay in the prompt, at least: {}",
    "memos/writer.py __init__(max_lines)": "asked for {} lines at a time",
    "memos/writer.py MOST_MEMOS": "and {} in all",
    "memos/writer.py LINES_A_MEMO": "one for every {} lines",
    "memos/writer.py _LONGEST": "in at most {} tokens",
    "memos/search.py MESSAGE_CHARS": "the message with at most {}",
    "memos/search.py LISTED_CHARS": "listed with at most {} characters",
    "baselines/memory_bank.py RECALLED": "the {} nearest that are not forgotten",
    "baselines/memory_bank.py DEPTH": "around the {} nearest turns",
    "baselines/memory_bank_summaries.py TOKENS": "A summary has at most {} tokens",
    "baselines/generative_agents.py __init__(k)": "The {} memories with the highest scores",
    "base.py TRIES": "after {} tries",
    "baselines/generative_agents.py ENOUGH": "importance above which it reflects: {}",
    "baselines/generative_agents.py LOOKED_AT": "latest memories that it reflects on: {}",
    "baselines/generative_agents.py INSIGHT_IMPORTANCE": "An insight has the importance {}",
    "baselines/generative_agents_answers.py INSIGHTS": "insights of a reflection, at most: {}",
    "baselines/generative_agents_answers.py INSIGHT_CHARS": "at most {} characters",
    "baselines/generative_agents_scoring.py AgentWeights.recency": "weight of each factor: {}",
    "baselines/generative_agents_scoring.py AgentWeights.importance": "weight of each factor: {}",
    "baselines/generative_agents_scoring.py AgentWeights.relevance": "weight of each factor: {}",
    "baselines/generative_agents_scoring.py agent_scores(decay)": "decay an hour: {}",
}
"""What a preset says about a number, in its departures or among the paper's numbers."""
SENT_BY_OTHERS = {"reply_forms.py PENALTY": "a frequency penalty of {}"}
"""The same, for a number that Wang et al.'s own prompts do not have."""
WITHOUT_EFFECT = {
    "summary/mechanism.py NEAR": "`repeated_sentences` is set",
    "summary/mechanism.py CACHED": "vectors kept in memory",
    "summary/mechanism.py MAX_EMBEDDED_CHARS": "for repeated sentences only",
    "events/form.py MIN_SUPPORT": "which turns an event cites",
    "events/form.py TRIED": "brackets at which JSON may begin in an answer",
    "events/human_recall.py CACHED": "vectors kept in memory",
    "events/human_recall.py curves(days)": "for the picture",
    "events/scoring.py RecallSettings.feeling": "`event_emotion` is set",
    "events/scoring.py RecallSettings.most": "`event_items` is set",
    "events/scoring.py curve(relevance)": "for the picture",
    "events/scoring.py curve(days)": "for the picture",
    "events/scoring.py curve(points)": "for the picture",
    "memos/compression.py __init__(seed)": "which words are drawn",
    "memos/mechanism.py __init__(k)": "any number may be chosen",
    "memos/writer.py _sentence(least)": "a guard, which flags",
    "memos/writer.py _ANSWER": "tokens kept free for an answer",
    "memos/search.py DEPTH": "of the search, to which an unreadable choice falls back",
    "memos/search.py FUSION": "of that search",
    "memos/search.py WORDS": "of that search",
    "memos/search.py STATEMENT_DISCOUNT": "of that search",
    "memos/search.py WORD_THRESHOLD": "of that search",
    "baselines/memory_bank.py __init__(seed)": "which memories are drawn",
    "baselines/memory_bank_summaries.py LIMIT": "a guard, which flags",
    "base.py BEST": "what stays if the window is too small for all",
    "base.py SAME": "turns beside a summary, of search alone",
    "base.py Contribution.score": "shown to people",
    "parts.py WHOLE": "the value of a setting",
    "parts.py LAST_WORDS": "tokens of the window kept free for what must be in the prompt",
}
"""Numbers that change nothing in a paper's method, and why."""


def told(preset: Preset) -> str:
    """All that a preset says about numbers and departures, a line each."""
    numbers = [f"{number.what}: {number.value}" for number in preset.numbers]
    return "\n".join([*numbers, *(f"{d.what} {d.why}" for d in preset.departures)])


@pytest.mark.parametrize("name", PAPERS)
def test_every_setting_is_the_papers_or_a_departure(name: str) -> None:
    """A setting that bears on the method is set by the preset, or a departure names it."""
    preset = PRESETS[name]
    used = Settings.of(name).mechanisms
    of_others = {
        setting
        for mechanism, settings in OF_ONE_MECHANISM.items()
        if mechanism not in used
        for setting in settings
    }
    forgotten = [
        field.name
        for field in fields(Settings)
        if field.name not in preset.settings
        and field.name not in NO_PART_OF_THE_METHOD | of_others
        and f"`{field.name}`" not in told(preset)
        and f"`{field.name}=" not in told(preset)
    ]
    assert forgotten == []


def _number(node: ast.expr | None) -> float | None:
    if isinstance(node, ast.UnaryOp):
        return _number(node.operand)
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return float(str(node.value))
    return None


def numbers_in(module: str) -> Iterator[tuple[str, float]]:
    """The numbers that a module gives a name: constants, fields and parameters with defaults."""
    tree = ast.parse((CODE / "mechanisms" / module).read_text(encoding="utf-8"))
    found: list[tuple[str, ast.expr | None]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = node.args
            plain = arguments.args[len(arguments.args) - len(arguments.defaults) :]
            defaults = [
                *zip(plain, arguments.defaults, strict=True),
                *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
            ]
            found += [(f"{node.name}({argument.arg})", given) for argument, given in defaults]
        if isinstance(node, ast.ClassDef):
            found += [
                (f"{node.name}.{field.target.id}", field.value)
                for field in node.body
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
            ]
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            found.append((statement.targets[0].id, statement.value))
    for name, given in found:
        value = _number(given)
        if value is not None:
            yield f"{module} {name}", value


@pytest.mark.parametrize("name", PAPERS)
def test_every_number_in_the_code_is_the_papers_or_a_departure(name: str) -> None:
    """With its value, so that a change of the code must change what is said."""
    said = SAID if name == "wang2023" else {**SAID, **SENT_BY_OTHERS}
    forgotten = []
    for module in MODULES[name]:
        for number, value in numbers_in(module):
            sentence = said.get(number, "").replace("{}", f"{value:g}")
            if sentence and sentence in told(PRESETS[name]):
                continue
            if not sentence and number in {**WITHOUT_EFFECT, **SENT_BY_OTHERS}:
                continue
            forgotten.append(f"{number} = {value:g}")
    assert forgotten == []


def test_what_is_said_here_is_of_numbers_that_exist() -> None:
    """A number that is gone is forgotten here too."""
    modules = {module for of_preset in MODULES.values() for module in of_preset}
    known = {number for module in modules for number, _ in numbers_in(module)}
    assert known == SAID.keys() | SENT_BY_OTHERS.keys() | WITHOUT_EFFECT.keys()
    assert MODULES.keys() == set(PAPERS)


@pytest.mark.parametrize("name", PAPERS)
def test_the_lengths_that_a_departure_names_are_those_of_the_settings(name: str) -> None:
    """The defaults that a preset leaves in place stand in its departures with their values."""
    settings = Settings.of(name)
    minutes = settings.idle.total_seconds() / 60
    assert f"at most {settings.reply_tokens} tokens (`reply_tokens`)" in told(PRESETS[name])
    assert f"a pause of {minutes:g} minutes (`idle`)" in told(PRESETS[name])
    assert settings.memory_tokens == -1
