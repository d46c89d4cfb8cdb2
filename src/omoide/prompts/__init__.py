"""Prompts: one file each, in every language, filled without guesswork.

A file holds messages, each introduced by a line `=== system`, `=== user` or `=== assistant`,
with `$variables`. `words.txt` holds the short words that prompts are put together from.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, cast

from omoide.errors import BadPrompt
from omoide.language import LANGUAGES
from omoide.ports import Message
from omoide.prompts.quoting import plain

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

_SECTION = re.compile(r"^=== (system|user|assistant)\n", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A filled prompt."""

    messages: tuple[Message, ...]
    hash: str
    """Of the template, before filling: the same for everyone who uses the same prompt."""


def render(name: str, language: str, /, **variables: str) -> Prompt:
    """Fill the prompt `name`; whatever the variables hold, they are words and no tokens of a chat
    template. Raises `BadPrompt` if variables given and wanted differ."""
    sections, digest = _load(name, language)
    wanted = {v for _, template in sections for v in template.get_identifiers()}
    if wanted != variables.keys():
        missing, extra = wanted - variables.keys(), variables.keys() - wanted
        raise BadPrompt(
            f"prompt {language}/{name} wants {sorted(wanted)}; "
            f"missing {sorted(missing)}, not wanted {sorted(extra)}"
        )
    safe = {name: plain(value) for name, value in variables.items()}
    messages = tuple(
        Message(role=role, content=template.substitute(safe)) for role, template in sections
    )
    return Prompt(messages=messages, hash=digest)


@lru_cache(maxsize=256)
def _load(
    name: str, language: str
) -> tuple[tuple[tuple[Literal["system", "user", "assistant"], Template], ...], str]:
    text = _read(name, language)
    parts = _SECTION.split(text)
    if parts[0].strip() or len(parts) < 3:
        raise BadPrompt(f"prompt {language}/{name} does not begin with a line '=== system' or such")
    sections = tuple(
        (cast("Literal['system', 'user', 'assistant']", role), Template(body.strip()))
        for role, body in zip(parts[1::2], parts[2::2], strict=True)
    )
    return sections, hashlib.sha256(text.encode()).hexdigest()[:12]


@lru_cache(maxsize=8)
def words(language: str) -> Mapping[str, str]:
    """The short words of a language: what the speakers are called, what an empty memory is."""
    lines = (line.partition("=") for line in _read("words", language).splitlines() if line.strip())
    return {key.strip(): value.strip() for key, _, value in lines}


def hashes(language: str) -> Mapping[str, str]:
    """The hash of every prompt of a language, by name: what a result was made with."""
    names = (entry.name for entry in (files(__name__) / language).iterdir())
    found = sorted(name.removesuffix(".txt") for name in names if name.endswith(".txt"))
    return {name: hashlib.sha256(_read(name, language).encode()).hexdigest()[:12] for name in found}


def _read(name: str, language: str) -> str:
    folder = files(__name__) / (language if language in LANGUAGES else "en")
    return (folder / f"{name}.txt").read_text("utf-8")
