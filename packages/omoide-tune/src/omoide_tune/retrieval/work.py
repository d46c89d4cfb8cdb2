"""From talks to a tuned retriever: the stages behind `omoide tune pairs`, `tune retriever` and
`tune question-map`.

A folder holds what the stages leave: `conversations.jsonl.gz`, `pairs.jsonl` with its `card.json`,
and the tuned encoder as `NAME.npz` and `NAME.int8.onnx`. A map of questions is one file and its
card.
"""

from __future__ import annotations

import gzip
import json
import random
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omoide.errors import BadInput
from omoide.ports import Completion, Message, QueryEmbedder, Request
from omoide_tune import written
from omoide_tune.retrieval import (
    asking,
    conversations,
    encoder,
    export,
    pairs,
    question_map,
    question_pools,
    train,
)
from omoide_tune.retrieval.shapes import LICENCES, Conversation, pools

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from omoide.ports import ChatModel, Embedder, Vectors

CONVERSATIONS, PAIRS, CARD = "conversations.jsonl.gz", "pairs.jsonl", "card.json"
REPLY = 200
"""Most tokens of one answer, which holds several questions."""
TINY = 8
"""Conversations of a tiny run."""
TINY_MAP = 60
"""Conversations of a tiny run that learns a map: some of them have to be held out."""
EMBEDDED = 1024
"""Texts that are embedded at a time."""


@dataclass(frozen=True, kw_only=True)
class PairCounts:
    """What `make_pairs` did."""

    conversations: int
    turns_asked_about: int
    questions: int
    kept: int


async def make_pairs(
    data: Path,
    folder: Path,
    *,
    model: ChatModel,
    embedder: Embedder,
    sources: Sequence[str] = (),
    most: int | None = None,
    share: float = 0.3,
    tell: Callable[[str], None] = lambda line: None,
) -> PairCounts:
    """Let the model ask about turns of the talks in `data`, keep the questions that find their
    turn again, and write them with their card. `most` limits the conversations, `share` is how
    many of the turns worth asking about are asked about."""
    talks = list(conversations.read(data, names=sources))
    random.Random(1).shuffle(talks)  # noqa: S311 - an order, not a secret
    talks = talks[:most]
    asked: dict[str, list[pairs.Question]] = defaultdict(list)
    requests = [one for talk in talks for one in asking.requests(talk, share=share)]
    for number, request in enumerate(requests, 1):
        reply = await _answer(model, request)
        for style, text in asking.parsed(reply, request.language).items():
            asked[request.conversation].append(
                pairs.Question(
                    text=text, style=style, conversation=request.conversation, turn=request.turn
                )
            )
        if number % 50 == 0:
            tell(f"{number} of {len(requests)} turns")
    kept: list[pairs.Pair] = []
    pool_of: dict[str, int] = {}
    for number, pool in enumerate(pools(talks)):
        pool_of |= {one.name: number for one in pool}
        kept += await _checked(pool, [q for one in pool for q in asked[one.name]], embedder)
    kept += list(pairs.unanswered(kept, pool_of))
    questions = sum(map(len, asked.values()))
    card = pairs.card(kept, asked=questions, licences=LICENCES, model=model.name)
    _keep(folder, talks, kept, card)
    return PairCounts(
        conversations=len(talks),
        turns_asked_about=len(requests),
        questions=questions,
        kept=len(kept),
    )


def _keep(
    folder: Path, talks: Iterable[Conversation], kept: Iterable[pairs.Pair], card: dict[str, object]
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / CONVERSATIONS, (one.record() for one in talks))
    pairs.write(folder / PAIRS, kept)
    (folder / CARD).write_text(json.dumps(card, indent=1, ensure_ascii=False), encoding="utf-8")


async def _answer(model: ChatModel, request: asking.Request) -> str:
    messages = tuple(Message(role=role, content=text) for role, text in request.messages)
    text = ""
    async for part in model.stream(Request(messages=messages, max_tokens=REPLY)):
        if isinstance(part, Completion):
            text = part.text
    return text


async def _checked(
    pool: Sequence[Conversation], questions: Sequence[pairs.Question], embedder: Embedder
) -> list[pairs.Pair]:
    """The questions that find their turn among the turns of the pool."""
    if not questions:
        return []
    turns = await embedder.embed([turn.text for one in pool for turn in one.turns])
    asked = await embedder.embed([question.text for question in questions])
    return list(pairs.checked(pool, questions, turns=np.asarray(turns), asked=np.asarray(asked)))


@dataclass(frozen=True, kw_only=True)
class Retriever:
    """What `train_retriever` made."""

    pairs: int
    """That it was trained on."""
    losses: tuple[float, ...]
    seconds: float
    onnx: Path
    bytes: int


