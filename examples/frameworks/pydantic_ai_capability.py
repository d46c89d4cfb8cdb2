"""Pydantic AI: an agent with the capability to remember ana."""

import os

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

import omoide
from omoide_frameworks.pydantic_ai import OmoideCapability

MODEL = os.environ.get("MODEL_URL", "http://localhost:11434/v1")
URL = os.environ.get("OMOIDE_URL", "http://127.0.0.1:8377")
KEY = os.environ.get("OMOIDE_SERVER_KEY", "")

provider = OpenAIProvider(base_url=MODEL, api_key="none")
model = OpenAIChatModel("llama3.2", provider=provider)

with omoide.connect(URL, key=KEY) as memory:
    for thread, text in (
        ("monday", "I have a cat called Miso."),
        ("tuesday", "What is my cat called?"),
    ):
        remembering = OmoideCapability(memory, user="ana", session=thread)
        agent = Agent(model, instructions="Be brief.", capabilities=[remembering])
        print(agent.run_sync(text).output)
