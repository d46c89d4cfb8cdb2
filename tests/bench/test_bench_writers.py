"""One call a session against separate calls, and a tuned model beside the plain one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from omoide.cli.main import cli
from omoide.errors import BadInput
from omoide.ports import Message, Request, Skill
from omoide.settings import Settings
from omoide.testing import ScriptedModel
from omoide_bench.methods import parse, registry
from omoide_bench.reports.comparing import compared_methods, equivalent
from omoide_bench.reports.default import better_defaults, default_results, rows
from omoide_bench.reports.pictures import _recalled, strengthening
from omoide_bench.running.cached_model import SharedModel, TunedModel
from omoide_bench.running.calls import CallCache
from omoide_bench.running.execute import execute
from omoide_bench.running.results import read
from omoide_bench.running.standin import StandIn
from tests.bench.bench_lab import FIXTURES, course, job, lab

if TYPE_CHECKING:
    from pathlib import Path

    from omoide_bench.running.results import MethodResult, Result

PLAIN = "summary+memos+human-recall"
SEPARATE, FUSED = f"{PLAIN}@separate", f"{PLAIN}@fused"


def test_the_writer_of_a_method_is_named_behind_it() -> None:
    """`@fused` changes the writer alone; what is no writer is refused."""
    method = parse(FUSED, registry())
    assert method.name == FUSED
    assert method.settings(Settings()).writer == "fused"
    assert method.settings(Settings()).mechanisms == ("summary", "memos", "human-recall")
    assert parse(SEPARATE, registry()).settings(Settings()).writer == "separate"
    assert parse(PLAIN, registry()).settings(Settings()).writer == Settings().writer
    with pytest.raises(BadInput, match="got 'quick'"):
        parse("summary@quick", registry())


def test_a_preset_is_a_method() -> None:
    """`as:hou2024` has all settings of the preset and keeps those that it does not name."""
    method = parse("as:hou2024", registry())
    settings = method.settings(Settings(user="ana", partner="person"))
    assert (method.name, method.mechanisms) == ("as:hou2024", ("human-recall",))
    assert settings == Settings.of("hou2024", user="ana", partner="person")
    assert method.needs_vectors
    with pytest.raises(BadInput, match="no preset 'hou'"):
        parse("as:hou", registry())


async def test_msc_tells_the_parts_of_a_memory_and_what_they_cost() -> None:
    """Fused and separate writers have a score for each part, after every session; fused, all of
    it comes from one call a session."""
    work = job("msc", SEPARATE, FUSED, sessions="2,3,4,5", memory="only", parts="yes")
    async with lab() as parts:
        result = await execute(work, lab=parts, course=course(work))
    for method in result.methods:
        assert {item.group for item in method.items} == {
            f"memory before session {n}" for n in (2, 3, 4, 5)
        }
        for item in method.items:
            assert item.scores.keys() >= {"summary F1", "events recall", "memos F1", "events said"}
            assert item.scores["memos cover"] == 1
            assert item.scores["prompt tokens a turn"] > 0
    one, fused = result.method(SEPARATE), result.method(FUSED)
    assert one is not None
    assert fused is not None
    last = "memory before session 5"
    turns = {d.id: sum(len(s.lines) for s in d.sessions if s.number < 5) for d in work.cases}
    for item in fused.items:
        if item.group == last:
            assert round(item.scores["calls a turn"] * turns[item.cluster]) == 4
    assert {t.measure for t in result.tests if t.group == last} >= {"summary F1", "calls a turn"}
    cost = {
        method.name: sum(item.scores["calls a turn"] for item in method.items)
        for method in result.methods
    }
    assert cost[FUSED] < cost[SEPARATE] / 2


async def test_a_part_that_no_mechanism_writes_has_no_score() -> None:
    """A summary alone is not marked down for the events it never meant to write."""
    work = job("msc", "summary", sessions="5", memory="only", parts="yes", limit=1)
    async with lab() as parts:
        result = await execute(work, lab=parts, course=course(work))
    [item] = result.methods[0].items
    assert "summary F1" in item.scores
    assert not [name for name in item.scores if name.startswith(("events", "memos"))]


async def test_locomo_tells_what_the_best_events_and_memos_rest_on() -> None:
    """With every turn in some memo, ten memos hold the evidence; one mechanism's silence is 0."""
    work = job("locomo", FUSED, "search", parts="yes")
    async with lab() as parts:
        result = await execute(work, lab=parts, course=course(work))
    fused, search = result.method(FUSED), result.method("search")
    assert fused is not None
    assert search is not None
    scored = [item.scores for item in fused.items if "memos@10" in item.scores]
    assert scored
    assert all(scores["memos@10"] == 1 for scores in scored)
    assert all(scores["events@5"] <= scores["events@10"] for scores in scored)
    assert all(i.scores["memos@10"] == 0 for i in search.items if "memos@10" in i.scores)


