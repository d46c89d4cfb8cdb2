"""Benchmarks in batches: rounds of requests in a folder, and the same result as a direct run."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from omoide.adapters.models.openai import OpenAIChat
from omoide.cli.main import cli
from omoide.errors import BadData, BadInput, ModelRefused
from omoide.ports import Completion, Message, Request
from omoide_bench.cli.running import WAITING
from omoide_bench.concurrency import gather_all
from omoide_bench.running.batches import AnswerDue, BatchFolder, BatchQueue, RoundWritten
from omoide_bench.running.results import Result, read
from omoide_bench.running.standin import StandIn, answer
from tests.bench.bench_lab import FIXTURES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from omoide.ports import ChatModel

HELLO = Request(messages=(Message(role="user", content="Hello"),), max_tokens=10)


def completion(body: dict[str, Any]) -> dict[str, Any]:
    """The chat completion for a request's body, the same whoever asks."""
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    request = Request(
        messages=tuple(Message(role=m["role"], content=m["content"]) for m in body["messages"]),
        max_tokens=body["max_tokens"],
        schema=schema,
    )
    words = answer(request)
    text = words if schema else f"User likes {words.lower()}\nAssistant likes {words.lower()}"
    return {
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 7 * len(body["messages"]), "completion_tokens": len(text)},
    }


@contextmanager
def endpoint() -> Iterator[str]:
    """A server that answers chat completions; its base URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            page = json.dumps(completion(body)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def fill(folder: Path) -> list[str]:
    """Answer every requests file that has no answers yet, last request first; their names."""
    filled = []
    for path in sorted(folder.glob("*.requests.jsonl")):
        answers = path.with_name(path.name.replace("requests", "answers"))
        if not answers.exists():
            lines = [json.loads(line) for line in path.read_text().splitlines()]
            answers.write_text("".join(json.dumps(answered(line)) + "\n" for line in lines[::-1]))
            filled.append(path.name)
    return filled


def answered(line: dict[str, Any]) -> dict[str, Any]:
    """A line of an answers file."""
    response = {"status_code": 200, "body": completion(line["body"])}
    return {"id": "x", "custom_id": line["custom_id"], "response": response, "error": None}


def bench_run(tmp_path: Path, name: str, *arguments: object) -> tuple[int, str, Path]:
    """A run on the fixtures: exit status, output, and where its result would be."""
    out = tmp_path / f"{name}.json"
    common = ("--data", FIXTURES, "--embedder", "none", "--yes", "--no-plan", "--out", out)
    command = ["bench", "run", *arguments, *common, "--cache", tmp_path / f"{name}.sqlite"]
    done = CliRunner().invoke(cli, list(map(str, command)))
    return done.exit_code, done.output, out


def comparable(result: Result) -> Result:
    """A result without the times and the command line."""
    methods = [
        replace(method, seconds=0.0, cpu_seconds=0.0, model_seconds=0.0)
        for method in result.methods
    ]
    return replace(result, began="", seconds=0.0, command="", methods=methods)


RUNS = {
    "msc": ("msc", "--method", "summary", "--method", "summary+search", "--pairs", "summary"),
    "locomo": ("locomo", "--method", "summary"),
}


SESSIONS = {"msc": 4, "locomo": 2}
"""Sessions of the longest dialogue before its last replies or questions."""


@pytest.mark.parametrize("task", [pytest.param("msc", marks=pytest.mark.heavy), "locomo"])
def test_a_run_in_batches_gives_the_result_of_a_direct_run(task: str, tmp_path: Path) -> None:
    """At least twenty items with a judge of another name: rounds are filled by a script until the
    run ends, and the result file is the one that an endpoint gives."""
    rounds: list[list[str]] = []
    with endpoint() as url:
        models = ("--model", f"{url}#writer", "--judge", f"{url}#reader")
        status, shown, direct = bench_run(tmp_path, "direct", *RUNS[task], *models)
        assert status == 0, shown
    for _ in range(30):  # the server is gone: nothing can be asked directly
        arguments = (*RUNS[task], *models, "--batch", tmp_path / "folder")
        status, shown, batched = bench_run(tmp_path, "batched", *arguments)
        if status == 0:
            break
        assert status == WAITING, shown
        assert "run the same command again" in shown
        rounds.append(fill(tmp_path / "folder"))
        assert rounds[-1], "a run that waits must have written a round"
    one, other = read(direct), read(batched)
    assert sum(len(method.items) for method in one.methods) >= 20
    assert comparable(other) == comparable(one)
    assert any("judge" in name for names in rounds for name in names)
    depth = 2 * SESSIONS[task] + 3  # two calls a session, then replies, their marks, their pairs
    assert len(rounds) <= depth, rounds


def test_a_run_without_answers_writes_nothing_new(tmp_path: Path) -> None:
    """Started again before the answers came, it says the same and leaves the folder alone."""
    arguments = ("locomo", "--model", "http://127.0.0.1:9/v1#m", "--batch", tmp_path / "folder")
    status, shown, _ = bench_run(tmp_path, "run", *arguments)
    before = {path.name: path.read_bytes() for path in (tmp_path / "folder").iterdir()}
    again = bench_run(tmp_path, "run", *arguments)
    after = {path.name: path.read_bytes() for path in (tmp_path / "folder").iterdir()}
    assert (status, again[0]) == (WAITING, WAITING)
    assert list(before) == ["round-001.requests.jsonl"]
    assert before == after
    assert shown == again[1]


def test_all_messages_of_a_story_are_due_in_one_round(tmp_path: Path) -> None:
    """They are answered independently of each other, so none waits for another's answer."""
    model = ("--model", "http://127.0.0.1:9/v1#m", "--batch", tmp_path / "folder")
    story = ("--only", "--set", "languages=en", "--set", "each=1")
    status, shown, _ = bench_run(tmp_path, "run", "friend", *story, *model)
    assert status == WAITING, shown
    asked = (tmp_path / "folder" / "round-001.requests.jsonl").read_text().splitlines()
    assert len(asked) == 8


