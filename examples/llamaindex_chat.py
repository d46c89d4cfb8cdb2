"""LlamaIndex: the OpenAI-like model with a base URL."""

import os

from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike

URL = os.environ.get("OMOIDE_URL", "http://127.0.0.1:8377")
KEY = os.environ.get("OMOIDE_SERVER_KEY", "none")


def talk(thread: str) -> OpenAILike:
    """A model that remembers ana, in one thread."""
    headers = {"X-Omoide-User": "ana", "X-Omoide-Session": thread}
    return OpenAILike(
        model="omoide",
        api_base=f"{URL}/v1",
        api_key=KEY,
        is_chat_model=True,
        default_headers=headers,
    )


print(talk("monday").chat([ChatMessage(content="I have a cat called Miso.")]).message.content)
for piece in talk("tuesday").stream_chat([ChatMessage(content="What is my cat called?")]):
    print(piece.delta or "", end="", flush=True)
print()
