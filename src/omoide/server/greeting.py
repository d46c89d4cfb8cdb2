"""What `omoide serve` tells a person when it starts: what it is, where, and what to try."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from json import dumps
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from omoide.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.server.options import Options
    from omoide.settings import Address, Settings


@dataclass(frozen=True, kw_only=True)
class Greeting:
    """A server about to be announced."""

    settings: Settings
    options: Options
    upstream: str
    """As given: the URL of an endpoint with its model, or the name of the embedded model."""
    keyed: bool
    """Whether callers need a key."""

    def text(self, address: str) -> str:
        """The greeting of a server at this address, as lines for a terminal."""
        rows = {
            "page": f"{address}/",
            "OpenAI": f"base URL {address}/v1 (Chat Completions, Responses, Completions)",
            "Anthropic": f"base URL {address} (Messages)",
            "Ollama": f"host {address}",
            "REST": f"{address}/openapi.json",
            "model": self._model(),
            "memory": _where(self.settings.db),
            "users": self._users(),
            "keys": self._keys(),
        }
        minutes = self.settings.idle.total_seconds() / 60
        return "\n".join(
            [
                f"omoide {__version__} serves your memory at {address}",
                "",
                *(f"  {name:<10} {value}" for name, value in rows.items()),
                "",
                "Try it: say something, end the session so that it becomes memory, and ask.",
                "",
                *(f"  {line}" for line in self._example(address)),
                "",
                f"A session also ends by itself after {minutes:g} minutes of silence. "
                "Ctrl-C stops the server.",
                "",
            ]
        )

    def _model(self) -> str:
        if "://" not in self.upstream:
            return f"{self.upstream} (runs in this process)"
        url, _, model = self.upstream.partition("#")
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]  # without a password
        named = f"{model} at " if model else ""
        return f"{named}{parts.scheme}://{host}{parts.path}"

    def _users(self) -> str:
        if self.options.default_user:
            return f"a request that names none is of {self.options.default_user!r}"
        if self.options.user_from_key:
            return "a request that names none is of the user with its key's name"
        return "every request names its user; --default-user NAME takes those that do not"

    def _keys(self) -> str:
        if self.keyed:
            return "callers need one (omoide keys list)"
        return "none, so only this machine may call (omoide keys create NAME)"

    def _example(self, address: str) -> list[str]:
        user = self.options.default_user or "ana"
        key = " -H 'Authorization: Bearer omo_…'" if self.keyed else ""
        json = "-H 'Content-Type: application/json'"

        def said(text: str) -> str:
            message = {"role": "user", "content": text}
            body = shlex.quote(dumps({"user": user, "messages": [message]}))
            return f"curl {address}/v1/chat/completions{key} {json} -d {body}"

        end = f"curl '{address}/api/sessions/end?user={user}'{key} {json} -d '{{}}'"
        return [said("My cat is called Miso."), end, said("What is my cat called?")]


def _where(database: Path | Address) -> str:
    return repr(database).strip("<>") if isinstance(database, str) else str(database)
