"""Anthropic's memory tool, with Anthropic's own client and compared with Anthropic's own files."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
from anthropic.lib.tools import BetaAsyncBuiltinFunctionTool, ToolError
from anthropic.tools.memory import BetaLocalFilesystemMemoryTool
from hypothesis import given
from hypothesis import strategies as st

from omoide.engine.memory_folder import ROOT, Files, run_command
from omoide.errors import BadCommand
from omoide.testing.endpoint import whole

from .drivers import AnthropicDriver
from .lines import shows

if TYPE_CHECKING:
    from .lines import Line


class MemoryTool(BetaAsyncBuiltinFunctionTool):
    """The tool for Anthropic's runner, as docs/clients.md shows it."""

    def __init__(self, url: str, user: str) -> None:
        super().__init__()
        self._address = f"{url}/api/memory/tool?user={user}"

    def to_dict(self) -> Any:  # noqa: ANN401 - the vendor's own type
        """The tool as the model is told of it."""
        return {"type": "memory_20250818", "name": "memory"}

    async def call(self, input: object) -> str:  # noqa: A002 - the vendor's word
        """Do a command."""
        async with httpx.AsyncClient() as client:
            done = (await client.post(self._address, json=input)).json()
        if done["is_error"]:
            raise ToolError(done["result"])
        return str(done["result"])


def asks(number: int, arguments: str) -> Any:  # noqa: ANN401 - a scripted answer
    """An answer in which the model calls the tool."""
    function = {"name": "memory", "arguments": arguments}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return whole(None, tool_calls=[call])


@shows("memory tool", only=[AnthropicDriver])
async def test_anthropics_runner_uses_the_folder(line: Line) -> None:
    """Any upstream is told of the tool as a function; the server keeps the files."""
    line.endpoint.answers += [
        asks(1, '{"command": "view", "path": "/memories/tea.md"}'),
        asks(2, '{"command": "create", "path": "/memories/tea.md", "file_text": "Green."}'),
        whole("Noted."),
    ]
    runner = line.driver.api.beta.messages.tool_runner(
        model="m",
        max_tokens=400,
        messages=[{"role": "user", "content": "Remember that I like green tea."}],
        metadata={"user_id": "ana"},
        tools=[MemoryTool(line.url, "ana")],
    )
    final = await runner.until_done()
    assert final.content[0].text == "Noted."
    (tool,) = line.sent["tools"]
    assert tool["function"]["name"] == "memory"
    assert "/memories" in tool["function"]["description"]
    results = [m["content"] for m in line.sent["messages"] if m["role"] == "tool"]
    assert results[0].startswith("Error: ")
    assert "does not exist" in results[0]
    assert results[1] == "File created successfully at: /memories/tea.md"
    (file,) = await line.bench.memory().notes("ana", kind="file")
    assert (file.key, file.text) == ("/memories/tea.md", "Green.")


PATHS = st.sampled_from([f"{ROOT}/{name}" for name in ("a", "b", "c/d", "c/e")])
WORDS = st.sampled_from(["", "x", "one\ntwo", "one\ntwo\n", "two", "one", "\n"])
COMMANDS = st.lists(
    st.one_of(
        st.fixed_dictionaries({"command": st.just("view"), "path": PATHS}),
        st.fixed_dictionaries(
            {
                "command": st.just("view"),
                "path": PATHS,
                "view_range": st.sampled_from([[1, 1], [2, -1], [1, 9]]),
            }
        ),
        st.fixed_dictionaries({"command": st.just("create"), "path": PATHS, "file_text": WORDS}),
        st.fixed_dictionaries(
            {
                "command": st.just("str_replace"),
                "path": PATHS,
                "old_str": WORDS.filter(bool),
                "new_str": WORDS,
            }
        ),
        st.fixed_dictionaries(
            {
                "command": st.just("insert"),
                "path": PATHS,
                "insert_line": st.integers(-1, 4),
                "insert_text": WORDS,
            }
        ),
        st.fixed_dictionaries({"command": st.just("delete"), "path": PATHS}),
        st.fixed_dictionaries({"command": st.just("rename"), "old_path": PATHS, "new_path": PATHS}),
    ),
    max_size=12,
)


@given(commands=COMMANDS)
def test_the_folder_answers_as_anthropics_own_files_do(commands: list[dict[str, Any]]) -> None:
    """The same results and the same errors, word by word, for any sequence of commands."""
    files = Files(texts={})
    with tempfile.TemporaryDirectory() as place:
        theirs = BetaLocalFilesystemMemoryTool(place)
        for command in commands:
            try:
                expected: Any = theirs.call(command)
            except ToolError as error:
                expected = str(error)
            try:
                ours = run_command(files, command, max_chars=1000)
            except BadCommand as error:
                ours = str(error)
            assert ours == expected, command
        kept = {
            f"{ROOT}/{path.relative_to(Path(place) / 'memories').as_posix()}": path.read_text()
            for path in (Path(place) / "memories").rglob("*")
            if path.is_file()
        }
    assert files.texts == kept
