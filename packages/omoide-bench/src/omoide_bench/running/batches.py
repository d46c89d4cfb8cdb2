"""A folder through which a model is asked in batches, in the form of OpenAI's Batch API.

A run writes every request that is due as one line of `round-001.requests.jsonl` and stops. Whoever
has a model answers them into `round-001.answers.jsonl`, and the same run, started again, goes on
from there to the next round. A judge's requests are in files of their own
(`round-001.judge.requests.jsonl`), since a batch has one model. A line of either file; made up and
shortened:

    {"custom_id": "omoide-5f0c…", "method": "POST", "url": "/v1/chat/completions",
     "body": {"model": "big", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 9}}

    {"custom_id": "omoide-5f0c…", "error": null, "response": {"status_code": 200, "body":
     {"choices": [{"message": {"content": "Hello."}, "finish_reason": "stop"}],
      "usage": {"prompt_tokens": 8, "completion_tokens": 2}}}}

The id is a hash of the model's name and the request: the same request always has the same id, and
answers may stand in any order and in several files (`round-001.part-2.answers.jsonl`).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

from omoide.errors import BadInput, ModelRefused, ModelUnavailable, OmoideError
from omoide.ports import BatchableModel
from omoide_bench.data.reading import json_lines

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from omoide.ports import ChatModel, Completion, Request
    from omoide_bench.data.reading import JsonRecord

_REQUESTS, _ANSWERS = ".requests.jsonl", ".answers.jsonl"
_ROUND = re.compile(r"round-(\d+)\b")
_URL = "/v1/chat/completions"
_FINAL = (400, 404, 413, 422)
"""Status codes that another attempt would give again."""
MODEL, JUDGE, TUNED, ITERATOR = "", "judge", "tuned", "iterator"


class AnswerDue(ModelUnavailable):
    """The answer of this request has not come back yet."""


class RoundWritten(OmoideError):
    """A round of requests waits for its answers; the message says where to put them."""


@dataclass(frozen=True, kw_only=True)
class BatchAnswer:
    """One line of an answers file."""

    status: int | None
    """None if the request was never answered, such as one that expired."""
    body: Mapping[str, object]
    reason: str
    """What went wrong, if anything did."""


@dataclass(kw_only=True)
class BatchFolder:
    """The rounds of one run: what was asked, what was answered, and what is due now."""

    folder: Path
    answers: dict[str, BatchAnswer] = field(default_factory=dict)
    waiting: dict[str, Path] = field(default_factory=dict)
    """Ids of requests in rounds without any answers yet, with their files."""
    sent: dict[str, object] = field(default_factory=dict)
    """The body of each request as it was last written."""
    last: int = 0
    """Number of the last round."""
    answered: dict[str, float] = field(default_factory=dict)
    """The last round with a line for each id; infinite if its file does not name the round."""
    due: dict[str, dict[str, dict[str, object]]] = field(default_factory=dict)
    """Lines of requests that need an answer now: by role, then by id."""

    @classmethod
    def open(cls, folder: Path) -> BatchFolder:
        """Read the folder; it is made if it does not exist. Raises `BadData` that names the file
        and line of anything that is not in the form above."""
        folder.mkdir(parents=True, exist_ok=True)
        batches = cls(folder=folder)
        for path in sorted(folder.glob(f"*{_ANSWERS}")):
            number = _ROUND.match(path.name)
            for line in json_lines(path):
                batches._keep_answer(line, round_=int(number[1]) if number else inf)
        for path in sorted(folder.glob(f"round-*{_REQUESTS}")):
            batches._keep_round(path)
        return batches

    def _keep_round(self, path: Path) -> None:
        """Note what the round asked, and whether it still waits for all of its answers."""
        named = _ROUND.match(path.name)
        number = int(named[1]) if named else 0
        self.last = max(self.last, number)
        bodies = {line.of("custom_id").text: line.of("body").value for line in json_lines(path)}
        self.sent |= bodies
        some = any(self.answered.get(name, 0) >= number for name in bodies)
        if not some and not _answers_of(path).exists():
            self.waiting |= dict.fromkeys(bodies, path)

    def _keep_answer(self, line: JsonRecord, *, round_: float) -> None:
        name = line.of("custom_id").text
        self.answered[name] = max(self.answered.get(name, 0), round_)
        known, answer = self.answers.get(name), _answer(line)
        if known is None or known.status != 200 or answer.status == 200:
            self.answers[name] = answer  # the last counts, but a failure is no answer

    def write(self) -> None:
        """Write what is due as the next round, and stop the run. Raises `RoundWritten`; does
        nothing if nothing is due."""
        if not self.due:
            return
        fresh = {
            role: lines
            for role, due in self.due.items()
            if (lines := [line for name, line in due.items() if name not in self.waiting])
        }
        files = {self.waiting[n] for due in self.due.values() for n in due if n in self.waiting}
        if fresh:
            self.last += 1
            files |= {self._write_round(role, lines) for role, lines in fresh.items()}
        count = sum(len(due) for due in self.due.values())
        shown = "\n".join(
            f"  {path}\n    answers: {_answers_of(path).name}" for path in sorted(files)
        )
        raise RoundWritten(
            f"round {self.last}: {count:,} {'requests wait' if count > 1 else 'request waits'} "
            f"for an answer.\n{shown}\n"
            "Send each file to a batch endpoint (or answer it line by line in the form of "
            "OpenAI's Batch API), save what comes back beside it under the name given, and run "
            "the same command again."
        )

    def _write_round(self, role: str, lines: list[dict[str, object]]) -> Path:
        name = f"round-{self.last:03}{'.' + role if role else ''}{_REQUESTS}"
        path = self.folder / name
        draft = path.with_name(f".{name}.part")
        ordered = sorted(lines, key=lambda line: str(line["custom_id"]))
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in ordered)
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
        return path


class BatchQueue:
    """One model's way through the folder."""

    def __init__(self, folder: BatchFolder, model: ChatModel, *, role: str = MODEL) -> None:
        if not isinstance(model, BatchableModel):
            raise BadInput(
                "--batch needs a model behind an endpoint, such as https://api.example/v1#name; "
                f"{model.name} cannot be asked in batches, but it can be asked directly"
            )
        self._folder = folder
        self._model = model
        self._role = role
        self._used: set[str] = set()

    def first_use(self, key: bytes) -> bool:
        """Whether this answer came through the folder and is used for the first time in this run:
        then it counts as a call, not as a cached one."""
        name = _id(key)
        if name in self._used or name not in self._folder.answers:
            return False
        self._used.add(name)
        return True

    def answer(self, key: bytes, request: Request) -> Completion:
        """The answer from the folder. Raises `AnswerDue` after noting the request for the next
        round, and `ModelRefused` if the request can never be answered."""
        name = _id(key)
        given, sent = self._folder.answers.get(name), self._folder.sent.get(name)
        if given is not None and given.status == 200:
            answer = self._model.read(given.body, request)
            if answer.text or answer.finish != "length":
                return answer
            self._model.allow_thinking()  # as an endpoint that is asked directly
            if sent == self._model.body(request):
                raise ModelRefused(f"{self._model.name} spent all its tokens before its first word")
        body = self._model.body(request)
        if given is not None and given.status in _FINAL and sent == body:
            if not self._model.accept_rejection(body, status=given.status, reason=given.reason):
                raise ModelRefused(f"the batch rejected the request: {given.reason}")
            body = self._model.body(request)
        line: dict[str, object] = {
            "custom_id": name,
            "method": "POST",
            "url": _URL,
            "body": body,
        }
        self._folder.due.setdefault(self._role, {})[name] = line
        raise AnswerDue(f"the answer to {name} is not in {self._folder.folder} yet")


def _id(key: bytes) -> str:
    return f"omoide-{key.hex()[:40]}"


def _answers_of(requests: Path) -> Path:
    return requests.with_name(requests.name.removesuffix(_REQUESTS) + _ANSWERS)


def _answer(line: JsonRecord) -> BatchAnswer:
    """The answer of a line. Raises `BadData` if it has neither a response nor an error."""
    if not line.has("response"):
        return BatchAnswer(status=None, body={}, reason=_reason(line.of("error").value))
    response = line.of("response")
    body = response.of("body")
    if not isinstance(body.value, dict):
        raise body.bad("the body of a chat completion")
    status = response.of("status_code").number if response.has("status_code") else 200
    reason = "" if status == 200 else _reason(body.value.get("error"))
    return BatchAnswer(status=status, body=body.value, reason=reason)


def _reason(error: object) -> str:
    message = error.get("message") if isinstance(error, dict) else error
    return str(message or "no reason was given")[:300]
