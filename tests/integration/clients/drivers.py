"""One way to drive every vendor's client, so that one suite runs over all of them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import anthropic
import ollama
import openai

from omoide.wire.certificates import certificates

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

WEATHER = {
    "type": "object",
    "properties": {"place": {"type": "string"}},
    "required": ["place"],
    "additionalProperties": False,
}


@dataclass(frozen=True, kw_only=True)
class Heard:
    """An answer, as the client gives it."""

    text: str
    calls: Sequence[tuple[str, dict[str, Any]]] = ()
    """Names and arguments of the tools to be called."""
    tokens: tuple[int, int] = (0, 0)
    """Of the prompt and of the answer."""
    raw: Any = field(default=None, repr=False)


class Driver(Protocol):
    """A vendor's client, for one of its protocols."""

    client: str
    protocol: str
    tools: bool
    """Whether the protocol has tools."""
    system: bool
    """Whether the protocol has a system prompt."""
    refused: tuple[dict[str, Any], str]
    """Arguments that cannot be converted, and the field that the refusal names."""
    error: type[Exception]
    """What the client raises for an error response."""

    async def say(self, text: str, *, tools: bool = False, **more: Any) -> Heard:  # noqa: ANN401
        """Say something as ana, and hear the whole answer."""

    def stream(self, text: str, **more: Any) -> AsyncIterator[str]:  # noqa: ANN401
        """Say something as ana, and hear the answer piece by piece."""

    async def stream_calls(self, text: str) -> Heard:
        """The same with tools, put together by the client's own means."""

    async def give_back(self, text: str, heard: Heard, result: str) -> Heard:
        """Send a tool's result after the answer that asked for it."""

    async def instruct(self, system: str, text: str) -> Heard:
        """Say something under a system prompt."""

    def status(self, error: Exception) -> int:
        """The status of an error response."""

    async def close(self) -> None:
        """Close the client."""


class OpenAIDriver:
    """OpenAI's client, its Chat Completions."""

    client, protocol = "openai", "Chat Completions"
    tools = system = True
    refused: tuple[dict[str, Any], str] = ({}, "")
    error: type[Exception] = openai.APIStatusError
    user = "ana"

    def __init__(self, url: str, key: str | None) -> None:
        self._client = openai.AsyncOpenAI(
            base_url=f"{url}/v1",
            api_key=key or "sk-theirs",
            max_retries=0,
            timeout=600,
            http_client=openai.DefaultAsyncHttpxClient(verify=certificates()),
        )

    @property
    def api(self) -> openai.AsyncOpenAI:
        """The vendor's client itself."""
        return self._client

    @property
    def _named(self) -> dict[str, Any]:
        return {"model": "m", **({"user": self.user} if self.user else {})}

    def status(self, error: Exception) -> int:
        """See `Driver.status`."""
        assert isinstance(error, openai.APIStatusError)
        return error.status_code

    async def close(self) -> None:
        """See `Driver.close`."""
        await self._client.close()

    async def say(self, text: str, *, tools: bool = False, **more: Any) -> Heard:  # noqa: ANN401
        """See `Driver.say`."""
        return await self._ask([{"role": "user", "content": text}], tools=tools, **more)

    async def instruct(self, system: str, text: str) -> Heard:
        """See `Driver.instruct`."""
        first = {"role": "system", "content": system}
        return await self._ask([first, {"role": "user", "content": text}])

    async def give_back(self, text: str, heard: Heard, result: str) -> Heard:
        """See `Driver.give_back`."""
        asked = heard.raw.choices[0].message.model_dump(exclude_none=True)
        done = {"role": "tool", "tool_call_id": asked["tool_calls"][0]["id"], "content": result}
        return await self._ask([{"role": "user", "content": text}, asked, done], tools=True)

    async def stream(self, text: str, **more: Any) -> AsyncIterator[str]:  # noqa: ANN401
        """See `Driver.stream`."""
        messages: Any = [{"role": "user", "content": text}]
        chunks = await self._client.chat.completions.create(
            messages=messages, stream=True, **self._named, **more
        )
        async for chunk in chunks:
            if chunk.choices and (piece := chunk.choices[0].delta.content):
                yield piece

    async def stream_calls(self, text: str) -> Heard:
        """See `Driver.stream_calls`."""
        messages: Any = [{"role": "user", "content": text}]
        arguments: Any = {**self._named, "tools": self._tools}
        async with self._client.chat.completions.stream(messages=messages, **arguments) as stream:
            return self._heard(await stream.get_final_completion())

    async def _ask(self, messages: Any, *, tools: bool = False, **more: Any) -> Heard:  # noqa: ANN401
        if tools:
            more = {**more, "tools": self._tools}
        arguments: Any = {**self._named, **more}
        return self._heard(
            await self._client.chat.completions.create(messages=messages, **arguments)
        )

    @property
    def _tools(self) -> list[dict[str, Any]]:
        function = {"name": "weather", "parameters": WEATHER, "strict": True}
        return [{"type": "function", "function": function}]

    def _heard(self, answer: Any) -> Heard:  # noqa: ANN401 - the vendor's own type
        message = answer.choices[0].message
        calls = [
            (c.function.name, json.loads(c.function.arguments)) for c in message.tool_calls or ()
        ]
        usage = answer.usage
        tokens = (usage.prompt_tokens, usage.completion_tokens) if usage else (0, 0)
        return Heard(text=message.content or "", calls=calls, tokens=tokens, raw=answer)


