"""The official OpenAI client: only the base URL changes."""

import os

import httpx
from openai import OpenAI

URL = os.environ.get("OMOIDE_URL", "http://127.0.0.1:8377")
KEY = os.environ.get("OMOIDE_SERVER_KEY", "none")

client = OpenAI(base_url=f"{URL}/v1", api_key=KEY)

first = client.chat.completions.create(
    model="omoide",
    user="ana",
    messages=[{"role": "user", "content": "I have a cat called Miso."}],
)
print(first.choices[0].message.content)

# Start a new session, as after a long pause; here the old one is ended explicitly.
httpx.post(
    f"{URL}/api/sessions/end?user=ana", json={}, headers={"Authorization": f"Bearer {KEY}"}
).raise_for_status()

stream = client.chat.completions.create(
    model="omoide",
    user="ana",
    messages=[{"role": "user", "content": "What is my cat called?"}],
    stream=True,
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)
print()
