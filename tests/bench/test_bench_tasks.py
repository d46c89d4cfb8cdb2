"""Each task of the harness, end to end on data written for it, with a stand-in for the model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omoide.adapters.analysers import analyser_for
from omoide.errors import BadInput
from omoide.ports import TokenVectors
from omoide.settings import Settings
from omoide.testing import ScriptedModel
from omoide_bench.data import msc_questions
from omoide_bench.methods import parse, registry
from omoide_bench.reports.tables import groups_of
from omoide_bench.rivals.note_taker import NoteTaker
from omoide_bench.running.execute import execute
from omoide_bench.running.standin import StandIn
from omoide_bench.tasks import TASKS
from omoide_bench.tasks.base import Sample, checked_options
from omoide_bench.tasks.memorybank import MemoryBankQuestions
from omoide_bench.tasks.survival import TextSet, words_brought_back
from tests.bench.bench_lab import FIXTURES, course, job, lab

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from omoide.ports import Completion, Request

TWO_CHATS = FIXTURES.parent / "msc"
MECHANISMS = ("summary", "search", "memos", "memochat", "human-recall", "memory-bank", "dense")


@pytest.mark.heavy
async def test_msc_has_replies_and_memories_of_every_mechanism() -> None:
    """Sessions 4 and 5 of both dialogues are asked for; memories are scored where there are any."""
    work = job("msc", *MECHANISMS, "gold", only=False)
    async with lab() as parts:
        result = await execute(work, lab=parts, course=course(work))
    assert result.complete
    names = [method.name for method in result.methods]
    assert names[:3] == ["context", "session", "bm25"]
    for method in result.methods:
        replies = [item for item in method.items if item.group.startswith("session")]
        assert [item.group for item in replies].count("session 4") == 4
        assert [item.group for item in replies].count("session 5") == 4
        assert all(0 <= item.scores["F1"] <= 1 for item in replies)
        assert method.whole["session 5"].keys() >= {"BLEU-1", "paper's BLEU-2", "distinct-1"}
        memories = [item for item in method.items if item.group.startswith("memory")]
        digesting = method.name in {"summary", "memos", "memochat", "human-recall", "memory-bank"}
        assert len(memories) == (4 if digesting else 0), method.name
    assert {t.measure for t in result.tests} >= {"F1", "length"}


async def test_msc_gives_gold_memory_to_the_prompt_and_nothing_of_what_comes_later() -> None:
    """The gold method's prompt at session 4 knows of session 3 and not of session 4."""
    seen: list[str] = []

    class Listening(StandIn):
        """Notes what it was asked."""

        async def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
            seen.append("\n".join(message.content for message in request.messages))
            async for piece in super().stream(request):
                yield piece

    work = job("msc", "gold", limit=1, sessions="4", memory="no")
    async with lab(Listening()) as parts:
        await execute(work, lab=parts, course=course(work))
    name = work.cases[0].id
    known, unknown = {
        "test_0": ("I plan a fourth hive.", "I built a fourth hive."),
        "test_1": ("I broke my glasses.", "I opened a second shop."),
    }[name]
    assert seen
    assert all(known in prompt and unknown not in prompt for prompt in seen)


async def test_msc_memory_only_asks_for_no_reply() -> None:
    """With memory=only there is one item a dialogue, before the session that is named."""
    work = job("msc", "summary", sessions="5", memory="only", audit="yes")
    async with lab() as parts:
        result = await execute(work, lab=parts, course=course(work))
    [method] = result.methods
    assert [item.group for item in method.items] == ["memory before session 5"] * 2
    assert all(item.scores["memory precision"] > 0 for item in method.items)
    assert all(0 <= item.scores["fabricated"] <= 1 for item in method.items)