class ResponsesDriver(OpenAIDriver):
    """OpenAI's client, its Responses."""

    protocol = "Responses"
    refused: tuple[dict[str, Any], str] = ({"background": True}, "background")

    async def say(self, text: str, *, tools: bool = False, **more: Any) -> Heard:  # noqa: ANN401
        """See `Driver.say`."""
        if tools:
            more = {**more, "tools": self._tools}
        return await self.create(input=text, **more)

    async def instruct(self, system: str, text: str) -> Heard:
        """See `Driver.instruct`."""
        return await self.create(instructions=system, input=text)

    async def give_back(self, text: str, heard: Heard, result: str) -> Heard:
        """See `Driver.give_back`. The conversation is the server's to remember."""
        call = heard.raw.output[-1]
        done = {"type": "function_call_output", "call_id": call.call_id, "output": result}
        return await self.create(input=[done], previous_response_id=heard.raw.id, tools=self._tools)

    async def stream(self, text: str, **more: Any) -> AsyncIterator[str]:  # noqa: ANN401
        """See `Driver.stream`."""
        arguments: Any = {**self._named, **more}
        events: Any = await self._client.responses.create(input=text, stream=True, **arguments)
        async for event in events:
            if event.type == "response.output_text.delta":
                yield event.delta

    async def stream_calls(self, text: str) -> Heard:
        """See `Driver.stream_calls`."""
        arguments: Any = {**self._named, "tools": self._tools}
        async with self._client.responses.stream(input=text, **arguments) as stream:
            return self._heard(await stream.get_final_response())

    async def create(self, **arguments: Any) -> Heard:  # noqa: ANN401 - the vendor's own
        """A response."""
        return self._heard(await self._client.responses.create(**{**self._named, **arguments}))

    @property
    def _tools(self) -> list[dict[str, Any]]:
        return [{"type": "function", "name": "weather", "parameters": WEATHER, "strict": True}]

    def _heard(self, answer: Any) -> Heard:  # noqa: ANN401 - the vendor's own type
        calls = [
            (item.name, json.loads(item.arguments))
            for item in answer.output
            if item.type == "function_call"
        ]
        tokens = (answer.usage.input_tokens, answer.usage.output_tokens)
        return Heard(text=answer.output_text, calls=calls, tokens=tokens, raw=answer)


class CompletionsDriver(OpenAIDriver):
    """OpenAI's client, its older Completions."""

    protocol = "Completions"
    tools = system = False
    refused: tuple[dict[str, Any], str] = ({"suffix": "and so on"}, "suffix")

    async def say(self, text: str, *, tools: bool = False, **more: Any) -> Heard:  # noqa: ANN401
        """See `Driver.say`."""
        assert not tools
        arguments: Any = {**self._named, **more}
        answer = await self._client.completions.create(prompt=text, **arguments)
        assert answer.usage is not None
        tokens = (answer.usage.prompt_tokens, answer.usage.completion_tokens)
        return Heard(text=answer.choices[0].text, tokens=tokens, raw=answer)

    async def stream(self, text: str, **more: Any) -> AsyncIterator[str]:  # noqa: ANN401
        """See `Driver.stream`."""
        arguments: Any = {**self._named, **more}
        chunks = await self._client.completions.create(prompt=text, stream=True, **arguments)
        async for chunk in chunks:
            if piece := chunk.choices[0].text:
                yield piece


