"""Likeness of texts by the vectors of their tokens: the formula of BERTScore, any encoder.

BERTScore (Zhang et al. 2020) matches each token of a reply with the nearest token of the gold reply
and the other way round, by cosine in a layer of a named encoder; precision and recall are the means
of these. The score means something only together with the encoder's name. Two ways are here:

- `encoded_scores` computes it over the token vectors of an encoder at hand (the last layer of
  gte-small, say). It is never to be called the paper's BERTScore, which is of another encoder and
  lies elsewhere: figures of two encoders do not compare.
- `library_scores` asks the kept library, `bert-score`, for a model of the hub or in a local folder.
  Over the same encoder the two agree (docs/LOG.md).

[CLS] and [SEP] may be matched but do not count, as in the library without idf weights.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omoide.errors import BadInput, DownloadFailed, MissingExtra
from omoide.evals.metrics.overlap import Score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.ports import TokenEncoder, TokenVectors


@dataclass(frozen=True, kw_only=True)
class EncodedScores:
    """One score a reply, and the encoder that they are of."""

    encoder: str
    scores: tuple[Score, ...]


def greedy_match(reply: TokenVectors, gold: TokenVectors) -> Score:
    """Each token's nearest on the other side, averaged over the tokens that count."""
    import numpy as np

    if not reply.counts.any() or not gold.counts.any():
        return Score(precision=0.0, recall=0.0)
    said, wanted = (
        text.vectors / np.maximum(np.linalg.norm(text.vectors, axis=1, keepdims=True), 1e-12)
        for text in (reply, gold)
    )
    cosines = said @ wanted.T
    return Score(
        precision=float(cosines.max(axis=1) @ reply.counts / reply.counts.sum()),
        recall=float(cosines.max(axis=0) @ gold.counts / gold.counts.sum()),
    )


async def encoded_scores(
    encoder: TokenEncoder, replies: Sequence[str], gold: Sequence[str]
) -> EncodedScores:
    """Each reply against its gold reply."""
    distinct = list(dict.fromkeys((*replies, *gold)))
    seen = dict(zip(distinct, await encoder.encode(distinct), strict=True))
    return EncodedScores(
        encoder=encoder.name,
        scores=tuple(
            greedy_match(seen[reply], seen[one]) for reply, one in zip(replies, gold, strict=True)
        ),
    )


def library_scores(
    replies: Sequence[str], gold: Sequence[str], *, model: str, layer: int | None = None
) -> EncodedScores:
    """BERTScore by `bert-score`; `model` is a name on the hub or a local folder.

    `layer` must be given for a model that the library does not know, a local folder above all.
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
            "layer, or score with the token vectors of an encoder that is here"
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
    """The kept library in the place of an encoder; `layer` as in `library_scores`."""

    model: str
    layer: int | None = None

    @classmethod
    def named(cls, spec: str) -> BertScore | None:
        """What `bert-score:roberta-large`, or `bert-score:FOLDER@12` with its layer, names; None
        for the name of an encoder. Raises `MissingExtra` at once, not after hours of replies."""
        kind, mark, rest = spec.partition(":")
        if kind != "bert-score" or not mark:
            return None
        model, at, layer = rest.rpartition("@")
        if at and not layer.isdecimal():
            raise BadInput(f"a layer is a number, as in bert-score:FOLDER@12, not {layer!r}")
        _library()
        return cls(model, int(layer)) if at else cls(rest)

    @property
    def name(self) -> str:
        """Model and layer: the score means nothing without them."""
        layer = "the layer of the library" if self.layer is None else f"layer {self.layer}"
        return f"BERTScore by its library with {self.model}, {layer}"

    async def scores(self, replies: Sequence[str], gold: Sequence[str]) -> EncodedScores:
        """Each reply against its gold reply, in a thread: torch takes its time."""
        return await asyncio.to_thread(
            library_scores, replies, gold, model=self.model, layer=self.layer
        )

    async def close(self) -> None:
        """Nothing to let go."""


def _library() -> Any:  # noqa: ANN401 - bert-score ships no types
    try:
        from importlib import import_module

        return import_module("bert_score")
    except ImportError as error:
        raise MissingExtra(
            "BERTScore needs bert-score, which is not installed: pip install 'omoide[bertscore]'"
        ) from error
