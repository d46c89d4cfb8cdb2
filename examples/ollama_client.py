"""The official Ollama client: the host changes, and a header names the user."""

import os

import httpx
from ollama import Client

URL = os.environ.get("OMOIDE_URL", "http://127.0.0.1:8377")
KEY = os.environ.get("OMOIDE_SERVER_KEY", "none")

headers = {"Authorization": f"Bearer {KEY}", "X-Omoide-User": "ana"}
client = Client(URL, headers=headers)

first = client.chat("omoide", [{"role": "user", "content": "I have a cat called Miso."}])
print(first.message.content)

# Start a new session, as after a long pause; here the old one is ended explicitly.
httpx.post(f"{URL}/api/sessions/end", json={}, headers=headers).raise_for_status()

question = {"role": "user", "content": "What is my cat called?"}
for part in client.chat("omoide", [question], stream=True):
    print(part.message.content or "", end="", flush=True)
print()
