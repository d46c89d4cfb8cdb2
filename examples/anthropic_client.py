"""The official Anthropic client: only the base URL changes."""

import os

import httpx
from anthropic import Anthropic

URL = os.environ.get("OMOIDE_URL", "http://127.0.0.1:8377")
KEY = os.environ.get("OMOIDE_SERVER_KEY", "none")

client = Anthropic(base_url=URL, api_key=KEY)

first = client.messages.create(
    model="omoide",
    max_tokens=400,
    metadata={"user_id": "ana"},
    messages=[{"role": "user", "content": "I have a cat called Miso."}],
)
print("".join(block.text for block in first.content if block.type == "text"))

# Start a new session, as after a long pause; here the old one is ended explicitly.
httpx.post(
    f"{URL}/api/sessions/end?user=ana", json={}, headers={"Authorization": f"Bearer {KEY}"}
).raise_for_status()

with client.messages.stream(
    model="omoide",
    max_tokens=400,
    metadata={"user_id": "ana"},
    messages=[{"role": "user", "content": "What is my cat called?"}],
) as stream:
    for piece in stream.text_stream:
        print(piece, end="", flush=True)
print()
