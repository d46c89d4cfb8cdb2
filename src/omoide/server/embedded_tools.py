"""Tools of the embedded model: it answers by a grammar, as a call or as a reply.

The model is told of the tools in a system message and answers as JSON, which a schema built from
the tools' own allows alone: `{"tool": "weather", "arguments": {…}}` or, where the client does not
demand a call, `{"reply": "…"}`. It makes one call at a time.
"""

from __future__ import annotations

import json
import secrets
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omoide.language import dominant_language
from omoide.prompts import render, vocabulary
from omoide.server.problems import HttpProblem
from omoide.wire.fields import Fields

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.ports import Message

_NONE: dict[str, object] = {"type": "object", "properties": {}}
"""The parameters of a tool that takes none: as with OpenAI, of one that names none."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A function that the client can run."""

    name: str
    about: str
    parameters: Mapping[str, object]
    """The JSON schema of its arguments."""


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """A call that the model asks for."""

    id: str
    name: str
    arguments: str
    """As JSON."""

    def as_message(self) -> dict[str, object]:
        """The call in the form of Chat Completions."""
        function = {"name": self.name, "arguments": self.arguments}
        return {"id": self.id, "type": "function", "function": function}


@dataclass(frozen=True, kw_only=True)
class OfferedTools:
    """The tools of one request."""

    tools: tuple[Tool, ...]
    must: bool = False
    """Whether the client demands a call."""

    @classmethod
    def read(cls, fields: Fields) -> OfferedTools | None:
        """The tools of a Chat Completions body that may be called; None if there are none. Raises
        `HttpProblem` that names what cannot be."""
        tools = tuple(_tool(tool, i) for i, tool in enumerate(fields.rows("tools") or ()))
        choice = fields.take("tool_choice") or "auto"
        if not tools or choice == "none":
            return None
        if choice in ("auto", "required"):
            return cls(tools=tools, must=choice == "required")
        function = choice.get("function") if isinstance(choice, dict) else None
        name = function.get("name") if isinstance(function, dict) else None
        chosen = tuple(tool for tool in tools if tool.name == name)
        if not chosen:
            raise _refused(
                f'tool_choice must be "none", "auto", "required" or name one of the tools '
                f"({', '.join(tool.name for tool in tools)}), not {str(choice)[:80]}",
                "tool_choice",
            )
        return cls(tools=chosen, must=True)

    @property
    def schema(self) -> dict[str, object]:
        """The JSON schema of an answer."""
        calls = [
            _closed({"tool": {"const": tool.name}, "arguments": {"$ref": f"#/$defs/{i}"}})
            for i, tool in enumerate(self.tools)
        ]
        arguments = {
            str(i): _moved(tool.parameters, f"#/$defs/{i}") for i, tool in enumerate(self.tools)
        }
        replies = [] if self.must else [_closed({"reply": {"type": "string", "minLength": 1}})]
        return {"anyOf": [*calls, *replies], "$defs": arguments}

    def system_message(self, said: Sequence[str]) -> Message:
        """The tools, described in the language of what was said."""
        language = dominant_language(said)
        listed = "\n".join(
            json.dumps(
                {"tool": tool.name, "about": tool.about, "arguments": tool.parameters},
                ensure_ascii=False,
            )
            for tool in self.tools
        )
        how = vocabulary(language)["tools_must" if self.must else "tools_may"]
        (message,) = render("tools", language, tools=listed, how=how).messages
        return message

    def answer(self, text: str) -> ToolCall | str:
        """The call or the reply in the model's answer. Raises `HttpProblem` if a call broke off."""
        try:
            answer = _whole(text)
            if "reply" in answer:
                return str(answer["reply"])
            arguments = json.dumps(answer["arguments"], ensure_ascii=False)
            name = str(answer["tool"])
        except (ValueError, KeyError, TypeError) as error:
            raise HttpProblem(
                502,
                "bad-tool-call",
                "the embedded model's tool call broke off; allow more tokens (max_tokens), or "
                "offer fewer or simpler tools",
            ) from error
        return ToolCall(id=f"call_{secrets.token_hex(12)}", name=name, arguments=arguments)


def _whole(text: str) -> Any:  # noqa: ANN401 - any JSON
    """The model's JSON; of a reply that broke off, as far as it came."""
    try:
        return json.loads(text)
    except ValueError:
        for end in range(len(text), len(text) - 6, -1):  # an escape may have broken off as well
            with suppress(ValueError):
                return json.loads(text[:end] + '"}')
        raise


def call_text(message: Fields) -> str:
    """The tool calls of an earlier assistant message, as the model writes them."""
    functions = [call.nested("function") for call in message.items("tool_calls")]
    return "\n".join(
        json.dumps(
            {"tool": function.needed("name"), "arguments": _arguments(function.take("arguments"))},
            ensure_ascii=False,
        )
        for function in functions
    )


def _arguments(text: object) -> object:
    try:
        return json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return text


def _tool(tool: object, number: int) -> Tool:
    function = tool.get("function") if isinstance(tool, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(name, str) or not name:
        raise _refused(
            "the embedded model can only call functions: a tool must be "
            '{"type": "function", "function": {"name": …}}',
            f"tools[{number}]",
        )
    fields = Fields(function, where=f"tools[{number}].function")
    about, parameters = fields.text("description"), fields.mapping("parameters")
    parameters = parameters or _NONE
    if not parameters.get("properties", True):  # else a small model invents some, without end
        parameters = {"additionalProperties": False, **parameters}
    return Tool(name=name, about=about or "", parameters=parameters)


def _moved(schema: Mapping[str, object], place: str) -> dict[str, object]:
    """A schema that stands at a place of another one, where its own references begin there too."""

    def move(part: dict[str, object]) -> dict[str, object]:
        ref = part.get("$ref")
        own = isinstance(ref, str) and ref.startswith("#")
        return {**part, "$ref": f"{place}{str(ref)[1:]}"} if own else part

    moved: dict[str, object] = json.loads(json.dumps(schema), object_hook=move)
    return moved


def _closed(properties: dict[str, object]) -> dict[str, object]:
    """An object with exactly these properties, in this order."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _refused(detail: str, param: str) -> HttpProblem:
    return HttpProblem(400, "unsupported", detail, param=param)
