"""gte-small, and any BERT sentence encoder like it, between ONNX and torch.

The registries carry the network as fp32 ONNX only. Its initialisers are named as transformers
names the weights; matrices of linear layers are stored transposed under made-up names and are
found by the node that uses them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from omoide.errors import MissingExtra, ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

HIDDEN, LAYERS, HEADS, WIDE = 384, 12, 12, 1536
"""The measures of gte-small."""
PASSAGE, QUERY = 256, 64
"""Tokens of a turn and of a question that are read in training."""


def weights(path: Path) -> dict[str, NDArray[np.float32]]:
    """The network's weights by transformers' names."""
    onnx, helper = vendor("onnx"), vendor("onnx.numpy_helper")
    graph = onnx.load(str(path)).graph
    arrays = {tensor.name: helper.to_array(tensor) for tensor in graph.initializer}
    found = {name: a for name, a in arrays.items() if name.startswith(("embeddings.", "encoder."))}
    for node in graph.node:
        matrix = next((name for name in node.input if name.startswith("onnx::MatMul")), None)
        if node.op_type == "MatMul" and matrix:
            # /encoder/layer.0/attention/self/query/MatMul → encoder.layer.0.attention.self.query
            layer = node.name.strip("/").removesuffix("/MatMul").replace("/", ".")
            found[f"{layer}.weight"] = arrays[matrix].T
    return found


def build(state: dict[str, NDArray[np.float32]], *, tiny: bool = False) -> Any:  # noqa: ANN401
    """A transformers model with these weights; a small random one for `tiny`."""
    torch, transformers = vendor("torch"), vendor("transformers")
    config = transformers.BertConfig(
        hidden_size=32 if tiny else HIDDEN,
        num_hidden_layers=1 if tiny else LAYERS,
        num_attention_heads=2 if tiny else HEADS,
        intermediate_size=64 if tiny else WIDE,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    torch.manual_seed(0)
    model = transformers.BertModel(config, add_pooling_layer=False)
    if not tiny:
        tensors = {name: torch.from_numpy(np.array(a)).float() for name, a in state.items()}
        missing, surplus = model.load_state_dict(tensors, strict=False)
        wrong = [name for name in (*missing, *surplus) if "position_ids" not in name]
        if wrong:
            raise ModelUnavailable(f"the network lacks or has too much: {wrong[:3]}")
    return model


class Encoder:
    """Texts to normalised vectors, the mean over the tokens."""

    def __init__(self, model: Any, tokenizer: Any, *, device: str = "cpu") -> None:  # noqa: ANN401
        self.model = model.to(device)
        self.device = device
        self._tokenizer = tokenizer

    def forward(self, texts: Sequence[str], *, max_chars: int) -> Any:  # noqa: ANN401 - a tensor
        """Vectors with a gradient."""
        torch = vendor("torch")
        encoded = [ids.ids[: max_chars - 1] for ids in self._tokenizer.encode_batch(list(texts))]
        end = self._tokenizer.token_to_id("[SEP]")
        rows = [ids if ids[-1] == end else [*ids, end] for ids in encoded]
        width = max(map(len, rows))
        tokens = torch.tensor([row + [0] * (width - len(row)) for row in rows])
        mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
        tokens, mask = tokens.to(self.device), mask.to(self.device)
        hidden = self.model(input_ids=tokens, attention_mask=mask).last_hidden_state
        weight = mask[..., None].to(hidden.dtype)
        mean = (hidden * weight).sum(1) / weight.sum(1)
        return torch.nn.functional.normalize(mean.float(), dim=-1)

    def embed(
        self, texts: Sequence[str], *, max_chars: int = 512, batch: int = 256
    ) -> NDArray[np.float32]:
        """Vectors without one, texts of like length together."""
        torch = vendor("torch")
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        rows: list[Any] = []
        self.model.eval()
        with torch.no_grad():
            for start in range(0, len(order), batch):
                chosen = [texts[i] for i in order[start : start + batch]]
                rows.append(self.forward(chosen, max_chars=max_chars).cpu().numpy())
        found = np.empty((len(texts), rows[0].shape[1]), np.float32)
        found[order] = np.concatenate(rows)
        return found


def tokenizer(path: Path) -> Any:  # noqa: ANN401 - the vendor's
    """The tokenizer in the file, without truncation or padding."""
    made = vendor("tokenizers").Tokenizer.from_file(str(path))
    made.no_truncation()
    made.no_padding()
    return made


def vendor(name: str) -> Any:  # noqa: ANN401 - torch and its friends are optional
    """A library of the extra `train`."""
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(
            f"training a retriever needs {name}: pip install omoide-tune[train]"
        ) from error