class AnthropicDriver:
    """Anthropic's client."""

    client, protocol = "anthropic", "Messages"
    tools = system = True
    refused: tuple[dict[str, Any], str] = ({"container": "c-1"}, "container")
    error: type[Exception] = anthropic.APIStatusError
    user = "ana"

    def __init__(self, url: str, key: str | None) -> None:
        self._client = anthropic.AsyncAnthropic(
            base_url=url,
            api_key=key or "sk-ant-theirs",
            max_retries=0,
            timeout=600,
            http_client=anthropic.DefaultAsyncHttpxClient(verify=certificates()),
        )

    @property
    def api(self) -> anthropic.AsyncAnthropic:
        """The vendor's client itself."""
        return self._client

    @property
    def _named(self) -> dict[str, Any]:
        named = {"metadata": {"user_id": self.user}} if self.user else {}
        return {"model": "m", "max_tokens": 100, **named}

    def status(self, error: Exception) -> int:
        """See `Driver.status`."""
        assert isinstance(error, anthropic.APIStatusError)
        return error.status_code

    async def close(self) -> None:
        """See `Driver.close`."""
        await self._client.close()

    async def say(self, text: str, *, tools: bool = False, **more: Any) -> Heard:  # noqa: ANN401
        """See `Driver.say`."""
        if tools:
            more = {**more, "tools": self._tools}
        return await self._ask([{"role": "user", "content": text}], **more)

    async def instruct(self, system: str, text: str) -> Heard:
        """See `Driver.instruct`. As blocks, one of them marked for the cache."""
        block = {"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}
        return await self._ask([{"role": "user", "content": text}], system=[block])

    async def give_back(self, text: str, heard: Heard, result: str) -> Heard:
        """See `Driver.give_back`."""
        (use,) = [block for block in heard.raw.content if block.type == "tool_use"]
        done = {"type": "tool_result", "tool_use_id": use.id, "content": result}
        messages = [
            {"role": "user", "content": text},
            {"role": "assistant", "content": heard.raw.content},
            {"role": "user", "content": [done]},
        ]
        return await self._ask(messages, tools=self._tools)

    async def stream(self, text: str, **more: Any) -> AsyncIterator[str]:  # noqa: ANN401
        """See `Driver.stream`."""
        arguments: Any = {**self._named, **more, "messages": [{"role": "user", "content": text}]}
        async with self._client.messages.stream(**arguments) as stream:
            async for piece in stream.text_stream:
                yield piece

    async def stream_calls(self, text: str) -> Heard:
        """See `Driver.stream_calls`."""
        messages = [{"role": "user", "content": text}]
        arguments: Any = {**self._named, "messages": messages, "tools": self._tools}
        async with self._client.messages.stream(**arguments) as stream:
            return self._heard(await stream.get_final_message())

    async def _ask(self, messages: Any, **more: Any) -> Heard:  # noqa: ANN401
        arguments: Any = {**self._named, **more}
        return self._heard(await self._client.messages.create(messages=messages, **arguments))

    @property
    def _tools(self) -> list[dict[str, Any]]:
        return [{"name": "weather", "input_schema": WEATHER}]

    def _heard(self, answer: Any) -> Heard:  # noqa: ANN401 - the vendor's own type
        texts = [block.text for block in answer.content if block.type == "text"]
        calls = [(b.name, dict(b.input)) for b in answer.content if b.type == "tool_use"]
        tokens = (answer.usage.input_tokens, answer.usage.output_tokens)
        return Heard(text="".join(texts), calls=calls, tokens=tokens, raw=answer)


class OllamaDriver:
    """Ollama's client, its chat."""

    client, protocol = "ollama", "chat"
    tools = system = True
    refused: tuple[dict[str, Any], str] = ({"logprobs": True}, "logprobs")
    error: type[Exception] = ollama.ResponseError
    user = "ana"

    def __init__(self, url: str, key: str | None) -> None:
        self._url, self._key = url, key
        self._made: ollama.AsyncClient | None = None

    @property
    def api(self) -> ollama.AsyncClient:
        """The vendor's client itself."""
        if self._made is None:
            headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
            if self.user:
                headers["X-Omoide-User"] = self.user
            self._made = ollama.AsyncClient(
                host=self._url, headers=headers, timeout=600, verify=certificates()
            )
        return self._made

    def status(self, error: Exception) -> int:
        """See `Driver.status`."""
        assert isinstance(error, ollama.ResponseError)
        return error.status_code

    async def close(self) -> None:
        """See `Driver.close`."""
        if self._made is not None:
            await self._made.close()  # type: ignore[no-untyped-call]

    async def say(self, text: str, *, tools: bool = False, **more: Any) -> Heard:  # noqa: ANN401
        """See `Driver.say`."""
        return await self._ask([{"role": "user", "content": text}], tools=tools, **more)

    async def instruct(self, system: str, text: str) -> Heard:
        """See `Driver.instruct`."""
        first = {"role": "system", "content": system}
        return await self._ask([first, {"role": "user", "content": text}])

    async def give_back(self, text: str, heard: Heard, result: str) -> Heard:
        """See `Driver.give_back`."""
        done = {"role": "tool", "tool_name": "weather", "content": result}
        first = {"role": "user", "content": text}
        return await self._ask([first, heard.raw.message, done], tools=True)

    async def stream(self, text: str, **more: Any) -> AsyncIterator[str]:  # noqa: ANN401
        """See `Driver.stream`."""
        messages = [{"role": "user", "content": text}]
        async for part in await self.api.chat("m", messages, stream=True, **more):
            if part.message.content:
                yield part.message.content

    async def stream_calls(self, text: str) -> Heard:
        """See `Driver.stream_calls`."""
        messages = [{"role": "user", "content": text}]
        parts = [
            part
            async for part in await self.api.chat("m", messages, stream=True, tools=self._tools)
        ]
        said = "".join(part.message.content or "" for part in parts)
        calls = [
            (call.function.name, dict(call.function.arguments))
            for part in parts
            for call in part.message.tool_calls or ()
        ]
        return Heard(text=said, calls=calls, raw=parts[-1])

    async def _ask(self, messages: Any, *, tools: bool = False, **more: Any) -> Heard:  # noqa: ANN401
        if tools:
            more = {**more, "tools": self._tools}
        answer: Any = await self.api.chat("m", messages, **more)
        calls = [
            (c.function.name, dict(c.function.arguments)) for c in answer.message.tool_calls or ()
        ]
        tokens = (answer.prompt_eval_count, answer.eval_count)
        return Heard(text=answer.message.content, calls=calls, tokens=tokens, raw=answer)

    @property
    def _tools(self) -> list[dict[str, Any]]:
        return [{"type": "function", "function": {"name": "weather", "parameters": WEATHER}}]


class OllamaGenerateDriver(OllamaDriver):
    """Ollama's client, its plain prompt."""

    protocol = "generate"
    tools = False
    refused: tuple[dict[str, Any], str] = ({"suffix": "and so on"}, "suffix")

    async def say(self, text: str, *, tools: bool = False, **more: Any) -> Heard:  # noqa: ANN401
        """See `Driver.say`."""
        assert not tools
        answer: Any = await self.api.generate("m", text, **more)
        tokens = (answer.prompt_eval_count, answer.eval_count)
        return Heard(text=answer.response, tokens=tokens, raw=answer)

    async def instruct(self, system: str, text: str) -> Heard:
        """See `Driver.instruct`."""
        return await self.say(text, system=system)

    async def stream(self, text: str, **more: Any) -> AsyncIterator[str]:  # noqa: ANN401
        """See `Driver.stream`."""
        async for part in await self.api.generate("m", text, stream=True, **more):
            if part.response:
                yield part.response


DRIVERS = (
    OpenAIDriver,
    ResponsesDriver,
    CompletionsDriver,
    AnthropicDriver,
    OllamaDriver,
    OllamaGenerateDriver,
)
