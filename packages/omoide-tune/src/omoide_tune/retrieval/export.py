"""A tuned encoder as an ONNX file, and that file in int8.

The network is written with transformers' names and the inputs that `OnnxEmbedder` gives. int8 is
onnxruntime's dynamic quantisation: weights by channel, activations at run time. The embedding
tables are quantised too, or the file would be over 40 MB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from omoide_tune.retrieval.encoder import vendor

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray


def write_onnx(model: Any, path: Path) -> None:  # noqa: ANN401 - a transformers model
    """The network in fp32: input_ids, attention_mask, token_type_ids → last_hidden_state."""
    torch = vendor("torch")

    class Network(torch.nn.Module):  # type: ignore[misc,name-defined]
        """Positional inputs, one output."""

        def __init__(self) -> None:
            super().__init__()
            self.bert = model

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:  # noqa: ANN401
            """The token vectors."""
            return self.bert(
                input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
            ).last_hidden_state

    model = model.to("cpu").float().eval()
    model.set_attn_implementation("eager")
    ids = torch.ones((2, 9), dtype=torch.long)
    names = ["input_ids", "attention_mask", "token_type_ids"]
    axes = {name: {0: "batch", 1: "length"} for name in (*names, "last_hidden_state")}
    torch.onnx.export(
        Network().eval(), (ids, torch.ones_like(ids), torch.zeros_like(ids)), str(path),
        input_names=names, output_names=["last_hidden_state"], dynamic_axes=axes,
        opset_version=17, dynamo=False,
    )  # fmt: skip


def quantise(source: Path, target: Path) -> None:
    """The same network in int8."""
    tools = vendor("onnxruntime.quantization")
    tools.quantize_dynamic(
        str(source), str(target), per_channel=True, weight_type=tools.QuantType.QInt8,
        op_types_to_quantize=["MatMul", "Gather"],
    )  # fmt: skip


class OnnxRunner:
    """Runs a file as `OnnxEmbedder` does: one text at a time, the mean over its tokens."""

    def __init__(self, path: Path, tokenizer: Any, *, threads: int = 1) -> None:  # noqa: ANN401
        runtime = vendor("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 4
        self._session = runtime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer = tokenizer

    def embed(self, texts: Sequence[str], *, max_chars: int = 512) -> NDArray[np.float32]:
        """Normalised vectors."""
        rows = []
        for encoded in self._tokenizer.encode_batch(list(texts)):
            ids = np.array([encoded.ids[:max_chars]], np.int64)
            feeds = {
                "input_ids": ids,
                "attention_mask": np.ones_like(ids),
                "token_type_ids": np.zeros_like(ids),
            }
            hidden = self._session.run(None, feeds)[0][0]
            mean = hidden.mean(0)
            rows.append(mean / np.linalg.norm(mean))
        return np.array(rows, np.float32)
