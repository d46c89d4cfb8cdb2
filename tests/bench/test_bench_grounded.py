"""Whether a reply puts a fact to use: the messages, the marks, and a run with a scripted model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from omoide.language import LANGUAGES, detect_language
from omoide.testing import ScriptedModel
from omoide_bench.grounded.scenes import Scene, load, marks
from omoide_bench.running.execute import execute
from tests.bench.bench_lab import course, job, lab

if TYPE_CHECKING:
    from omoide.ports import Request

SCENES = load()
LEFT = Scene(
    id="x",
    language="en",
    message="I need new kitchen scissors.",
    fact="User is left-handed.",
    use="left",
    decoys=(("User has a dog.", "dog"),),
)


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_language_has_ten_facts_and_two_of_small_talk(language: str) -> None:
    """Messages are in their language; a fact stands once among its four decoys and fits its own
    pattern; a message does not give its fact away."""
    own = [scene for scene in SCENES if scene.language == language]
    assert [bool(scene.fact) for scene in own].count(True) == 10
    assert len(own) == 12
    for scene in own:
        assert detect_language(scene.message) == language
        assert len(scene.decoys) == len(set(scene.decoys)) == 4
        if scene.fact:
            assert scene.given_notes("among").count(scene.fact) == 1
            assert re.search(scene.use, scene.fact, re.IGNORECASE)
            assert not re.search(scene.use, scene.message, re.IGNORECASE)
    assert len({scene.place for scene in own}) == 5


@pytest.mark.parametrize(
    ("reply", "good"),
    [
        ("Look for a pair made for the left hand!", True),
        ("There are good ones at the market.", False),
        ("According to the notes, you are left-handed.", False),
        ("As User is left-handed, take those.", False),
        ("Left-handed ones. How can I help you further?", False),
        ("I need new kitchen scissors. Left-handed ones.", False),
        ("左利き用のはさみがいいですね。left", False),
    ],
)
def test_a_reply_is_good_only_if_it_uses_the_fact_as_a_friend_would(reply: str, good: bool) -> None:
    """A fact left out, a note spoken of, help offered, an echo, another language: none of them."""
    assert marks(LEFT, reply).good is good


async def test_a_model_that_repeats_what_it_is_handed() -> None:
    """It uses the fact it has, and nearly always the right one among several, of which only those
    with room stand beside the message; it drags facts into small talk, and speaks of the User;
    without a fact it can use none."""
    async with lab(ScriptedModel([_repeats] * 200)) as parts:
        work = job("grounded")
        result = await execute(work, lab=parts, course=course(work))
    found = {
        method.name: {a.measure: a.mean for a in method.aggregates if a.group == "all"}
        for method in result.methods
    }
    assert found["alone"]["uses"] == 1
    assert found["among"]["uses"] > 0.8
    assert found["alone"]["good"] == 0
    assert found["alone"]["notes"] == 1
    assert found["among"]["left alone"] == 0
    assert found["none"]["uses"] == 0
    assert found["none"]["left alone"] == 1


def _repeats(request: Request) -> str:
    said = request.messages[-1].content
    facts = said.partition("<memory>")[2].partition("</memory>")[0]
    return facts.strip() or "…"
