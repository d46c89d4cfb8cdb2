"""CrewAI: an agent whose memory remembers ana."""

import os

from crewai import LLM, Agent

import omoide
from omoide_frameworks.crewai import OmoideMemory

MODEL = os.environ.get("MODEL_URL", "http://localhost:11434/v1")
URL = os.environ.get("OMOIDE_URL", "http://127.0.0.1:8377")
KEY = os.environ.get("OMOIDE_KEY", "")


def main() -> None:
    """Tell it something in one session, ask in another."""
    llm = LLM(model="openai/llama3.2", base_url=MODEL, api_key="none")
    with omoide.connect(URL, key=KEY) as memory:
        for session, text in (
            ("monday", "I have a cat called Miso."),
            ("tuesday", "What is my cat called?"),
        ):
            agent = Agent(
                role="Friend",
                goal="Answer briefly",
                backstory="You know the user.",
                llm=llm,
                memory=OmoideMemory(memory, user="ana", session=session),
            )
            print(agent.kickoff(text).raw)


main()
