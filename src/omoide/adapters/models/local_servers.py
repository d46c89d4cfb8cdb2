"""Finds model servers that run on this machine: Ollama, LM Studio, llama.cpp, vLLM."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx

from omoide.wire.certificates import certificates
from omoide.wire.json_parts import objects_in

if TYPE_CHECKING:
    from collections.abc import Iterable

NONE = "none"
"""The value of `OMOIDE_LOCAL_SERVERS` for not looking."""
_LONGEST = 1.0
"""Seconds to wait for a server on this machine."""
_MOST = 1 << 20
"""Bytes of an answer that are read."""
_OWNERS = {"llamacpp": "llama.cpp", "vllm": "vLLM", "library": "Ollama"}
"""Who owns models, as servers say, and what those servers are called."""
_NOT_CHAT = ("embed", "rerank", "whisper", "tts", "bge-", "clip")
"""In names of models that do not chat."""


@dataclass(frozen=True, kw_only=True)
class LocalServer:
    """A server that answers on this machine."""

    kind: str
    base_url: str
    models: tuple[str, ...]

    @property
    def specs(self) -> tuple[str, ...]:
        """Its models as `OMOIDE_MODEL` names them."""
        return tuple(f"{self.base_url}#{model}" for model in self.models)


async def find_servers(
    addresses: Iterable[str], *, transport: httpx.AsyncBaseTransport | None = None
) -> tuple[LocalServer, ...]:
    """The servers that answer at these addresses, in their order. An address of another machine is
    not asked: nobody expects this to reach out."""
    wanted = [a.rstrip("/").removesuffix("/v1") for a in addresses if a != NONE and _local(a)]
    async with httpx.AsyncClient(
        timeout=_LONGEST, trust_env=False, transport=transport, verify=certificates()
    ) as client:
        found = await asyncio.gather(*(_ask(client, address) for address in wanted))
    return tuple(server for server in found if server is not None)


def _local(address: str) -> bool:
    try:
        return urlsplit(address).hostname in ("127.0.0.1", "localhost", "::1")
    except ValueError:
        return False


async def _ask(client: httpx.AsyncClient, address: str) -> LocalServer | None:
    listed = await _json(client, f"{address}/v1/models")
    models = [m for m in objects_in(listed, "data") if m.get("id")]
    owners = {str(m.get("owned_by", "")) for m in models}
    if "omoide" in owners:  # our own server: its memory would be remembered twice
        return None
    names = tuple(str(m["id"]) for m in models)
    chatting = tuple(n for n in names if not any(word in n.lower() for word in _NOT_CHAT))
    if not chatting:
        return None
    return LocalServer(
        kind=await _kind(client, address, owners), base_url=f"{address}/v1", models=chatting
    )


async def _kind(client: httpx.AsyncClient, address: str, owners: set[str]) -> str:
    """What the server is, by what only it answers, or by what its models are owned by."""
    if "models" in await _json(client, f"{address}/api/tags"):
        return "Ollama"
    if "data" in await _json(client, f"{address}/api/v0/models"):
        return "LM Studio"
    return next((_OWNERS[owner] for owner in sorted(owners) if owner in _OWNERS), "a model server")


async def _json(client: httpx.AsyncClient, url: str) -> dict[str, Any]:
    """A JSON object from the server; empty if it answers with anything else, or not at all."""
    try:
        async with client.stream("GET", url) as response:
            if not response.is_success:
                return {}
            content = b""
            async for block in response.aiter_bytes():
                content += block
                if len(content) > _MOST:
                    return {}
        value = httpx.Response(200, content=content).json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
