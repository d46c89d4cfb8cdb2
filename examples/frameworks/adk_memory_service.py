"""Google's ADK: an agent with the memory service, over any model through LiteLLM."""

import asyncio
import os

from google.adk.agents import LlmAgent
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.preload_memory_tool import PreloadMemoryTool
from google.genai import types

import omoide
from omoide_frameworks.adk import OmoideMemoryService

MODEL = os.environ.get("MODEL_URL", "http://localhost:11434/v1")
URL = os.environ.get("OMOIDE_URL", "http://127.0.0.1:8377")
KEY = os.environ.get("OMOIDE_SERVER_KEY", "")


async def main() -> None:
    """Tell it something in one session, add that to memory, ask in another."""
    model = LiteLlm("openai/llama3.2", api_base=MODEL, api_key="none")
    agent = LlmAgent(name="friend", model=model, tools=[PreloadMemoryTool()])
    sessions = InMemorySessionService()
    async with omoide.connect_async(URL, key=KEY) as memory:
        service = OmoideMemoryService(memory)
        runner = Runner(
            app_name="demo", agent=agent, session_service=sessions, memory_service=service
        )
        for id_, text in (
            ("monday", "I have a cat called Miso."),
            ("tuesday", "What is my cat called?"),
        ):
            await sessions.create_session(app_name="demo", user_id="ana", session_id=id_)
            message = types.Content(role="user", parts=[types.Part(text=text)])
            async for event in runner.run_async(user_id="ana", session_id=id_, new_message=message):
                if event.content and event.content.parts:
                    print(event.content.parts[0].text)
            session = await sessions.get_session(app_name="demo", user_id="ana", session_id=id_)
            if session is not None:
                await service.add_session_to_memory(session)


asyncio.run(main())
