"""Text similarity by token vectors: BERTScore's formula with any encoder.

BERTScore (Zhang et al. 2020) matches each token of a reply with the nearest token of the gold
reply, and vice versa, by cosine in a layer of a named encoder; precision and recall are the means.
A score is meaningful only together with the encoder's name. There are two implementations:

- `encoded_scores` uses the token vectors of a local encoder (such as the last layer of gte-small).
  Do not call it the paper's BERTScore, which uses another encoder: figures of two encoders are not
  comparable.
- `library_scores` uses the maintained library, `bert-score`, with a model of the hub or a local
  folder. With the same encoder the two agree (docs/experiments/*-measures.md).

[CLS] and [SEP] can be matched but do not count, as in the library without idf weights.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omoide.errors import BadInput, DownloadFailed, MissingExtra
from omoide_bench.metrics.overlap import Score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.ports import TokenEncoder, TokenVectors


@dataclass(frozen=True, kw_only=True)
class EncodedScores:
    """One score per reply, and the encoder's name."""

    encoder: str
    scores: tuple[Score, ...]


def greedy_match(reply: TokenVectors, gold: TokenVectors) -> Score:
    """The cosine of each token's nearest match, averaged over the tokens that count."""
    import numpy as np

    if not reply.counts.any() or not gold.counts.any():
        return Score(precision=0.0, recall=0.0)
    ours, theirs = (
        text.vectors / np.maximum(np.linalg.norm(text.vectors, axis=1, keepdims=True), 1e-12)
        for text in (reply, gold)
    )
    cosines = ours @ theirs.T
    return Score(
        precision=float(cosines.max(axis=1) @ reply.counts / reply.counts.sum()),
        recall=float(cosines.max(axis=0) @ gold.counts / gold.counts.sum()),
    )


async def encoded_scores(
    encoder: TokenEncoder, replies: Sequence[str], gold: Sequence[str]
) -> EncodedScores:
    """Score each reply against its gold reply."""
    distinct = list(dict.fromkeys((*replies, *gold)))
    vectors = dict(zip(distinct, await encoder.encode(distinct), strict=True))
    return EncodedScores(
        encoder=encoder.name,
        scores=tuple(
            greedy_match(vectors[reply], vectors[reference])
            for reply, reference in zip(replies, gold, strict=True)
        ),
    )


def library_scores(
    replies: Sequence[str], gold: Sequence[str], *, model: str, layer: int | None = None
) -> EncodedScores:
    """BERTScore by the `bert-score` library; `model` is a name on the hub or a local folder.

    `layer` is required for a model that the library does not know, such as a local folder.
    Raises `MissingExtra` or `DownloadFailed`.
    """
    library = _library()
    try:
        precision, recall, _ = library.score(
            list(replies), list(gold), model_type=model, num_layers=layer
        )
    except (OSError, KeyError) as error:
        raise DownloadFailed(
            f"bert-score cannot use the encoder {model!r} ({error}); give a local folder and its "
            "layer, or use a local token encoder"
        ) from error
    return EncodedScores(
        encoder=f"{model}, layer {layer if layer is not None else 'of the library'}",
        scores=tuple(
            Score(precision=p, recall=r)
            for p, r in zip(precision.tolist(), recall.tolist(), strict=True)
        ),
    )


@dataclass(frozen=True)
class BertScore:
    """The `bert-score` library as an encoder; `layer` as in `library_scores`."""

    model: str
    layer: int | None = None

    @classmethod
    def named(cls, spec: str) -> BertScore | None:
        """Parse `bert-score:roberta-large`, or `bert-score:FOLDER@12` with a layer; None for the
        name of an encoder. Raises `MissingExtra` at once, not after hours of replies."""
        kind, mark, rest = spec.partition(":")
        if kind != "bert-score" or not mark:
            return None
        model, at, layer = rest.rpartition("@")
        if at and not layer.isdecimal():
            raise BadInput(f"the layer must be a number, as in bert-score:FOLDER@12, got {layer!r}")
        _library()
        return cls(model, int(layer)) if at else cls(rest)

    @property
    def name(self) -> str:
        """Model and layer: the score is meaningless without them."""
        layer = "the layer of the library" if self.layer is None else f"layer {self.layer}"
        return f"BERTScore by its library with {self.model}, {layer}"

    async def scores(self, replies: Sequence[str], gold: Sequence[str]) -> EncodedScores:
        """Score each reply against its gold reply, in a thread because torch is slow."""
        return await asyncio.to_thread(
            library_scores, replies, gold, model=self.model, layer=self.layer
        )

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""


def _library() -> Any:  # noqa: ANN401 - bert-score ships no types
    try:
        from importlib import import_module

        return import_module("bert_score")
    except ImportError as error:
        raise MissingExtra("BERTScore needs bert-score: pip install 'omoide[bertscore]'") from error