async def test_as_good_as_means_that_the_whole_interval_lies_within_the_margin() -> None:
    """A method is alike itself; an interval that reaches out of the margin is not; what is no
    share has no margin in points."""
    work = job("msc", "summary", FUSED, sessions="5", memory="only", parts="yes")
    async with lab() as parts:
        result = await execute(work, lab=parts, course=course(work))
    same = {test.measure: test for test in compared_methods(result, FUSED, FUSED)}
    assert equivalent(same["summary F1"], task="msc", margin=3)
    assert equivalent(same["calls a turn"], task="msc", margin=3) is None
    wide = replace(same["summary F1"], low=-0.01, high=0.031)
    assert equivalent(wide, task="msc", margin=3) is False
    with pytest.raises(BadInput, match="it has summary"):
        compared_methods(result, "summary", "search")


def test_compare_two_methods_of_one_file(tmp_path: Path) -> None:
    """One file and two methods give a table that says whether they are alike."""
    out = tmp_path / "one.json"
    common = ["--data", str(FIXTURES), "--model", "stand-in", "--embedder", "none", "--yes"]
    run = ["bench", "run", "msc", *common, "--no-plan", "--only", "--cache", str(tmp_path / "c")]
    asked = ["--method", SEPARATE, "--method", FUSED, "--set", "sessions=5"]
    wanted = ["--set", "memory=only", "--set", "parts=yes", "--out", str(out)]
    done = CliRunner().invoke(cli, [*run, *asked, *wanted])
    assert done.exit_code == 0, done.output
    told = ["bench", "compare", str(out), "--methods", SEPARATE, FUSED, "--margin", "3"]
    shown = CliRunner().invoke(cli, told)
    assert "within 3 points" in shown.output
    assert "summary F1" in shown.output
    bare = CliRunner().invoke(cli, ["bench", "compare", str(out)])
    assert bare.exit_code == 2
    assert "--methods ONE OTHER" in bare.output


async def test_only_what_a_model_is_tuned_for_goes_to_it() -> None:
    """A request goes to the tuned model by its skill, and each answer is kept under the name of
    who gave it: what the plain model has said is known to a run without the tuned one."""
    plain, tuned = ScriptedModel(["plain"], name="plain"), ScriptedModel(["tuned"], name="tuned")
    cache = CallCache(None)
    both = SharedModel(
        plain,
        cache,
        concurrency=1,
        tuned=[TunedModel(model=tuned, skills=frozenset({Skill.REPLY}))],
    )
    reply = Request(
        messages=(Message(role="user", content="Hello"),), max_tokens=9, skill=Skill.REPLY
    )
    notes = replace(reply, skill=Skill.NOTES, max_tokens=7)
    assert (await both.ask(reply))[0].text == "tuned"
    assert (await both.ask(notes))[0].text == "plain"
    assert both.name == "plain+tuned"
    alone = SharedModel(ScriptedModel([], name="plain"), cache, concurrency=1)
    answer, known = await alone.ask(notes)
    assert (answer.text, known) == ("plain", True)
    cache.close()


async def test_a_run_says_what_it_was_tuned_for() -> None:
    """The result names both models and the skills, so that it is never joined with a plain one."""
    work = job("msc", "summary", sessions="5", memory="no", limit=1)
    tuned = ScriptedModel([lambda _: "Tuned."] * 9, name="tuned")
    async with lab(StandIn(name="plain")) as parts:
        line = SharedModel(
            parts.shared_model.model,
            parts.shared_model.cache,
            concurrency=4,
            tuned=[TunedModel(model=tuned, skills=frozenset({Skill.REPLY}))],
        )
        result = await execute(work, lab=replace(parts, shared_model=line), course=course(work))
    assert result.model == "plain+tuned"
    assert result.settings["tuned for"] == "reply"
    assert all(request.skill is Skill.REPLY for request in tuned.requests)
    assert len(tuned.requests) == len(result.methods[0].items)


