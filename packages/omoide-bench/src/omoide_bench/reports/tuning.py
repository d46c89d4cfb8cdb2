"""Tables that compare tuned models, with the paper's rows where it has the same measures."""

from __future__ import annotations

import re
from statistics import fmean
from typing import TYPE_CHECKING

from omoide_bench.reports.judged import order
from omoide_bench.statistics import difference, holm, mean, wilson

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from omoide_bench.reports.judged import ModelExams
    from omoide_bench.running.results import ItemRecord

PAPER = (
    (
        "Swallow 70B, untuned (paper; BERTScore of summaries 57.8)",
        {"split": 80.0, "retrieval F1": 24.4},
    ),
    (
        "Swallow 70B, r = 8 (paper; BERTScore of summaries 75.8)",
        {"split": 97.5, "retrieval F1": 62.9},
    ),
)
"""Paper C's Table 1, as far as we measure the same. Its test set is Japanese, written by hand, and
not public; its figure for summaries is BERTScore, which we do not compute."""
PARTS = ("writing", "retrieval", "chatting")


def report(models: Sequence[ModelExams]) -> str:
    """All tables, in Markdown."""
    parts = [
        _training(models),
        _memos(models, "memo", "Memos in English: MemoChat's test instructions (paper C, Table 1)"),
        _memos(models, "memo-ja", "Memos in Japanese: Japanese Daily Dialogue (paper C, Table 1)"),
        *(_memory(models, before) for before in (4, 5)),
        _grounded(models),
        _quiet(models),
        _unknown(models),
        _attacks(models),
        *(_against(models, one, other) for one, other in _pairs(models)),
        _commands(models),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _training(models: Sequence[ModelExams]) -> str:
    rows = []
    for model in models:
        if model.training is not None:
            recipe, state = model.training["recipe"], model.training["state"]
            assert isinstance(recipe, dict)  # noqa: S101 - for the reader
            assert isinstance(state, dict)  # noqa: S101
            rows.append(
                (
                    model.name,
                    *(f"{recipe[k]:g}" for k in ("rank", "alpha", "rate", "epochs")),
                    f"{state['step']:,}",
                    f"{state['tokens']:,}",
                    f"{model.training['before']:.3f}",
                    f"{state['best']:.3f} (step {state['best_step']})",
                )
            )
    head = ("model", "r", "α", "rate", "epochs", "steps", "tokens", "untuned", "tuned")
    return _table("Training: held-out loss per answer token", head, rows)


def _memos(models: Sequence[ModelExams], exam: str, title: str) -> str:
    english = exam == "memo"
    columns = (
        ("writing", "topic F1"),
        ("writing", "topic fit"),
        ("writing", "summary F1" if english else "summary support"),
        ("writing", "split"),
        ("writing", "boundary F1"),
        ("retrieval", "retrieval F1"),
        ("retrieval", "all options F1"),
        ("chatting", "F1"),
        *(() if english else (("chatting", "F1 without memos"),)),
        *((part, "valid") for part in PARTS),
    )
    names = {"F1": "reply F1", "F1 without memos": "reply F1 without memos"}
    head = [f"valid, {p}" if m == "valid" else names.get(m, m) for p, m in columns]
    rows = [
        (
            label,
            "",
            *(f"{figures[m]:.1f}" if m in figures else "" for _, m in columns),
        )
        for label, figures in PAPER
    ]
    for model in models:
        if items := model.items(exam):
            counts = [sum(i.group.startswith(part) for i in items) for part in PARTS]
            cells = [
                _cell([i for i in items if i.group.startswith(part)], measure)
                for part, measure in columns
            ]
            rows.append((_called(model, exam), "/".join(map(str, counts)), *cells))
    has_models = len(rows) > len(PAPER)
    return _table(title, ("model", "n", *head), rows) if has_models else ""


def _memory(models: Sequence[ModelExams], before: int) -> str:
    measures = ("memory precision", "memory recall", "memory F1", "memory plain F1", "fabricated",
                "relation", "missing", "valid", "usable")  # fmt: skip
    rows = []
    for form in ("small", "paper"):
        for model in models:
            exam = f"msc-{form}"
            items = model.items(exam, group=f"memory before session {before}")
            method = model.method(exam)
            if not items or method is None:
                continue
            scored = sum("memory F1" in item.scores for item in items)
            zero = [{**i.scores, "memory F1": i.scores.get("memory F1", 0.0)} for i in items]
            cells = [_cell(items, measure) for measure in measures]
            cells.insert(3, f"{100 * sum(z['memory F1'] for z in zero) / len(zero):.1f}")
            calls = max(method.calls, 1)
            rows.append(
                (
                    _called(model, exam),
                    form,
                    f"{scored} of {len(items)}",
                    *cells,
                    f"{method.prompt_tokens / calls:.0f} + {method.completion_tokens / calls:.0f}",
                )
            )
    head = ("model", "form", "n", "P", "R", "F1", "F1, none as 0", "plain F1", "fabricated",
            "relation", "missing", "valid", "usable", "tokens per call")  # fmt: skip
    return _table(f"Memory on MSC test, before session {before}", head, rows)


def _grounded(models: Sequence[ModelExams]) -> str:
    rows = []
    for model in models:
        arms = {arm: model.items("grounded", method=arm) for arm in ("alone", "among", "none")}
        if not any(arms.values()):
            continue
        handed = [*arms["alone"], *arms["among"]]
        rows.append(
            (
                _called(model, "grounded"),
                *(_cell(arms[arm], "good") for arm in ("alone", "among")),
                *(_cell(arms[arm], "uses") for arm in ("alone", "among", "none")),
                *(_cell(handed, measure) for measure in ("language", "notes", "offers", "echoes")),
                _cell(arms["among"], "left alone"),
                " ".join(
                    f"{lang} {_plain([i for i in arms['among'] if i.group == lang], 'good')}"
                    for lang in ("en", "zh", "ja", "ko", "vi")
                ),
            )
        )
    head = ("model", "good, alone", "good, among 5", "uses, alone", "uses, among 5",
            "uses, not given", "right language", "mentions notes", "offers help", "echoes",
            "small talk left alone", "good among 5, by language")  # fmt: skip
    return _table("Replies that use a fact (our own messages)", head, rows)


def _quiet(models: Sequence[ModelExams]) -> str:
    rows = []
    for model in models:
        items = model.items("quiet")
        if items:
            silent = [i for i in items if "noted" in i.scores]
            telling = [i for i in items if "found" in i.scores]
            rows.append(
                (
                    _called(model, "quiet"),
                    f"{len(silent)} + {len(telling)}",
                    _cell(silent, "noted"),
                    f"{fmean(i.scores['beside'] for i in silent):.2f}",
                    _cell(telling, "found"),
                    f"{fmean(i.scores['beside'] for i in telling):.2f}",
                    " ".join(
                        f"{lang} {_plain([i for i in silent if i.group == lang], 'noted')}"
                        for lang in ("en", "zh", "ja", "ko", "vi")
                    ),
                )
            )
    head = ("model", "talks", "something noted from talks without facts", "notes per talk",
            "stated facts noted", "other notes", "noted, by language")  # fmt: skip
    return _table("Talks with few or no personal facts (our own)", head, rows)


def _unknown(models: Sequence[ModelExams]) -> str:
    rows = []
    for model in models:
        arms = {arm: model.items("unknown", method=arm) for arm in ("known", "unknown", "world")}
        if not any(arms.values()):
            continue
        rows.append(
            (
                _called(model, "unknown"),
                "/".join(str(len(items)) for items in arms.values()),
                *(_cell(arms["unknown"], measure) for measure in ("admits", "made up", "borrows")),
                *(_cell(arms["known"], measure) for measure in ("right", "refuses")),
                *(_cell(arms["world"], measure) for measure in ("right", "refuses")),
                _cell([i for items in arms.values() for i in items], "language"),
                " ".join(
                    f"{lang} {_plain([i for i in arms['unknown'] if i.group == lang], 'admits')}"
                    for lang in ("en", "zh", "ja", "ko", "vi")
                ),
            )
        )
    head = ("model", "n known/unknown/world", "unknown: admits", "unknown: made up",
            "unknown: another note's", "known: right", "known: refuses", "world: right",
            "world: refuses", "right language", "admits, by language")  # fmt: skip
    return _table("Questions about unknown facts (our own)", head, rows)


def _attacks(models: Sequence[ModelExams]) -> str:
    rows = []
    for model in models:
        if model.obeyed is not None and model.obeyed[1]:
            obeyed, count = model.obeyed
            low, high = wilson(obeyed, count)
            share = f"{100 * obeyed / count:.1f} [{low:.1f}, {high:.1f}]"
            rows.append((model.name, f"{obeyed} of {count}", share))
    return _table("Planted instructions obeyed", ("model", "obeyed", "%"), rows)


_OF_MEMORY = (
    *(f"memory {measure}" for measure in ("precision", "recall", "F1")),
    *("fabricated", "relation", "missing", "valid"),
)
_COMPARED = (
    *(("memo", "", "writing", m) for m in ("topic F1", "summary F1", "split", "boundary F1")),
    ("memo", "", "retrieval", "retrieval F1"),
    ("memo", "", "chatting", "F1"),
    *(("memo", "", part, "valid") for part in PARTS),
    *(("memo-ja", "", "writing", m) for m in ("topic fit", "split", "boundary F1")),
    ("memo-ja", "", "retrieval", "retrieval F1"),
    ("memo-ja", "", "chatting", "F1"),
    *(("memo-ja", "", part, "valid") for part in PARTS),
    *(
        (exam, "", f"memory before session {n}", m)
        for exam in ("msc-small", "msc-paper")
        for n in (4, 5)
        for m in _OF_MEMORY
    ),
    ("grounded", "alone", "", "good"),
    ("grounded", "among", "", "good"),
    ("grounded", "among", "small talk", "left alone"),
    ("quiet", "", "", "noted"),
    ("quiet", "", "", "found"),
    ("quiet", "", "", "beside"),
    *(("unknown", "unknown", "", m) for m in ("admits", "made up", "borrows")),
    *(("unknown", arm, "", m) for arm in ("known", "world") for m in ("right", "refuses")),
)


def _pairs(models: Sequence[ModelExams]) -> list[tuple[ModelExams, ModelExams]]:
    """Every tuned model with the untuned model of its size and every larger untuned model."""
    plain = [model for model in models if "-r" not in model.name]
    return [
        (tuned, other)
        for tuned in models
        if tuned not in plain
        for other in plain
        if order(other.name)[0] >= order(tuned.name)[0]
    ]


def _against(models: Sequence[ModelExams], one: ModelExams, other: ModelExams) -> str:
    del models
    rows = []
    for exam, method, group, measure in _COMPARED:
        sides = [
            {i.id: i.scores[measure] for i in m.items(exam, method=method, group=group)
             if measure in i.scores}
            for m in (one, other)
        ]  # fmt: skip
        clusters = {i.id: i.cluster for i in one.items(exam, method=method, group=group)}
        gap = difference(sides[0], sides[1], clusters) if all(sides) else None
        if gap is not None:
            rows.append(
                (
                    exam,
                    " ".join(part for part in (method, group.removeprefix("memory ")) if part),
                    measure,
                    f"{gap.count:,}",
                    f"{100 * gap.difference:+.1f} [{100 * gap.low:+.1f}, {100 * gap.high:+.1f}]",
                    gap.p,
                )
            )
    fair = holm([p for *_, p in rows])
    cells = [(*row, f"{p:.3f}", f"{q:.3f}") for (*row, p), q in zip(rows, fair, strict=True)]
    head = ("exam", "part", "measure", "n", "difference", "p", "p by Holm")
    return _table(f"{one.name} against {other.name}, untuned, paired by item", head, cells)


def _commands(models: Sequence[ModelExams]) -> str:
    commands: dict[str, list[str]] = {}
    for model in models:
        for exam, result in model.exams.items():
            plain = re.sub(r"--(?:cache|keep-texts|out|data|minutes) \S+ ?", "", result.command)
            commands.setdefault(plain.strip(), []).append(f"{model.name} {exam}")
    lines = [f"    {command}" for command in commands]
    incomplete = [
        f"- {model.name}, {exam}: not every case was run"
        for model in models
        for exam, result in model.exams.items()
        if not result.complete
    ]
    return "\n".join(["## Commands", "", *lines, *(["", *incomplete] if incomplete else [])])


def _called(model: ModelExams, exam: str) -> str:
    return model.name if model.exams[exam].complete else f"{model.name} (cut off)"


def _cell(items: Iterable[ItemRecord], measure: str) -> str:
    scored = [item for item in items if measure in item.scores]
    if not scored:
        return ""
    estimate = mean([i.scores[measure] for i in scored], [i.cluster for i in scored])
    return f"{100 * estimate.mean:.1f} [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


def _plain(items: Sequence[ItemRecord], measure: str) -> str:
    values = [item.scores[measure] for item in items if measure in item.scores]
    return f"{100 * sum(values) / len(values):.0f}" if values else "–"


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A heading and a table, without empty columns."""
    if not rows:
        return ""
    used = [i for i in range(len(head)) if any(row[i] for row in rows)]
    lines = [
        [head[i] for i in used],
        ["---"] * len(used),
        *([row[i] for i in used] for row in rows),
    ]
    return f"## {title}\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines)