async def test_msc_memory_before_both_sessions_says_how_often_answers_could_be_used() -> None:
    """Memories before sessions 4 and 5, by both forms; a model that only mumbles has no memory to
    score, and no valid answer."""
    work = job("msc", "summary", "summary:paper", sessions="4,5", memory="only", audit="yes")
    async with lab() as parts:
        result = await execute(work, lab=parts, course=course(work))
    for method in result.methods:
        groups = sorted(item.group for item in method.items)
        assert groups == ["memory before session 4"] * 2 + ["memory before session 5"] * 2
        assert all(item.scores["usable"] >= item.scores["valid"] >= 0 for item in method.items)
    work = job("msc", "summary", limit=1, sessions="4,5", memory="only")
    async with lab(ScriptedModel([lambda _: "?"] * 100)) as parts:
        result = await execute(work, lab=parts, course=course(work))
    for item in result.methods[0].items:
        assert item.scores == {"valid": 0, "usable": 0}
        assert "no usable memory" in item.unscored["memory F1"]


async def test_carecall() -> None:
    """The last session of an episode is asked for, in Korean."""
    work = job("carecall", "summary", "gold", only=False)
    async with lab() as parts:
        result = await execute(work, lab=parts, course=course(work))
    for method in result.methods:
        assert [i.group for i in method.items if i.group.startswith("session")] == ["session 2"]
    assert job("carecall", "summary", sessions="2").cases
    assert not job("carecall", "summary", sessions="5").cases  # the paper's, of longer episodes


async def test_locomo_by_category() -> None:
    """Every question is asked; evidence in the prompt is found by search and by nobody who has no
    memory."""
    work = job("locomo", "search", only=False)
    async with lab() as parts:
        result = await execute(work, lab=parts, course=course(work))
    search, session = result.method("search"), result.method("session")
    assert search is not None
    assert session is not None
    assert {item.group for item in search.items} == {
        *("multi-hop", "temporal", "open", "single-hop", "adversarial")
    }
    assert sum(item.scores["evidence"] for item in search.items) > 2
    assert sum(item.scores["evidence"] for item in session.items) == 0


async def test_a_right_answer_scores_and_a_judge_is_measured_before_it_is_believed() -> None:
    """An answer with the gold words has F1 1; a judge that says yes to everything is shown to
    accept every wrong answer; one that cannot be read leaves items unscored."""
    work = job("locomo", "search", categories="single-hop")
    yes = ScriptedModel([lambda _: '{"correct": true}'] * 40, name="yes-sayer")
    kayak = ScriptedModel(["a red kayak"])
    async with lab(kayak, judge=yes) as parts:
        result = await execute(work, lab=parts, course=course(work))
    [method] = result.methods
    [item] = method.items
    assert item.scores["F1"] == 1
    assert item.scores["judged right"] == 1
    assert method.judge_calls == 1
    assert any("accepts wrong answers (all): 100.0 %" in note for note in result.notes)
    mumbling = ScriptedModel([lambda _: "hmm"] * 40, name="mumbler")
    async with lab(ScriptedModel(["a red kayak"]), judge=mumbling) as parts:
        result = await execute(work, lab=parts, course=course(work))
    [item] = result.methods[0].items
    assert "could not be read" in item.unscored["judged right"]


async def test_dmr_asks_one_question_about_the_earlier_sessions() -> None:
    """The session in which it is asked is not replayed; F1 and the words brought back count."""
    work = job("dmr", "bm25")
    assert [len(case.sessions) for case in work.cases] == [2, 1]
    async with lab(ScriptedModel([lambda _: "a cello"] * 2)) as parts:
        result = await execute(work, lab=parts, course=course(work))
    first, second = sorted(result.methods[0].items, key=lambda item: item.id)
    assert (first.scores["F1"], second.scores["F1"]) == (1, 0)
    assert first.scores["answer words"] == 1
    assert any("F1 on known answers" in note for note in result.notes)


async def test_questions_like_those_of_dmr_are_scored_by_words_and_evidence() -> None:
    """An answer in a sentence counts as given; a method without memory has no evidence; the notes
    say what the measures see."""
    work = replace(job("dmr-like", "search", "session"), cases=tuple(msc_questions.load(TWO_CHATS)))
    model = ScriptedModel([lambda _: "It is Lea, I think: she is not afraid of spiders."] * 4)
    async with lab(model) as parts:
        result = await execute(work, lab=parts, course=course(work))
    search, nothing = result.methods
    right = {item.id: item.scores["answer given"] for item in search.items}
    assert right == {"test_0/q1": 0.0, "test_1/q1": 1.0}
    assert all(item.scores["F1"] < 0.4 for item in search.items)
    assert [item.scores["evidence"] for item in search.items] == [1, 1]
    assert [item.scores["evidence"] for item in nothing.items] == [0, 0]
    assert any("answer given on known answers" in note for note in result.notes)


