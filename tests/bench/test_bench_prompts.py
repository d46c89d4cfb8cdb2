"""The benchmarks' own prompts: the same in every language, with hashes beside omoide's."""

from __future__ import annotations

from importlib.resources import files
from string import Template

import pytest

from omoide.language import LANGUAGES, detect_language, pack
from omoide.prompts import render
from omoide_bench.prompts import WORDS, judge_words, prompt_hashes

FOLDER = files("omoide_bench") / "prompts"
NAMES = sorted(
    file.name.removesuffix(".txt")
    for file in (FOLDER / "en").iterdir()
    if file.name != f"{WORDS}.txt"
)


def variables(language: str, name: str) -> set[str]:
    """The variables a prompt wants."""
    text = (FOLDER / language / f"{name}.txt").read_text("utf-8")
    return set(Template(text).get_identifiers())


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_prompts_with_the_same_variables(language: str) -> None:
    """A language cannot be forgotten when a prompt is added or changed."""
    for name in NAMES:
        wanted = variables(language, name)
        assert wanted == variables("en", name), name
        prompt = render(f"omoide_bench:{name}", language, **dict.fromkeys(wanted, "@@"))
        text = "\n".join(message.content for message in prompt.messages)
        assert detect_language(text) == language, name
        assert "$" not in text, name
        assert prompt.hash == prompt_hashes(language)[name]
    assert judge_words(language).keys() == judge_words("en").keys()


def test_a_language_that_we_lack_is_judged_in_english() -> None:
    """A pack of somebody else has no prompts of ours."""
    assert judge_words("xx") == judge_words("en")
    wanted = dict.fromkeys(variables("en", "judge_pair"), "")
    other = render("omoide_bench:judge_pair", "xx", **wanted)
    assert other.hash == render("omoide_bench:judge_pair", "en", **wanted).hash


@pytest.mark.parametrize("language", LANGUAGES)
def test_results_name_omoides_prompts_and_ours(language: str) -> None:
    """Whatever text changes, the hashes show it."""
    assert {*prompt_hashes(language)} == {*pack(language).prompts(), *NAMES, WORDS}
    assert prompt_hashes(language)["reply_paper"] == (
        render("reply_paper", language, memory="", dialogue="").hash
    )
