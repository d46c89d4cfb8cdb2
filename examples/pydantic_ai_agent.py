"""Pydantic AI: an agent over a client whose headers name user and session."""

import os

from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

URL = os.environ.get("OMOIDE_URL", "http://127.0.0.1:8377")
KEY = os.environ.get("OMOIDE_SERVER_KEY", "none")


def agent(thread: str) -> Agent:
    """An agent that remembers ana, in one thread."""
    headers = {"X-Omoide-User": "ana", "X-Omoide-Session": thread}
    client = AsyncOpenAI(base_url=f"{URL}/v1", api_key=KEY, default_headers=headers)
    model = OpenAIChatModel("omoide", provider=OpenAIProvider(openai_client=client))
    return Agent(model, instructions="Be brief.")


print(agent("monday").run_sync("I have a cat called Miso.").output)
print(agent("tuesday").run_sync("What is my cat called?").output)