async def test_questions_like_those_of_dmr_as_replies_and_without_a_model() -> None:
    """The product's own reply is scored alike; with answers=no a model is never called."""
    chats = tuple(msc_questions.load(TWO_CHATS))
    work = replace(job("dmr-like", "search", by="reply"), cases=chats)
    async with lab(ScriptedModel([lambda _: "Heights, and your sister Lea."] * 2)) as parts:
        result = await execute(work, lab=parts, course=course(work))
    assert [item.scores["answer given"] for item in result.methods[0].items] == [1, 1]
    work = replace(job("dmr-like", "search", answers="no"), cases=chats)
    async with lab(ScriptedModel([])) as parts:
        result = await execute(work, lab=parts, course=course(work))
    for item in result.methods[0].items:
        assert item.scores == {"evidence": 1.0, "answer words": 1.0}


async def test_longmemeval() -> None:
    """The one question of a history is answered, and what was retrieved is scored."""
    work = job("longmemeval", "search")
    async with lab() as parts:
        result = await execute(work, lab=parts, course=course(work))
    [item] = result.methods[0].items
    assert item.group == "single-session-user"
    assert item.scores["evidence"] == 1


async def test_mtbench_plus_has_one_history_for_all_methods() -> None:
    """What the model answered before the last question is asked for once, whatever the method."""
    work = job("mtbench-plus", "session", "context")
    async with lab() as parts:
        result = await execute(work, lab=parts, course=course(work))
    one, other = result.methods
    assert {item.group for item in one.items} == {"retrospection", "continuation"}
    assert other.cached >= 4
    assert all(item.unscored["faithful"] == "no judge was named" for item in one.items)


@pytest.mark.parametrize(("language", "count"), [("en", 2), ("zh", 1)])
async def test_memorybank(language: str, count: int) -> None:
    """Probing questions are answered in their language and judged."""
    work = job("memorybank", "search", language=language)
    judge = StandIn(name="judge")
    async with lab(judge=judge) as parts:
        result = await execute(work, lab=parts, course=course(work))
    [method] = result.methods
    assert len(method.items) == count
    assert all(1 <= item.scores["faithful"] <= 100 for item in method.items)


async def test_memo() -> None:
    """Writing, choosing and replying are scored; choosing by search needs no call."""
    work = job("memo")
    async with lab() as parts:
        result = await execute(work, lab=parts, course=course(work))
    chosen = {m.name: {i.group.split()[0]: i for i in m.items} for m in result.methods}
    assert chosen["memochat"].keys() == {"writing", "retrieval", "chatting"}
    assert chosen["memochat"]["retrieval"].scores["retrieval F1"] == 1  # the stand-in picks 1
    assert chosen["memos"]["writing"].scores["split mended"] == 1


async def test_recall_protocol() -> None:
    """Losses lie where a softmax of four values in [0, 1] can put them."""
    work = job("recall", sets="locomo")
    async with lab() as parts:
        result = await execute(work, lab=parts, course=course(work))
    assert [m.name for m in result.methods] == list(TASKS["recall"].default_methods)
    losses = [i.scores["loss"] for m in result.methods for i in m.items]
    assert losses
    assert all(0.17 < loss < 0.54 for loss in losses)
    assert sum(m.calls for m in result.methods) == 0


async def test_evidence() -> None:
    """The rankers of `omoide bench evidence` give items like all other tasks."""
    work = job("evidence")
    async with lab() as parts:
        result = await execute(work, lab=parts, course=course(work))
    assert [m.name for m in result.methods] == ["BM25", "rank fusion", "recall"]
    recall = result.method("recall")
    assert recall is not None
    assert len(recall.items) == 4
    assert all(item.scores["recall@50"] == 1 for item in recall.items)


