"""The OpenAI Agents SDK with a session that remembers ana from one thread to the next."""

import asyncio
import os

from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner, set_tracing_disabled
from openai import AsyncOpenAI

import omoide
from omoide_frameworks.openai_agents import OmoideSession

MODEL = os.environ.get("MODEL_URL", "http://localhost:11434/v1")
URL = os.environ.get("OMOIDE_URL", "http://127.0.0.1:8377")
KEY = os.environ.get("OMOIDE_SERVER_KEY", "")


async def main() -> None:
    """Tell it something in one thread, ask in another."""
    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=MODEL, api_key="none")
    model = OpenAIChatCompletionsModel(model="llama3.2", openai_client=client)
    agent = Agent(name="friend", instructions="Be brief.", model=model)
    async with omoide.connect_async(URL, key=KEY) as memory:
        for thread, text in (
            ("monday", "I have a cat called Miso."),
            ("tuesday", "What is my cat called?"),
        ):
            session = OmoideSession(memory, user="ana", session_id=thread)
            config = RunConfig(call_model_input_filter=session.add_memory)
            result = await Runner.run(agent, text, session=session, run_config=config)
            print(result.final_output)


asyncio.run(main())
