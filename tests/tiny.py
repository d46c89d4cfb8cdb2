"""The tiny model, which is loaded once for all tests that only talk to it."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from omoide.adapters.models.catalogue import CatalogueModel, resolve
from omoide.adapters.models.download import Cache
from omoide.adapters.models.embedded import EmbeddedChat
from omoide.adapters.models.llama import Llama

CACHE = Path(os.environ.get("OMOIDE_WEIGHTS_DIR") or Path.home() / ".cache/omoide/models")
WINDOW = 256
"""Small: reading a prompt is what costs most of these tests' time."""


def tiny_model() -> Path:
    """The file of the model for plumbing tests; skips where it is not in the cache."""
    weights = resolve("tiny")
    assert isinstance(weights, CatalogueModel)
    if found := Cache(CACHE, offline=True).find(weights.artifact):
        return found
    pytest.skip(
        f"no {weights.artifact.file} in {CACHE}: set OMOIDE_WEIGHTS_DIR or run `make model`"
    )


@cache
def runtime() -> Llama:
    """The loaded model. One thread: several would wait for each other in a loop, at full load."""
    pytest.importorskip("xllamacpp")
    return Llama(tiny_model(), window=WINDOW, slots=2, threads=1, cache_mib=64)


class Lent:
    """A runtime that outlives the chat model it is lent to."""

    def __init__(self, llama: Llama) -> None:
        self.chat, self.tokens, self.pieces = llama.chat, llama.tokens, llama.pieces

    def close(self) -> None:
        """Keep it."""


def tiny_chat() -> EmbeddedChat:
    """A chat model on the shared runtime."""
    llama = runtime()
    return EmbeddedChat(Path("tiny.gguf"), window=WINDOW, load=lambda: Lent(llama))


def stop() -> None:
    """Free the model, if it was loaded."""
    if runtime.cache_info().currsize:
        runtime().close()
        runtime.cache_clear()