async def test_growth() -> None:
    """Full context grows with the sessions and the current session alone does not."""
    work = job("growth", "context", "session", "summary", sessions="5", users="1")
    async with lab() as parts:
        result = await execute(work, lab=parts, course=course(work))
    tokens = {m.name: {i.group: i.scores["prompt tokens"] for i in m.items} for m in result.methods}
    assert tokens["context"]["5 sessions"] > 1.5 * tokens["context"]["2 sessions"]
    assert tokens["session"]["5 sessions"] < 1.1 * tokens["session"]["1 sessions"]
    spent = {m.name: sum(i.scores["digest tokens"] for i in m.items) for m in result.methods}
    assert spent["context"] == 0 < spent["summary"]


async def test_growth_with_a_model_that_notes_everything() -> None:
    """Facts grow with what is told, at a steady cost of each session."""
    work = job("growth", "summary@facts", sessions="5", users="1")
    async with lab(NoteTaker()) as parts:
        large = replace(parts, settings=Settings(profile="large"))
        result = await execute(work, lab=large, course=course(work))
    [method] = result.methods
    after = {i.group: i.scores for i in method.items}
    assert after["5 sessions"]["facts"] > 2 * after["1 sessions"]["facts"] > 0
    assert after["5 sessions"]["last digest"] < 3 * after["1 sessions"]["last digest"]
    assert groups_of(result) == ["1 sessions", "2 sessions", "5 sessions"], "a mean says nothing"


def test_every_task_says_what_it_needs() -> None:
    """Names, measures and options are there; a wrong option and missing data are errors that say
    what there is."""
    for task in TASKS.values():
        assert task.about
        assert task.measures
        assert task.default_methods
    with pytest.raises(BadInput, match="sessions"):
        checked_options(TASKS["msc"], {"session": "5"})
    with pytest.raises(BadInput, match=r"test\.jsonl"):
        TASKS["msc"].cases(FIXTURES / "locomo", Sample())


async def test_realpersona_in_japanese() -> None:
    """The last meeting is asked for, with memos compressed by function words."""
    work = job("realpersona", "session", "memos:random-50", "memos:whole")
    async with lab() as parts:
        result = await execute(work, lab=parts, course=course(work))
    for method in result.methods:
        assert [item.group for item in method.items] == ["last meeting"]
    assert result.prompts["ja/reply"]


@pytest.mark.parametrize("task", ["realpersona", "mtbench-plus"])
async def test_forced_memos_enter_every_prompt_that_any_memo_is_for(task: str) -> None:
    """By the product's own threshold memos keep silent; forced, the best enter, and compressing
    them at random loses words of the gold reply or the evidence where function words lose fewer."""
    sweep = ("memos:whole", "memos:random-75", "memos:function-100")
    work = job(task) if task == "realpersona" else job(task, session="10")
    known = registry(analyser=analyser_for)
    names = ("session", "memos:whole", *(f"{name}:forced" for name in sweep))
    work = replace(work, methods=tuple(parse(name, known) for name in names))
    async with lab() as parts:
        result = await execute(work, lab=parts, course=course(work))
    spoke = {m.name: [i.scores["spoke up"] for i in m.items] for m in result.methods}
    assert not any(spoke["session"])
    for name in sweep:
        assert sum(spoke[f"{name}:forced"]) > sum(spoke["memos:whole"]), name
    measure = "gold words" if task == "realpersona" else "evidence words"
    kept = {m.name: sum(i.scores.get(measure, 0.0) for i in m.items) for m in result.methods}
    assert kept["session"] == 0 < kept["memos:whole:forced"]
    assert kept["memos:random-75:forced"] <= kept["memos:function-100:forced"]
    assert kept["memos:function-100:forced"] <= kept["memos:whole:forced"]


