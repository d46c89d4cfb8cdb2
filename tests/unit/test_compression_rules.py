"""What a compressor with a budget keeps, rule by rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.language import estimate_tokens
from omoide.mechanisms.memos.compression_budget import LABEL, BudgetCompressor

from .talks import talk

if TYPE_CHECKING:
    from collections.abc import Mapping


async def kept(*said: str, most: int, weight: Mapping[str, float] | None = None) -> tuple[str, ...]:
    """What is left of the turns in `most` tokens."""
    method = BudgetCompressor(share=0.0, most=most)
    return await method.shorten(talk(*said), language="en", weight=weight or {})


def cost(*texts: str) -> int:
    """Tokens of these lines with their labels."""
    return sum(estimate_tokens(text) + LABEL for text in texts)


async def test_a_short_answer_is_linked_to_the_question_before_it_only() -> None:
    """A statement after a question in the same turn answers nothing, and comes alone."""
    asked = "Shall we walk along the old harbour wall tonight?"
    left = await kept(f"{asked} Biscuit barks.", most=cost("Biscuit barks."))
    assert left == ("Biscuit barks.",)
    apart = await kept(asked, "Biscuit barks.", most=cost("Biscuit barks."))
    assert apart == ("", "")  # as an answer it would need its question, for which there is no room


async def test_a_long_answer_stands_without_its_question() -> None:
    """Only one of a few words means nothing alone."""
    asked = "Which animals, plants or instruments do you keep at home these days?"
    answer = "Biscuit Pepper Walnut Clover Juniper Saffron."
    assert await kept(asked, answer, most=cost(answer)) == ("", answer)


async def test_the_label_of_a_turn_is_paid_once() -> None:
    """Two clauses of one turn cost one label."""
    first, second = "Biscuit loves carrots.", "Pepper hates thunder."
    both = f"{first} {second}"
    most = estimate_tokens(first) + estimate_tokens(second) + LABEL
    left = await kept(both, "How are you? " * 20, most=most)
    assert left == (both, "")


async def test_what_the_memo_has_already_is_worth_less() -> None:
    """Of two further clauses, the one with new words is kept, although the other is shorter."""
    said = ("Biscuit loves carrots.", "Biscuit loves carrots.", "Pepper hates thunderstorms.")
    left = await kept(*said, most=cost(said[0], said[2]))
    assert sorted(filter(None, left)) == sorted({said[0], said[2]})


async def test_a_statement_goes_before_a_question() -> None:
    """Of the same words, what is stated is worth more than what is asked."""
    asked, stated = "Pepper hates thunder?", "Biscuit loves carrots."
    assert cost(asked) < cost(stated)
    assert await kept(asked, "…", stated, most=cost(stated)) == ("", "", stated)
    assert (await kept(stated, "…", asked, most=cost(stated)))[0] == stated


async def test_a_number_goes_before_other_words() -> None:
    """At equal rarity, what holds a number or a date is kept."""
    plain, dated = "Biscuit met Pepper outside.", "Biscuit met Pepper 19."
    weight = dict.fromkeys(("biscuit", "met", "pepper", "outsid", "outside", "19"), 1.0)
    most = max(cost(plain), cost(dated))
    assert await kept(plain, "…", dated, most=most, weight=weight) == ("", "", dated)
    assert await kept(dated, "…", plain, most=most, weight=weight) == (dated, "", "")