class Endpoint(StandIn):
    """A model that can be asked in batches, and learns to leave out what was rejected."""

    def __init__(self) -> None:
        super().__init__(name="far")
        self.limit = "max_tokens"

    def body(self, request: Request) -> dict[str, object]:
        """The request with the limit under its present name."""
        return {"messages": [m.content for m in request.messages], self.limit: request.max_tokens}

    def read(self, body: Any, request: Request) -> Completion:  # noqa: ANN401 - a fake
        """The text alone."""
        del request
        return Completion(
            text=body["text"], prompt_tokens=1, completion_tokens=1, seconds=0.0, finish="stop"
        )

    def accept_rejection(self, body: Any, *, status: int, reason: str) -> bool:  # noqa: ANN401
        """Change the limit's name if the reason says so."""
        del body, status
        self.limit = "max_completion_tokens"
        return "max_completion_tokens" in reason

    def allow_thinking(self) -> None:
        """It does not think."""


def ask(folder: Path, model: ChatModel | None = None) -> str | None:
    """The answer to one request, or None after a round was written."""
    batches = BatchFolder.open(folder)
    queue = BatchQueue(batches, model or Endpoint())
    try:
        return queue.answer(b"key", HELLO).text
    except AnswerDue:
        with pytest.raises(RoundWritten):
            batches.write()
        return None


def give(folder: Path, number: int, **answer: object) -> None:
    """Put the answer of a round into the folder."""
    asked = folder / f"round-{number:03}.requests.jsonl"
    name = json.loads(asked.read_text())["custom_id"]
    line = {"custom_id": name, "response": None, "error": None, **answer}
    (folder / f"round-{number:03}.answers.jsonl").write_text(json.dumps(line) + "\n")