@pytest.mark.parametrize("task", ["msc", "mtbench-plus", "memorybank"])
async def test_marks_come_with_what_the_judge_is_worth(task: str) -> None:
    """A judge that gives everything 100 is told to accept every wrong reply, by every criterion
    that the task has, before its marks can be read."""
    work = job(task, "session")
    if task == "msc":
        work = job(task, "session", sessions="5", memory="no")
    if task == "memorybank":  # the fixture's users are not those whose turns were labelled
        labelled = MemoryBankQuestions(labels="0.0u 1.0u")
        work = replace(work, task=labelled, cases=labelled.cases(FIXTURES, work.sample))
    kind = ScriptedModel([lambda _: '{"score": 100}'] * 200, name="kind")
    async with lab(judge=kind) as parts:
        result = await execute(work, lab=parts, course=course(work))
    for name in getattr(work.task, "criteria", ()):
        wrong = f"the judge kind accepts wrong replies (all) as {name}, with 50 or more: 100.0 %"
        assert any(note.startswith(wrong) and "AUC 0.50" in note for note in result.notes)
        assert all(item.scores[name] == 100 for item in result.methods[0].items)


async def test_words_survive_by_themselves_where_none_are_written_apart() -> None:
    """In Japanese a word is there although the particles around it are gone; half a word is not;
    words of this session, and words never said, do not count."""
    gold = "山の湖で魚を釣りました。"
    said = TextSet.of(["去年は山の湖で魚を釣った。"])

    async def share(memory: str, seen: str = "") -> float | None:
        return await words_brought_back(
            gold, [memory], said=said, seen=TextSet.of([seen]), language="ja", analyser=analyser_for
        )

    assert await share("去年山湖魚釣った") == 1
    assert await share("去年は山の") == pytest.approx(0.25, abs=0.1)
    assert await share("山", seen="湖で魚を釣り") == 1
    assert await share("山", seen=gold) is None


async def test_methods_that_run_together_give_the_same_result() -> None:
    """All at once or one after another: the same items in the same order, and no call twice."""
    work = job("mtbench-plus", "session", "context", "memos:whole:forced")
    async with lab() as parts:
        one = await execute(work, lab=parts, course=course(work))
    work = job("mtbench-plus", "session", "context", "memos:whole:forced")
    async with lab() as parts:
        other = await execute(work, lab=parts, course=replace(course(work), together=True))
    assert [m.name for m in other.methods] == [m.name for m in one.methods]
    assert [m.items for m in other.methods] == [m.items for m in one.methods]
    fresh = [sum(m.calls - m.cached for m in r.methods) for r in (one, other)]
    assert fresh[0] == fresh[1]
    assert other.complete


async def test_replies_are_judged_in_pairs_and_the_bias_of_the_judge_is_told() -> None:
    """A judge that always picks the first gives ties only, a bias of 1, and is found out on true
    replies against foreign ones."""
    first = ScriptedModel([lambda _: '{"better": "A"}'] * 200, name="first-picker")
    work = job("msc", "session", "context", sessions="5", memory="no")
    async with lab(judge=first) as parts:
        # The single marks of this judge cannot be read: they are left unscored.
        result = await execute(replace(work, against="session"), lab=parts, course=course(work))
    [duel] = result.duels
    assert (duel.one, duel.other) == ("session", "context")
    assert (duel.wins, duel.ties, duel.losses) == (0, 4, 0)
    assert (duel.consistent, duel.position_bias) == (0.0, 1.0)
    assert any("does not prefer the true reply" in note for note in result.notes)
    assert all("coherent" in item.unscored for item in result.methods[0].items)


async def test_likeness_names_its_encoder() -> None:
    """Replies are scored token by token where an encoder is given, and the notes say which."""

    class Letters:
        """An encoder whose tokens are words and whose vectors count letters."""

        name = "letters, layer 0"

        async def encode(self, texts: Sequence[str]) -> list[TokenVectors]:
            return [_letters(text) for text in texts]

        async def close(self) -> None:
            """Nothing to let go."""

    work = job("msc", "session", sessions="5", memory="no")
    async with lab() as parts:
        parts = replace(parts, encoder=Letters())
        result = await execute(work, lab=parts, course=course(work))
    assert all(0 < item.scores["likeness"] <= 1 for item in result.methods[0].items)
    assert any("letters, layer 0" in note for note in result.notes)


def _letters(text: str) -> TokenVectors:
    words = text.lower().split() or ["-"]
    rows = [[float(word.count(letter)) + 0.01 for letter in "aeionrst"] for word in words]
    return TokenVectors(
        vectors=np.array(rows, dtype=np.float32), counts=np.ones(len(words), dtype=np.float32)
    )
