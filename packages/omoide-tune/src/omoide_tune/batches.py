"""Tokenised examples in batches of similar length, in an order that depends on a seed."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from omoide_tune.contrast import decisive

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omoide_tune.examples import Example

POOL = 32
"""Batches that are sorted by length together."""


@dataclass(frozen=True, kw_only=True)
class EncodedExample:
    """An example as tokens. Only the answer's tokens count for the loss."""

    prompt: tuple[int, ...]
    answer: tuple[int, ...]
    """Includes the end-of-message token, so that the model also learns to stop."""
    weights: tuple[float, ...] = ()
    """How much each token of the answer counts; empty if all count alike."""

    @property
    def length(self) -> int:
        """Tokens of prompt and answer."""
        return len(self.prompt) + len(self.answer)

    @property
    def counted(self) -> tuple[float, ...]:
        """The weight of each token of the answer."""
        return self.weights or (1.0,) * len(self.answer)


def encode(
    tokenizer: Any,  # noqa: ANN401
    examples: Sequence[Example],
    *,
    length: int,
    decisions: float = 1.0,
) -> list[EncodedExample]:
    """The examples that fit into `length` tokens, in order. In notes of facts the tokens that
    decide something count `decisions` times."""
    found = []
    for example in examples:
        messages = [{"role": m.role, "content": m.content} for m in example.messages]
        prompt = tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, return_dict=False
        )
        answer = tokenizer.encode(example.answer, add_special_tokens=False)
        one = EncodedExample(prompt=tuple(prompt), answer=(*answer, tokenizer.eos_token_id))
        if decisions != 1 and example.task == "facts":
            one = replace(one, weights=_weights(tokenizer, example.answer, decisions))
        if one.length <= length:
            found.append(one)
    return found


def _weights(tokenizer: Any, answer: str, decisions: float) -> tuple[float, ...]:  # noqa: ANN401
    places = tokenizer(answer, add_special_tokens=False, return_offsets_mapping=True)
    spans = decisive(answer)
    tokens = [
        decisions if any(start < end and begin < stop for begin, end in spans) else 1.0
        for start, stop in places["offset_mapping"]
    ]
    # The end of the message decides too: no further note, and no number after the last one.
    return (*tokens, decisions)


def shuffled(count: int, lengths: Sequence[int], *, batch: int, seed: int) -> list[list[int]]:
    """Indices of examples in batches: shuffled, sorted by length within pools, batches shuffled.
    Every example is in exactly one; only the last batch may be smaller."""
    dice = random.Random(seed)  # noqa: S311 - an order, not a secret
    order = list(range(count))
    dice.shuffle(order)
    full, rest = order[: count - count % batch], order[count - count % batch :]
    batches: list[list[int]] = []
    for start in range(0, len(full), batch * POOL):
        pool = sorted(full[start : start + batch * POOL], key=lambda i: lengths[i])
        batches += [pool[i : i + batch] for i in range(0, len(pool), batch)]
    dice.shuffle(batches)
    return [*batches, rest] if rest else batches


def steps(
    encoded: Sequence[EncodedExample], *, batch: int, accumulate: int, epochs: int, seed: int
) -> Iterator[list[list[EncodedExample]]]:
    """The batches of each step, epoch after epoch, the same for the same seed."""
    lengths = [one.length for one in encoded]
    for epoch in range(epochs):
        order = shuffled(len(encoded), lengths, batch=batch, seed=seed * 1_000_003 + epoch)
        batches = [[encoded[i] for i in numbers] for numbers in order]
        for start in range(0, len(batches), accumulate):
            yield batches[start : start + accumulate]


def count_steps(examples: int, *, batch: int, accumulate: int, epochs: int) -> int:
    """How many steps `steps` yields."""
    batches = -(-examples // batch)
    return epochs * -(-batches // accumulate)


def by_tokens(batches: Sequence[Sequence[EncodedExample]], most: int) -> list[list[EncodedExample]]:
    """The same examples in batches of at most `most` tokens, padding included: sorted by length,
    each batch as full as possible. An example that exceeds `most` gets its own batch."""
    found: list[list[EncodedExample]] = []
    for one in sorted((one for batch in batches for one in batch), key=lambda one: one.length):
        if not found or (len(found[-1]) + 1) * one.length > most:
            found.append([])
        found[-1].append(one)
    return found
