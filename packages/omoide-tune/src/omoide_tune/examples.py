"""Training examples: a prompt as a mechanism sends it, and the answer it should get.

A file of examples is JSON lines. One line, for instance:

    {"task": "notes", "language": "en", "source": "own", "key": "17/user",
     "messages": [{"role": "user", "content": "…"}], "answer": "User lives in Leeds."}
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from omoide.errors import BadInput
from omoide.ports import Message

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

TASKS = ("notes", "events", "iteration", "fused", "facts", "memos", "choice", "reply")
_ROLES = ("system", "user", "assistant")


@dataclass(frozen=True, kw_only=True)
class Example:
    """One prompt and its right answer."""

    task: str
    language: str
    source: str
    """The data set it was made from, as `omoide tune data` names them."""
    key: str
    """Which part of it: no key is in both the training and the held-out part."""
    messages: tuple[Message, ...]
    answer: str
    hard: str = ""
    """What makes it a hard case, as words separated by spaces; empty if it is none."""


def write(path: Path, examples: Iterable[Example]) -> int:
    """Write them as JSON lines and return how many there were."""
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for example in examples:
            file.write(json.dumps(asdict(example), ensure_ascii=False) + "\n")
            count += 1
    return count


def read(path: Path) -> tuple[Example, ...]:
    """All examples of a file. Raises `BadInput` naming the first line that is not one."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise BadInput(
            f"{path} cannot be read ({error}); make it with `omoide tune data`"
        ) from error
    found = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                found.append(checked(json.loads(line)))
            except (ValueError, BadInput) as error:
                raise BadInput(f"{path}, line {number}: {error}") from error
    if not found:
        raise BadInput(f"{path} contains no examples; make some with `omoide tune data`")
    return tuple(found)


def checked(value: Any) -> Example:  # noqa: ANN401 - whatever a line of JSON holds
    """Parse an example. Raises `BadInput` saying what is wrong with it."""
    names = ("task", "language", "source", "key", "answer")
    if not isinstance(value, dict) or not all(isinstance(value.get(n), str) for n in names):
        raise BadInput(f"wanted an object with the strings {', '.join(names)}")
    if value["task"] not in TASKS:
        raise BadInput(f"task {value['task']!r} is not one of {', '.join(TASKS)}")
    if not value["answer"].strip():
        raise BadInput("the answer is empty")
    listed = value.get("messages")
    if not isinstance(listed, list) or not listed:
        raise BadInput("messages must be a list with at least one message")
    messages = []
    for one in listed:
        if not isinstance(one, dict) or one.get("role") not in _ROLES:
            raise BadInput(f"a message's role must be one of {', '.join(_ROLES)}")
        if not isinstance(one.get("content"), str):
            raise BadInput("a message's content must be a string")
        messages.append(Message(role=one["role"], content=one["content"]))
    if messages[-1].role == "assistant":
        raise BadInput("the last message must not be the assistant's: the answer follows it")
    hard = value.get("hard", "")
    if not isinstance(hard, str):
        raise BadInput("hard must be a string")
    return Example(messages=tuple(messages), hard=hard, **{name: value[name] for name in names})
