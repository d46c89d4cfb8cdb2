"""Test helpers for omoide and for plug-ins: fakes of models, embedders, clocks and stores, and in
`omoide.testing.contracts` the suites that a store, model, embedder, vector index or mechanism must
pass. The suites are installed by the extra `contracts`; the fakes come with omoide.
"""

from typing import TYPE_CHECKING

from omoide.testing.endpoint import FakeEndpoint, Received, Scripted
from omoide.testing.fakes import FrozenClock, HashEmbedder, ScriptedModel
from omoide.testing.stores import InMemoryStore, asking, parts

if TYPE_CHECKING:
    from omoide.testing.fakes import Answer as Answer

__all__ = [
    "FakeEndpoint",
    "FrozenClock",
    "HashEmbedder",
    "InMemoryStore",
    "Received",
    "Scripted",
    "ScriptedModel",
    "asking",
    "parts",
]
