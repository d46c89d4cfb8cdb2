"""Builds the chat model that a setting names."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from omoide.adapters.models.adapter import Adapter
    from omoide.adapters.models.catalogue import CatalogueModel, RemoteModel
    from omoide.adapters.models.hub import HubModel
    from omoide.ports import ChatModel, Progress
    from omoide.settings import Settings


def chat_model(
    settings: Settings, spec: str, *, progress: Progress | None = None, whole: bool = False
) -> ChatModel:
    """The model that `spec` names: from the catalogue, a file, or an endpoint. With `whole` an
    endpoint is asked for answers in one piece, not as a stream."""
    from omoide.adapters.models.catalogue import GgufFile, PluggedModel, RemoteModel, resolve

    choice = resolve(spec)
    if isinstance(choice, PluggedModel):
        return choice.make(settings)
    if isinstance(choice, RemoteModel):
        return _remote(settings, choice, whole=whole)

    from omoide.adapters.models.shipped_adapters import adapters_for, stamps_in

    adapters = adapters_for(choice, wanted=settings.adapter, stamps=stamps_in(settings.weights_dir))
    if isinstance(choice, GgufFile):
        return _embedded(settings, choice.path, choice.path.stem, adapters)
    return _fetched(settings, choice, adapters, progress)


def _remote(settings: Settings, choice: RemoteModel, *, whole: bool) -> ChatModel:
    """A model behind an endpoint."""
    from omoide.adapters.models.endpoint import Timeouts
    from omoide.adapters.models.openai import OpenAIChat

    return OpenAIChat(
        choice.base_url,
        choice.model,
        api_key=settings.api_key or None,
        window=settings.window,
        grammar=settings.grammar,
        whole=whole,
        # An answer in one piece comes with its last token, so the timeout holds for all of it.
        timeouts=Timeouts(between=settings.timeout, first=max(settings.timeout, Timeouts.first)),
    )


def _embedded(settings: Settings, path: Path, name: str, adapters: Sequence[Adapter]) -> ChatModel:
    """A model in a file, run in this process."""
    from omoide.adapters.models.embedded import EmbeddedChat
    from omoide.adapters.models.prefixes import prefix_states

    return EmbeddedChat(
        path,
        name=name,
        window=settings.window,
        threads=settings.threads or None,
        adapters=adapters,
        prefixes=prefix_states(settings),
        stall=settings.timeout,
    )


def _fetched(
    settings: Settings,
    choice: CatalogueModel | HubModel,
    adapters: Sequence[Adapter],
    progress: Progress | None,
) -> ChatModel:
    """A model whose file is fetched when it is first needed."""
    from omoide.adapters.models.adapter import author_name
    from omoide.adapters.models.hub import HubModel
    from omoide.adapters.models.lazy import LazyChat
    from omoide.bootstrap.models import fetch_from_hub, hub_of, weights_cache

    title = choice.stem if isinstance(choice, HubModel) else choice.name

    async def load() -> ChatModel:
        if isinstance(choice, HubModel):
            path = await fetch_from_hub(settings, choice, progress)
        else:
            path = await weights_cache(settings).fetch(choice.artifact, progress=progress)
        return _embedded(settings, path, title, adapters)

    def is_here() -> bool:
        if not isinstance(choice, HubModel):
            return weights_cache(settings).find(choice.artifact) is not None
        pin = hub_of(settings).known(choice)
        artifact = hub_of(settings).artifact(choice, pin) if pin else None
        return artifact is not None and weights_cache(settings).find(artifact) is not None

    return LazyChat(
        load,
        name="+".join((title, *(adapter.name for adapter in adapters))),
        window=settings.window,
        author=partial(author_name, title, adapters),
        is_here=is_here,
    )