def test_what_expired_is_asked_again_and_what_was_rejected_is_changed(tmp_path: Path) -> None:
    """An expired request goes into the next round as it was; one that the endpoint rejected goes
    without what was rejected; then the answer is read."""
    assert ask(tmp_path) is None
    give(tmp_path, 1, error={"code": "batch_expired", "message": "too late"})
    assert ask(tmp_path) is None
    assert ask(tmp_path) is None, "while it waits, no further round is written"
    rejected = {"error": {"message": "use max_completion_tokens instead"}}
    give(tmp_path, 2, response={"status_code": 400, "body": rejected})
    assert ask(tmp_path) is None
    bodies = [json.loads(path.read_text())["body"] for path in sorted(tmp_path.glob("*requests*"))]
    assert bodies[0] == bodies[1]
    assert "max_completion_tokens" in bodies[2]
    give(tmp_path, 3, response={"status_code": 200, "body": {"text": "Hi."}})
    assert ask(tmp_path) == "Hi."


def test_what_can_never_be_answered_is_refused(tmp_path: Path) -> None:
    """A rejection with nothing to change is the model's refusal, as it would be directly."""
    assert ask(tmp_path) is None
    rejected = {"error": {"message": "no such model"}}
    give(tmp_path, 1, response={"status_code": 404, "body": rejected})
    with pytest.raises(ModelRefused, match="no such model"):
        ask(tmp_path)


def test_a_model_that_thinks_first_gets_room_for_it(tmp_path: Path) -> None:
    """As one that is asked directly: an answer that was over before its first word is no answer,
    and goes into the next round with more tokens; if they do not do either, it is refused."""

    def thinks() -> OpenAIChat:
        return OpenAIChat("http://127.0.0.1:9/v1", "thinker")

    def said(text: str, finish: str) -> dict[str, object]:
        choices = [{"message": {"content": text}, "finish_reason": finish}]
        return {"status_code": 200, "body": {"choices": choices}}

    assert ask(tmp_path, thinks()) is None
    give(tmp_path, 1, response=said("", "length"))
    assert ask(tmp_path, thinks()) is None
    bodies = [json.loads(path.read_text())["body"] for path in sorted(tmp_path.glob("*requests*"))]
    assert [body["max_tokens"] for body in bodies] == [10, 16_010]
    give(tmp_path, 2, response=said("", "length"))
    with pytest.raises(ModelRefused, match="before its first word"):
        ask(tmp_path, thinks())
    give(tmp_path, 2, response=said("Hi.", "stop"))
    assert ask(tmp_path, thinks()) == "Hi."


def test_a_broken_answers_file_is_named(tmp_path: Path) -> None:
    """The error names the file and line of what is not an answer."""
    (tmp_path / "round-001.answers.jsonl").write_text('{"custom_id": "omoide-1"}\n')
    with pytest.raises(BadData, match=r"round-001\.answers\.jsonl, line 1: wanted .*error"):
        BatchFolder.open(tmp_path)


def test_only_endpoints_can_be_asked_in_batches(tmp_path: Path) -> None:
    """A model that runs here says so; so does a run from the cache only."""
    with pytest.raises(BadInput, match="stand-in cannot be asked in batches"):
        BatchQueue(BatchFolder.open(tmp_path), StandIn())
    status, shown, _ = bench_run(tmp_path, "x", "msc", "--batch", tmp_path, "--known")
    assert status == 2
    assert "--known does not" in shown


async def test_everyone_is_heard_before_the_first_error_is_raised() -> None:
    """`gather_all` raises the first error only when all have ended."""
    heard = []

    async def say(text: str) -> str:
        heard.append(text)
        if text == "a":
            raise BadInput(text)
        return text

    with pytest.raises(BadInput):
        await gather_all(say(text) for text in "abc")
    assert heard == ["a", "b", "c"]
    assert await gather_all(say(text) for text in "bc") == ["b", "c"]
