"""Embedders, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.errors import UnknownModel

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from omoide.adapters.embedders.onnx import OnnxModel
    from omoide.adapters.embedders.onnx_tokens import OnnxTokens
    from omoide.ports import Embedder

NONE = "none"


def choose(spec: str, *, models: Path, offline: bool, api_key: str | None) -> Embedder | None:
    """The embedder that `spec` names, or the one behind an endpoint's URL; None for `none`.

    An endpoint is written `http://host/v1#model@dimensions`: it does not say how long its vectors
    are, and what is stored must not depend on whether it can be reached.
    """
    makers: dict[str, Callable[[], Embedder]] = {
        "multilingual": _multilingual,
        "minilm": lambda: _onnx("MINILM", models, offline=offline),
        "gte-small": lambda: _onnx("GTE_SMALL", models, offline=offline),
    }
    if spec == NONE:
        return None
    if spec.lower().startswith(("http://", "https://")):
        return _endpoint(spec, api_key)
    if spec not in makers:
        raise UnknownModel(
            f"no embedder is called {spec!r}; wanted one of {', '.join(makers)}, {NONE}, or the "
            "URL of an endpoint such as http://localhost:11434/v1#nomic-embed-text@768"
        )
    return makers[spec]()


def choose_tokens(name: str, *, models: Path, offline: bool) -> OnnxTokens:
    """What gives the vectors of tokens: `gte-small` or `minilm`."""
    from omoide.adapters.embedders import onnx
    from omoide.adapters.embedders.onnx_tokens import OnnxTokens
    from omoide.adapters.models.download import Cache

    known = {"gte-small": onnx.GTE_SMALL, "minilm": onnx.MINILM}
    if name not in known:
        raise UnknownModel(f"token vectors are to be had of {', '.join(known)}, not of {name!r}")
    return OnnxTokens(known[name], cache=Cache(models, offline=offline))


def _multilingual() -> Embedder:
    from omoide.adapters.embedders.use_multilingual import UseMultilingual

    return UseMultilingual()


def _onnx(name: str, models: Path, *, offline: bool) -> Embedder:
    from omoide.adapters.embedders import onnx
    from omoide.adapters.models.download import Cache

    model: OnnxModel = getattr(onnx, name)
    return onnx.OnnxEmbedder(model, cache=Cache(models, offline=offline))


def _endpoint(spec: str, api_key: str | None) -> Embedder:
    from omoide.adapters.embedders.openai import OpenAIEmbedder

    base_url, _, model = spec.partition("#")
    name, _, length = model.rpartition("@")
    if not name or not length.isdigit():
        raise UnknownModel(
            f"which model of {base_url}, and how long are its vectors? Write both after a #, "
            f"such as {base_url.rstrip('/')}#nomic-embed-text@768"
        )
    return OpenAIEmbedder(base_url, name, api_key=api_key, dimensions=int(length))
