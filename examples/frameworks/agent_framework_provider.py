"""Microsoft Agent Framework: an agent with a context provider that remembers ana."""

import asyncio
import os
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

import httpx
from agent_framework import Agent, BaseChatClient, ChatResponse, Message

import omoide
from omoide_frameworks.agent_framework import OmoideProvider

MODEL = os.environ.get("MODEL_URL", "http://localhost:11434/v1")
URL = os.environ.get("OMOIDE_URL", "http://127.0.0.1:8377")
KEY = os.environ.get("OMOIDE_SERVER_KEY", "")


class Completions(BaseChatClient):
    """A small client of Chat Completions; the package agent-framework-openai has a full one."""

    def _inner_get_response(
        self,
        *,
        messages: Sequence[Message],
        stream: bool,
        options: Mapping[str, Any],
        **more: object,
    ) -> Awaitable[ChatResponse]:
        return self._ask(messages, str(options.get("instructions") or ""))

    async def _ask(self, messages: Sequence[Message], instructions: str) -> ChatResponse:
        sent = [{"role": "system", "content": instructions}] if instructions else []
        sent += [{"role": str(message.role), "content": message.text} for message in messages]
        async with httpx.AsyncClient(timeout=300) as http:
            body = {"model": "llama3.2", "messages": sent}
            answer = (await http.post(f"{MODEL}/chat/completions", json=body)).json()
        text = answer["choices"][0]["message"]["content"]
        return ChatResponse(messages=[Message("assistant", [text])])


async def main() -> None:
    """Tell it something in one session, ask in another."""
    async with omoide.connect_async(URL, key=KEY) as memory:
        agent = Agent(Completions(), context_providers=[OmoideProvider(memory, user="ana")])
        for thread, text in (
            ("monday", "I have a cat called Miso."),
            ("tuesday", "What is my cat called?"),
        ):
            session = agent.create_session(session_id=thread)
            print((await agent.run(text, session=session)).text)


asyncio.run(main())
