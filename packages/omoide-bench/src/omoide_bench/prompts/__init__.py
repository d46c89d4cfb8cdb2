"""The benchmarks' own prompts: questions about the past, and what judges are asked.

`omoide.prompts.render` fills them by the name `omoide_bench:NAME`.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from omoide.language import pack

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable

WORDS = "judge_words"
"""The file of the short words in the judges' prompts."""


@cache
def judge_words(language: str) -> Mapping[str, str]:
    """The short words in the judges' prompts; in English if we lack the language."""
    own = _folder(language) / f"{WORDS}.txt"
    text = (own if own.is_file() else _folder("en") / f"{WORDS}.txt").read_text("utf-8")
    lines = (line.partition("=") for line in text.splitlines() if line.strip())
    return {key.strip(): value.strip() for key, _, value in lines}


def prompt_hashes(language: str) -> Mapping[str, str]:
    """The hash of every prompt of a language, omoide's and ours, by name, to record with results.
    It is that of a rendered `Prompt`."""
    theirs, ours = pack(language), _folder(language)
    texts = {name: theirs.prompt(name) or "" for name in theirs.prompts()}
    if ours.is_dir():
        texts |= {f.name.removesuffix(".txt"): f.read_text("utf-8") for f in ours.iterdir()}
    return {name: sha256(text.encode()).hexdigest()[:12] for name, text in sorted(texts.items())}


def _folder(language: str) -> Traversable:
    return files("omoide_bench") / "prompts" / language
