"""LiteLLM: every call remembers its user."""

import asyncio
import os

import litellm

import omoide
from omoide_frameworks.litellm import OmoideCallback

MODEL = os.environ.get("MODEL_URL", "http://localhost:11434/v1")
URL = os.environ.get("OMOIDE_URL", "http://127.0.0.1:8377")
KEY = os.environ.get("OMOIDE_SERVER_KEY", "")


async def main() -> None:
    """Tell it something in one conversation, ask in another."""
    async with omoide.connect_async(URL, key=KEY) as memory:
        litellm.callbacks = [OmoideCallback(memory)]
        for thread, text in (
            ("monday", "I have a cat called Miso."),
            ("tuesday", "What is my cat called?"),
        ):
            response = await litellm.acompletion(
                model="openai/llama3.2",
                api_base=MODEL,
                api_key="none",
                messages=[{"role": "user", "content": text}],
                user="ana",
                metadata={"session_id": thread},
            )
            print(response.choices[0].message.content)


asyncio.run(main())
