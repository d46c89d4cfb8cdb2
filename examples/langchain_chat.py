"""LangChain: a chat model with a base URL; the thread id becomes the session."""

import os

from langchain_openai import ChatOpenAI

URL = os.environ.get("OMOIDE_URL", "http://127.0.0.1:8377")
KEY = os.environ.get("OMOIDE_SERVER_KEY", "none")


def talk(thread: str) -> ChatOpenAI:
    """A model that remembers ana, in one thread."""
    headers = {"X-Omoide-User": "ana", "X-Omoide-Session": thread}
    return ChatOpenAI(model="omoide", base_url=f"{URL}/v1", api_key=KEY, default_headers=headers)


print(talk("monday").invoke("I have a cat called Miso.").content)
for piece in talk("tuesday").stream("What is my cat called?"):
    print(piece.content, end="", flush=True)
print()