def test_tuned_on_the_command_line(tmp_path: Path) -> None:
    """The option takes a second model; a skill that there is not is refused."""
    out = tmp_path / "one.json"
    common = ["--data", str(FIXTURES), "--model", "stand-in", "--embedder", "none", "--yes"]
    run = ["bench", "run", "msc", *common, "--no-plan", "--only", "--cache", str(tmp_path / "c")]
    asked = ["--method", "summary", "--limit", "1", "--set", "sessions=5", "--out", str(out)]
    done = CliRunner().invoke(cli, [*run, *asked, "--tuned", "stand-in", "--skills", "reply,memos"])
    assert done.exit_code == 0, done.output
    assert read(out).settings["tuned for"] == "memos, reply"
    wrong = CliRunner().invoke(cli, [*run, *asked, "--tuned", "stand-in", "--skills", "singing"])
    assert wrong.exit_code == 1
    assert "unknown skill 'singing'" in wrong.output
    same = CliRunner().invoke(cli, [*run, *asked, "--tuned", "stand-in", "--skills", "facts"])
    assert same.exit_code == 1
    assert "--tuned has the name of --model" in same.output  # else it is asked as if untuned


def _scored(result: Result, name: str, by: float) -> MethodResult:
    """The first method's items under another name, each F1 higher by that much."""
    method = result.methods[0]
    items = [replace(i, scores={"F1": i.scores["F1"] + by}) for i in method.items]
    return replace(method, name=name, items=items)


async def test_the_report_says_whether_the_default_is_the_best() -> None:
    """A method that is better on every one of many replies would make the better default; all
    history would not, and one that wins here and loses there is none either."""
    work = job("msc", "session", sessions="5", memory="no")
    async with lab() as parts:
        found = await execute(work, lab=parts, course=course(work))
    [method] = found.methods
    many = [replace(i, id=f"{i.id}-{n}", cluster=f"{n}") for i in method.items for n in range(12)]
    found = replace(found, methods=[replace(method, items=many)])
    gains = {"summary+search": 0.0, "search": 0.1, "context": 0.2, "memos": 0.1, "bm25": -0.1}
    one = replace(found, methods=[_scored(found, name, by) for name, by in gains.items()])
    gains["memos"] = -0.1
    other = replace(found, methods=[_scored(found, name, by) for name, by in gains.items()])
    names = ("as:omoide", "summary+search")
    told = default_results([("one", one), ("other", other), ("apart", found)], names)
    assert [(s.run, s.measure, s.alternatives[0].name) for s in told] == [
        ("one", "F1", "context"),
        ("other", "F1", "context"),
    ]
    assert better_defaults(told) == ["search"]
    [first, _] = rows(told)
    assert first[4] == "-20.0 [-20.0, -20.0]"
    assert first[7:] == ("context, search, memos", "bm25")
    preset = replace(one, methods=[*one.methods, _scored(found, "as:omoide", 0.3)])
    [best] = default_results([("one", preset)], names)
    assert "as:omoide" not in {rival.name for rival in best.alternatives}, "it is the default"


def test_recalls_far_apart_strengthen_more_than_recalls_in_a_week() -> None:
    """The picture of paper B's Figure 2 B: half a year on, what was recalled a month apart is most
    likely to come back, and what was never recalled least; each recall lifts the curve at once."""
    never, massed, spaced = (_recalled(days, 0.9, 240) for days in ((), (2, 4, 6), (30, 60, 90)))
    at_end = [points[-1][1] for points in (never, massed, spaced)]
    assert at_end == sorted(at_end)
    assert at_end[0] < at_end[2] - 5
    before, after = (chance for day, chance in spaced if day == 30)
    assert after > before
    assert [line.points for line in strengthening().series] == [never, massed, spaced]
