"""Prompt templates: one file per prompt in each language pack.

If a pack lacks a prompt, the English one is used. A file holds messages, each introduced by a line
`=== system`, `=== user` or `=== assistant`, with `$variables`. `words.txt` holds the short words
used inside prompts.

Another package keeps its prompts the same way, in its `prompts/<language>/<name>.txt`, at least
in English, and names them `package:name`.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from importlib.resources import files
from itertools import takewhile
from string import Template
from typing import TYPE_CHECKING, cast

from omoide.errors import BadPrompt
from omoide.language.pack import DEFAULT, over_packs, pack
from omoide.ports import Message, SharedStart
from omoide.prompts.quoting import quoted, without_template_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

__all__ = ["Prompt", "quoted", "render", "shared_start", "vocabulary"]

_SECTION = re.compile(r"^=== (system|user|assistant)\n", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A filled prompt."""

    messages: tuple[Message, ...]
    hash: str
    """Hash of the template before filling, so that it identifies the prompt."""


def render(name: str, language: str, /, **variables: str) -> Prompt:
    """Fill the prompt `name`, or `package:name` for one of another package. Chat template tokens
    in the variables are neutralised.
    Raises `BadPrompt` unless exactly the template's variables are given."""
    sections, digest = _load(name, language)
    wanted = {v for _, template in sections for v in template.get_identifiers()}
    if wanted != variables.keys():
        missing, extra = wanted - variables.keys(), variables.keys() - wanted
        raise BadPrompt(
            f"prompt {language}/{name} takes {sorted(wanted)}; "
            f"missing {sorted(missing)}, unexpected {sorted(extra)}"
        )
    safe = {name: without_template_tokens(value) for name, value in variables.items()}
    messages = tuple(
        Message(role=role, content=template.substitute(safe)) for role, template in sections
    )
    return Prompt(messages=messages, hash=digest)


def shared_start(name: str, language: str, /, **known: str) -> SharedStart:
    """How far the prompt `name` is known from these of its variables, which must be the same for
    every user.

    >>> shared_start("reply_small_recalled", "en", text="Hello!").text.splitlines()
    ['Hello!', '', '<memory>']
    """
    sections, _ = _load(name, language)
    safe = {name: without_template_tokens(value) for name, value in known.items()}
    whole = sum(1 for _ in takewhile(lambda s: safe.keys() >= {*s[1].get_identifiers()}, sections))
    if whole == len(sections):
        return SharedStart(messages=whole)
    template = sections[whole][1]
    found = template.pattern.finditer(template.template)
    cut = next(m.start() for m in found if (m["named"] or m["braced"] or "") not in {"", *safe})
    return SharedStart(messages=whole, text=Template(template.template[:cut]).substitute(safe))


@over_packs
def _load(
    name: str, language: str
) -> tuple[tuple[tuple[Literal["system", "user", "assistant"], Template], ...], str]:
    text = _read(name, language)
    parts = _SECTION.split(text)
    if parts[0].strip() or len(parts) < 3:
        raise BadPrompt(
            f"prompt {language}/{name} must begin with a line '=== system', '=== user' or "
            "'=== assistant'"
        )
    sections = tuple(
        (cast("Literal['system', 'user', 'assistant']", role), Template(body.strip()))
        for role, body in zip(parts[1::2], parts[2::2], strict=True)
    )
    return sections, _hash(text)


@over_packs
def vocabulary(language: str) -> Mapping[str, str]:
    """The short words of a language, such as the speakers' labels and the word for an empty
    memory; in English if its pack lacks them."""
    own = pack(language).prompt("words") or ""
    texts = (pack(DEFAULT).prompt("words") or "", own)
    lines = (line.partition("=") for text in texts for line in text.splitlines() if line.strip())
    return {key.strip(): value.strip() for key, _, value in lines}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _read(name: str, language: str) -> str:
    package, _, own_name = name.rpartition(":")
    if package:
        return _foreign(package, own_name, language)
    text = pack(language).prompt(name)
    if text is None:
        text = pack(DEFAULT).prompt(name)
    if text is None:
        raise BadPrompt(f"there is no prompt {name!r} in {language} or in English")
    return text


def _foreign(package: str, name: str, language: str) -> str:
    """A prompt of another package; in English if it lacks the language."""
    try:
        folder = files(package) / "prompts"
        own = folder / language / f"{name}.txt"
        return (own if own.is_file() else folder / "en" / f"{name}.txt").read_text("utf-8")
    except (ModuleNotFoundError, FileNotFoundError) as error:
        raise BadPrompt(
            f"the package {package!r} has no prompt {name!r}; add prompts/{language}/{name}.txt "
            f"or prompts/en/{name}.txt to it"
        ) from error