def train_retriever(
    folder: Path,
    *,
    base: Path | None,
    tokenizer: Path,
    name: str,
    recipe: train.Recipe,
    languages: Sequence[str] = ("en",),
    tiny: bool = False,
    tell: Callable[[str], None] = lambda line: None,
) -> Retriever:
    """Tune the encoder in the ONNX file `base` on the folder's pairs, and write it in int8.
    If `tiny`, a small random network is trained for a few steps instead."""
    chosen = [pair for pair in pairs.read(folder / PAIRS) if pair.language in languages]
    texts = {
        (one["name"], turn["id"]): turn["text"]
        for one in _read(folder / CONVERSATIONS)
        for turn in one["turns"]
    }
    torch = encoder.vendor("torch")
    device = "cuda" if torch.cuda.is_available() and not tiny else "cpu"
    state = {} if base is None else encoder.weights(base)
    words = encoder.tokenizer(tokenizer)
    made = encoder.Encoder(encoder.build(state, tiny=tiny), words, device=device)
    outcome = train.train(made, chosen, texts, recipe=recipe, tell=tell)
    weights = {k: v.detach().cpu().numpy().astype("f2") for k, v in made.model.state_dict().items()}
    np.savez(folder / f"{name}.npz", **weights)
    big, small = folder / f"{name}.fp32.onnx", folder / f"{name}.int8.onnx"
    export.write_onnx(made.model, big)
    export.quantise(big, small)
    big.unlink()
    return Retriever(
        pairs=outcome.pairs,
        losses=outcome.losses,
        seconds=outcome.seconds,
        onnx=small,
        bytes=small.stat().st_size,
    )


@dataclass(frozen=True, kw_only=True)
class LearntMap:
    """What `make_question_map` did."""

    questions: int
    """That it was trained on."""
    unread: int
    """Questions whose turns were not found."""
    held_out: tuple[question_pools.HeldOutRecall, ...]


async def make_question_map(
    out: Path,
    *,
    data: Path | None,
    embedder: Embedder,
    recipe: question_map.MapRecipe,
    languages: Sequence[str],
    most: int | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> LearntMap:
    """Learn a map from the written questions in these languages, and write it to `out` with its
    card beside it. Without `data`, only talks that are part of this package are read; `most`
    limits the conversations with questions.
    """
    asked = [
        question
        for language in languages
        for question in written.questions(language)
        if data or question.source in conversations.SHIPPED
    ]
    if most:
        named = sorted({question.conversation for question in asked})[:most]
        asked = [question for question in asked if question.conversation in named]
    pools = _question_pools(asked, data)
    found = sum(len(pool.questions) for pool in pools)
    tell(f"{found:,} of {len(asked):,} questions have their turns")
    questions = [question.text for pool in pools for question in pool.questions]
    queries = embedder.embed_queries if isinstance(embedder, QueryEmbedder) else embedder.embed
    vectors = question_pools.TextVectors(
        asked=await _vectors(questions, queries, tell),
        said=await _vectors([text for pool in pools for text in pool.turns], embedder.embed, tell),
    )
    parts = [
        question_map.examples(*vectors.of(pool), pool.right, recipe=recipe)
        for pool in pools
        if not pool.held_out
    ]
    examples = question_map.joined(parts)
    question_map.learn(examples, recipe=recipe).save(out, embedder=embedder.space.name)
    held_out = question_pools.held_out_recall(pools, vectors, question_map.QuestionMap.load(out))
    card = question_pools.card(
        pools, embedder=embedder.space.name, recipe=recipe, held_out=held_out
    )
    text = json.dumps(card, indent=1, ensure_ascii=False) + "\n"
    out.with_suffix(".json").write_text(text, encoding="utf-8")
    return LearntMap(
        questions=len(examples.questions), unread=len(asked) - found, held_out=held_out
    )


def _question_pools(
    asked: Sequence[written.WrittenQuestion], data: Path | None
) -> list[question_pools.QuestionPool]:
    sources = {question.source for question in asked}
    # Nothing is read from the folder if there is none.
    talks = list(conversations.read(data or Path(), names=sources))
    if missing := sorted(sources - {talk.source for talk in talks}):
        raise BadInput(
            f"there are no talks of {', '.join(missing)} in {data}. What to do: give the folder "
            "with the data sets as --data, or leave it out to use only talks of this package"
        )
    return list(question_pools.question_pools(asked, talks))


async def _vectors(
    texts: Iterable[str],
    embed: Callable[[Sequence[str]], Awaitable[Vectors]],
    tell: Callable[[str], None],
) -> dict[str, NDArray[np.float32]]:
    """By text; those of one batch are of like length, as they are padded to the longest."""
    vectors: dict[str, NDArray[np.float32]] = {}
    order = sorted(set(texts), key=lambda text: (len(text), text))
    for start in range(0, len(order), EMBEDDED):
        part = order[start : start + EMBEDDED]
        vectors |= zip(part, np.asarray(await embed(part), np.float32), strict=True)
        tell(f"{len(vectors):,} of {len(order):,} texts embedded")
    return vectors


def _write(path: Path, records: Iterable[dict[str, Any]]) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def _read(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class TinyAsker:
    """A model that asks for the longest word of the marked line: enough to try the stages out."""

    name = "tiny"
    window = 4096

    async def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
        """One question of the first style."""
        line = request.messages[-1].content.splitlines()[-1].partition(": ")[2]
        longest = max(line.split(), key=len, default="")
        text = f"direct: What did you say about {longest.strip('.,!?')}?"
        yield text
        yield Completion(
            text=text, prompt_tokens=0, completion_tokens=0, seconds=0.0, finish="stop"
        )

    async def count(self, text: str) -> int:
        """Its words."""
        return len(text.split())

    async def close(self) -> None:
        """Nothing to release."""
