"""LlamaIndex: a chat engine whose memory is omoide."""

import os

from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.llms.openai_like import OpenAILike

import omoide
from omoide_frameworks.llamaindex import OmoideMemory

MODEL = os.environ.get("MODEL_URL", "http://localhost:11434/v1")
URL = os.environ.get("OMOIDE_URL", "http://127.0.0.1:8377")
KEY = os.environ.get("OMOIDE_SERVER_KEY", "")

llm = OpenAILike(model="llama3.2", api_base=MODEL, api_key="none", is_chat_model=True)

with omoide.connect(URL, key=KEY) as memory:
    for thread, text in (
        ("monday", "I have a cat called Miso."),
        ("tuesday", "What is my cat called?"),
    ):
        engine = SimpleChatEngine.from_defaults(
            llm=llm, memory=OmoideMemory(memory, user="ana", session=thread)
        )
        print(engine.chat(text).response)
