"""The runs behind the results page, most important first."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True)
class SuiteRun:
    """One run of the suite, with one result file."""

    name: str
    about: str
    task: str
    methods: tuple[str, ...]
    limit: int | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Overrides of the product's settings."""

    against: str = ""
    """The method whose replies a judge compares with those of every other method, if any."""

    def scaled(self, scale: float) -> SuiteRun:
        """The run with its sample size multiplied by `scale`."""
        return replace(self, limit=self.limit and max(1, round(self.limit * scale)))


PLAIN = ("context", "session", "bm25")
SWEEP = (
    "memos:whole",
    "memos:random-25",
    "memos:random-50",
    "memos:random-75",
    "memos:function-25",
    "memos:function-50",
    "memos:function-75",
    "memos:function-100",
)
"""Paper C's compressions."""
WANG = "as:wang2023"
WANG_BASELINES = (
    f"{WANG},mechanisms=session",
    f"{WANG},mechanisms=context,reply_form=context",
    *(
        f"{WANG},mechanisms={ranker}:{k},reply_form=retrieval"
        for ranker in ("bm25", "dense")
        for k in (3, 5)
    ),
    *(
        f"{WANG},mechanisms={ranker}:5+summary,reply_form=retrieval+memory"
        for ranker in ("bm25", "dense")
    ),
    f"{WANG},mechanisms=gold",
)
"""Paper A's baselines and combinations in the prompts of its appendix."""
WANG_LONG = (
    WANG_BASELINES[1],
    f"{WANG},mechanisms=context+summary,reply_form=retrieval+memory",
)
"""Paper A's long context: all history, and all history with the summary."""
TANIGUCHI = "as:taniguchi2025"
TANIGUCHI_SWEEP = (
    f"{TANIGUCHI},mechanisms=session,memory_tokens=1",
    f"{TANIGUCHI},compression=none,compression_percent=0",
    *(f"{TANIGUCHI},compression=random,compression_percent={n}" for n in (25, 50, 75)),
    TANIGUCHI,
    *(f"{TANIGUCHI},compression_percent={n}" for n in (50, 75, 100)),
    "as:omoide,window=4096",
)
"""Paper C's Tables 2 to 4: without memos, whole, compressed; and ours in the same window."""
THREE = "summary+memos+human-recall"
"""All three mechanisms that digest sessions."""
SUITE: tuple[SuiteRun, ...] = (
    SuiteRun(
        name="msc-replies",
        about="replies at session 5 of MSC: baselines, every mechanism, gold memory (Tables 3, 5)",
        task="msc",
        methods=(
            *PLAIN,
            "dense",
            "summary",
            "search",
            "summary+search",
            "memory-bank",
            "memochat",
            "memos",
            "human-recall",
            "generative-agents",
            "gold",
        ),
        limit=50,
        options={"sessions": "5", "memory": "no"},
    ),
    SuiteRun(
        name="msc-judged",
        about="replies at session 5 of MSC by three criteria and in pairs (Table 4, Figure 4)",
        task="msc",
        methods=(*PLAIN, "summary+search", "gold"),
        limit=50,
        options={"sessions": "5", "memory": "no"},
        against="summary+search",
    ),
    SuiteRun(
        name="msc-memory",
        about="memory before session 5 of MSC against annotated facts (Figure 5)",
        task="msc",
        methods=("summary", "summary:paper", "memory-bank", "memochat", "human-recall"),
        limit=100,
        options={"sessions": "5", "memory": "only", "audit": "yes"},
    ),
    SuiteRun(
        name="locomo-evidence",
        about="all of LoCoMo: evidence among the first k turns, no model calls",
        task="evidence",
        methods=("BM25", "rank fusion", "recall"),
    ),
    SuiteRun(
        name="locomo-answers",
        about="one LoCoMo conversation end to end, which recall was not fitted on",
        task="locomo",
        methods=(
            *PLAIN,
            "dense",
            "search",
            "summary",
            "summary+search",
            "memory-bank",
            "memochat",
            "memos",
            "human-recall",
            "generative-agents",
        ),
        options={"conversations": "conv-44"},
    ),
    SuiteRun(
        name="dmr-like",
        about="short answers about what was told once in MSC, like Deep Memory Retrieval",
        task="dmr-like",
        methods=("session", "bm25", "search", "summary+search"),
        limit=200,
    ),
    SuiteRun(
        name="personamem",
        about="all of PersonaMem: which of four replies fits the user",
        task="personamem",
        methods=("session", "bm25", "summary+search"),
    ),
    SuiteRun(
        name="memdaily",
        about="Chinese multiple choice about daily messages, and its evidence",
        task="memdaily",
        methods=("session", "bm25", "summary+search"),
        limit=100,
    ),
    SuiteRun(
        name="friend",
        about="replies to a friend who comes back after weeks, our own stories",
        task="friend",
        methods=("summary+search",),
    ),
    SuiteRun(
        name="noise",
        about="what memory puts into prompts that need nothing from it, no model calls",
        task="noise",
        methods=("bm25", "dense", "search"),
    ),
    SuiteRun(
        name="faults",
        about="what is left of sessions that a failing model wrote down, no model calls",
        task="faults",
        methods=("bm25", "search", "summary+search"),
    ),
    SuiteRun(
        name="beam-evidence",
        about="two chats of BEAM: evidence in the prompt, no model calls",
        task="beam",
        methods=("bm25", "search"),
        limit=2,
        options={"answers": "no"},
    ),
    SuiteRun(
        name="fused-msc",
        about="one call per session against one per mechanism: what is written, and its cost",
        task="msc",
        methods=(THREE, f"{THREE}@fused"),
        limit=100,
        options={"sessions": "2,3,4,5", "memory": "only", "parts": "yes"},
    ),
    SuiteRun(
        name="fused-locomo",
        about="the same on one LoCoMo conversation: evidence among the best events and memos",
        task="locomo",
        methods=(THREE, f"{THREE}@fused"),
        options={"conversations": "conv-44", "parts": "yes"},
    ),
    SuiteRun(
        name="msc-combinations",
        about="retrieval with and without the summary at session 5 of MSC (Table 8)",
        task="msc",
        methods=(
            *("bm25:5", "bm25:5+summary", "dense:5", "dense:5+summary"),
            *("context", "context+summary"),
        ),
        limit=50,
        options={"sessions": "5", "memory": "no"},
    ),
    SuiteRun(
        name="mtbench-plus",
        about="all of MT-Bench+: retrospection, continuation, conjunction (paper C)",
        task="mtbench-plus",
        methods=(*PLAIN, "search", "memochat", "memos", "summary", "summary+search"),
    ),
    SuiteRun(
        name="mtbench-compression",
        about="memos on MT-Bench+ by compression, with the usual budget (paper C's sweep)",
        task="mtbench-plus",
        methods=SWEEP,
    ),
    SuiteRun(
        name="mtbench-forced",
        about="the same, the best memos always in the prompt: the effect of compression alone",
        task="mtbench-plus",
        methods=("session", *(f"{name}:forced" for name in SWEEP)),
    ),
    SuiteRun(
        name="japanese-forced",
        about="Japanese replies, the best memos always in the prompt, by compression",
        task="realpersona",
        methods=("session", *(f"{name}:forced" for name in SWEEP)),
        limit=30,
    ),
    SuiteRun(
        name="memo-tasks",
        about="writing, choosing and replying with memos (paper C, Table 1)",
        task="memo",
        methods=("memochat", "memos"),
        limit=50,
    ),
    SuiteRun(
        name="recall-protocol",
        about="paper B's protocol on LoCoMo and MSC, no model calls",
        task="recall",
        methods=(
            *("as:hou2024", "as:hou2024,event_relevance=cosine", "as:omoide"),
            *("generative-agents:heuristic", "cosine"),
        ),
    ),
    SuiteRun(
        name="growth",
        about="prompt tokens and latency against sessions, synthetic users",
        task="growth",
        methods=(*PLAIN, "summary", "search", "summary+search", "memos", "human-recall"),
    ),
    SuiteRun(
        name="wang2023",
        about="replies and memory at session 5 of MSC with the paper's prompts (Tables 3, 5, 8)",
        task="msc",
        methods=(WANG, *WANG_BASELINES, "as:memochat", "as:memorybank", "as:omoide"),
        limit=50,
        options={"sessions": "5", "audit": "yes"},
    ),
    SuiteRun(
        name="wang2023-judged",
        about="the same by three criteria and in pairs (Table 4, Figure 4)",
        task="msc",
        methods=(WANG, WANG_BASELINES[1], "as:memochat", "as:memorybank", "as:omoide"),
        limit=50,
        options={"sessions": "5", "memory": "no"},
        against=WANG,
    ),
    SuiteRun(
        name="wang2023-long-context",
        about="all history with and without the summary; with --iterator, one that another model "
        "writes (Table 9)",
        task="msc",
        methods=(WANG, *WANG_LONG),
        limit=50,
        options={"sessions": "5", "memory": "no"},
    ),
    *(
        SuiteRun(
            name=f"wang2023-{shots}-shot",
            about=f"the same after {shots} examples of the valid part (Table 7)",
            task="msc",
            methods=(WANG,),
            limit=50,
            options={"sessions": "4,5", "memory": "no", "shots": shots},
        )
        for shots in ("2", "3")
    ),
    SuiteRun(
        name="taniguchi2025-tasks",
        about="writing, choosing and replying with memos by the paper's preset (Table 1)",
        task="memo",
        methods=(TANIGUCHI, "as:memochat"),
        limit=50,
    ),
    SuiteRun(
        name="taniguchi2025-tasks-japanese",
        about="the same in Japanese",
        task="memo-ja",
        methods=(TANIGUCHI, "as:memochat"),
        limit=50,
    ),
    SuiteRun(
        name="taniguchi2025",
        about="all of MT-Bench+ by compression, each method with its own history (Tables 2 to 4)",
        task="mtbench-plus",
        methods=TANIGUCHI_SWEEP,
        options={"history": "own"},
    ),
    SuiteRun(
        name="taniguchi2025-japanese",
        about="Japanese replies with the same methods",
        task="realpersona",
        methods=TANIGUCHI_SWEEP,
        limit=30,
    ),
    SuiteRun(
        name="msc-session-4",
        about="replies at session 4 of MSC (Table 7)",
        task="msc",
        methods=(*PLAIN, "dense", "summary", "search", "summary+search", "gold"),
        limit=50,
        options={"sessions": "4", "memory": "no"},
    ),
    SuiteRun(
        name="memorybank-en",
        about="MemoryBank's probing questions in English, judged",
        task="memorybank",
        methods=(*PLAIN, "search", "memory-bank", "summary", "summary+search"),
    ),
    SuiteRun(
        name="memorybank-zh",
        about="MemoryBank's probing questions in Chinese, judged",
        task="memorybank",
        methods=(*PLAIN, "search", "memory-bank", "summary", "summary+search"),
        options={"language": "zh"},
    ),
    SuiteRun(
        name="longmemeval",
        about="LongMemEval, as many questions as there are",
        task="longmemeval",
        methods=(*PLAIN, "dense", "search"),
    ),
)
