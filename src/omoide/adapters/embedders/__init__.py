"""Creates embedders by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide import plugins
from omoide.errors import UnknownModel
from omoide.plugins import Group
from omoide.wire.address import is_endpoint, without_credentials

if TYPE_CHECKING:
    from collections.abc import Callable

    from omoide.adapters.embedders.onnx import OnnxModel
    from omoide.adapters.embedders.onnx_tokens import OnnxTokens
    from omoide.ports import Embedder
    from omoide.settings import Settings

NONE = "none"


def embedder_named(settings: Settings) -> Embedder | None:
    """The embedder that the settings name: built in, from a plug-in, or behind an endpoint's URL.
    None for `none`.

    An endpoint is written `http://host/v1#model@dimensions`. The dimensions are explicit because
    endpoints do not report them, and stored data must not depend on whether one is reachable.
    """
    spec = settings.embedder
    makers: dict[str, Callable[[], Embedder]] = {
        "multilingual": _multilingual,
        "minilm": lambda: _onnx("MINILM", settings),
        "gte-small": lambda: _onnx("GTE_SMALL", settings),
        # Copied from the package omoide-weights: the network is not needed.
        "gte-small-memory": lambda: _onnx("GTE_SMALL_MEMORY", settings.changed(offline=False)),
    }
    if spec == NONE:
        return None
    if is_endpoint(spec):
        return _endpoint(spec, settings.api_key or None)
    if spec in makers:
        return makers[spec]()
    plugged = plugins.names(Group.EMBEDDERS)
    if (name := plugins.scheme(spec)) in plugged:
        embedder: Embedder = plugins.load(Group.EMBEDDERS, name)(spec, settings)
        return embedder
    raise UnknownModel(
        f"unknown embedder {without_credentials(spec)!r}; expected one of "
        f"{', '.join((*makers, *plugged))}, {NONE}, or the URL of an endpoint such as http://localhost:11434/v1#nomic-embed-text@768"
    )


def token_encoder_named(name: str, settings: Settings) -> OnnxTokens:
    """The encoder for token vectors: `gte-small` or `minilm`."""
    from omoide.adapters.embedders import onnx
    from omoide.adapters.embedders.onnx_tokens import OnnxTokens
    from omoide.adapters.models.download import Cache

    known = {"gte-small": onnx.GTE_SMALL, "minilm": onnx.MINILM}
    if name not in known:
        raise UnknownModel(f"unknown token encoder {name!r}; expected one of {', '.join(known)}")
    return OnnxTokens(known[name], cache=Cache.of(settings))


def _multilingual() -> Embedder:
    from omoide.adapters.embedders.use_multilingual import UseMultilingual

    return UseMultilingual()


def _onnx(name: str, settings: Settings) -> Embedder:
    from omoide.adapters.embedders import onnx
    from omoide.adapters.models.download import Cache

    model: OnnxModel = getattr(onnx, name)
    return onnx.OnnxEmbedder(model, cache=Cache.of(settings))


def _endpoint(spec: str, api_key: str | None) -> Embedder:
    from omoide.adapters.embedders.openai import OpenAIEmbedder

    base_url, _, model = spec.partition("#")
    name, _, length = model.rpartition("@")
    if not name or not length.isdigit():
        shown = without_credentials(base_url)
        raise UnknownModel(
            f"no model and dimensions named for {shown}: add both after a #, "
            f"as in {shown.rstrip('/')}#nomic-embed-text@768"
        )
    name, _, queries = name.partition("|")
    dimensions = int(length)
    return OpenAIEmbedder(base_url, name, queries=queries, api_key=api_key, dimensions=dimensions)
