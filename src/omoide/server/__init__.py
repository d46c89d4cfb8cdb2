"""The HTTP server: a proxy with memory for clients of OpenAI, Anthropic and Ollama, a REST API for
the library, and a web page (`page`).

A request passes through `app` (outermost layer: logs and metrics), then `dispatch`
(authentication, authorisation, validation), then one handler of `proxy`, `protocols`,
`read_routes`, `inspection_routes`, `write_routes` or `probes`. `routes` lists all of them in one
table, from which the OpenAPI document is generated. To embed the server in your own program, pass a
`Server` to `app.make_app`; `omoide serve` does this in `run`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omoide.server.app import Server, make_app
    from omoide.server.embedded import EngineUpstream
    from omoide.server.keys import ApiKeys, Scope
    from omoide.server.options import Options
    from omoide.server.problems import problem_of
    from omoide.server.routes import document

__all__ = [
    "ApiKeys",
    "EngineUpstream",
    "Options",
    "Scope",
    "Server",
    "document",
    "make_app",
    "problem_of",
]

_MODULES = {
    "ApiKeys": "keys",
    "EngineUpstream": "embedded",
    "Options": "options",
    "Scope": "keys",
    "Server": "app",
    "document": "routes",
    "make_app": "app",
    "problem_of": "problems",
}
"""The module of each public name. Imported on first use, because they need the extra `server`."""


def __getattr__(name: str) -> object:
    """Import a public name on first use."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
