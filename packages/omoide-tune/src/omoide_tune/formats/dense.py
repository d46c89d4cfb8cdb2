"""Opens a GGUF model as a dense transformers model, with its tokenizer and chat template.

For training, and for measuring on a GPU. llama.cpp's quantised weights become dense ones, and
their names are mapped to those of transformers.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from omoide.errors import MissingExtra, ModelUnavailable
from omoide_tune.formats.gguf_files import dense, read_contents

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide_tune.formats.gguf_files import Contents

NAMES = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}
"""llama.cpp's names of the parts of a block, and transformers' names."""
_OUTSIDE = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
_QWEN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_SPECIAL = (2, 3, 4)
"""Token types that are matched literally: unknown, control, user-defined."""


@dataclass(frozen=True, kw_only=True)
class DenseModel:
    """A model and its tokenizer."""

    model: Any
    tokenizer: Any
    """With the file's chat template; like llama.cpp, it does not normalise."""
    contents: Contents

    @property
    def ends(self) -> frozenset[int]:
        """Tokens that end an answer."""
        names = ("<|im_end|>", "<|endoftext|>", "<|eot_id|>")
        known = (self.tokenizer.convert_tokens_to_ids(name) for name in names)
        config = self.contents.values.get("tokenizer.ggml.eos_token_id")
        return frozenset(i for i in (*known, config) if isinstance(i, int))


def open_dense(path: Path, *, dtype: str = "bfloat16", device: str = "cpu") -> DenseModel:
    """Read the whole file. Raises `ModelUnavailable` for an unknown architecture."""
    contents = read_contents(path)
    return DenseModel(
        model=_model(path, contents, dtype=dtype, device=device),
        tokenizer=tokenizer(contents, name=path.name),
        contents=contents,
    )


def open_random(path: Path, *, dtype: str = "float32", device: str = "cpu") -> DenseModel:
    """The same tokenizer with two small layers of random weights, the same every time."""
    torch, vendor = _vendor("torch"), _vendor("transformers")
    contents = read_contents(path)
    measures = config(contents)
    measures.hidden_size, measures.intermediate_size, measures.num_hidden_layers = 64, 128, 2
    measures.num_attention_heads, measures.num_key_value_heads = 4, 2
    measures.head_dim, measures.tie_word_embeddings = 16, True
    if hasattr(measures, "layer_types"):
        measures.layer_types = ["full_attention"] * 2
    torch.manual_seed(0)
    model = vendor.AutoModelForCausalLM.from_config(measures).to(getattr(torch, dtype))
    words = tokenizer(contents, name=path.name)
    return DenseModel(model=model.to(device).eval(), tokenizer=words, contents=contents)


def config(contents: Contents) -> Any:  # noqa: ANN401 - the vendor's
    """The model's configuration for transformers."""
    values = contents.values
    kind = str(values.get("general.architecture"))
    if kind not in ("qwen2", "llama"):
        raise ModelUnavailable(
            f"a model of the architecture {kind!r} cannot be opened; wanted qwen2 or llama"
        )

    def config(key: str) -> Any:  # noqa: ANN401 - whatever the file says
        return values[f"{kind}.{key}"]

    shapes = {tensor.name: tensor.shape for tensor in contents.tensors}
    vendor = _vendor("transformers")
    build = vendor.Qwen2Config if kind == "qwen2" else vendor.LlamaConfig
    return build(
        vocab_size=int(shapes["token_embd.weight"][1]),
        hidden_size=config("embedding_length"),
        intermediate_size=config("feed_forward_length"),
        num_hidden_layers=config("block_count"),
        num_attention_heads=config("attention.head_count"),
        num_key_value_heads=config("attention.head_count_kv"),
        max_position_embeddings=config("context_length"),
        rms_norm_eps=config("attention.layer_norm_rms_epsilon"),
        rope_parameters={"rope_type": "default", "rope_theta": config("rope.freq_base")},
        tie_word_embeddings="output.weight" not in shapes,
        eos_token_id=values.get("tokenizer.ggml.eos_token_id"),
        bos_token_id=values.get("tokenizer.ggml.bos_token_id"),
        pad_token_id=values.get("tokenizer.ggml.padding_token_id"),
    )


def interleaved(rows: Any, heads: int) -> Any:  # noqa: ANN401 - an array or a tensor
    """The rows of a query or key projection in llama.cpp's order for models of the architecture
    `llama`: the two halves that a rotary position rotates are interleaved."""
    half = rows.shape[0] // heads // 2
    return rows.reshape(heads, 2, half, -1).swapaxes(1, 2).reshape(rows.shape)


def deinterleaved(rows: Any, heads: int) -> Any:  # noqa: ANN401 - an array or a tensor
    """The inverse of `interleaved`."""
    half = rows.shape[0] // heads // 2
    return rows.reshape(heads, half, 2, -1).swapaxes(1, 2).reshape(rows.shape)


def _model(path: Path, contents: Contents, *, dtype: str, device: str) -> Any:  # noqa: ANN401
    torch, vendor = _vendor("torch"), _vendor("transformers")
    measures = config(contents)
    kind = getattr(torch, dtype)
    read = partial(_weight, config=measures, dtype=kind)
    with ThreadPoolExecutor() as pool:
        state = dict(pool.map(read, contents.tensors))
    state = {name: weight for name, weight in state.items() if name}
    if measures.tie_word_embeddings:
        state["lm_head.weight"] = state["model.embed_tokens.weight"]
    with torch.device("meta"):
        model = vendor.AutoModelForCausalLM.from_config(measures)
    missing, surplus = model.load_state_dict(state, strict=False, assign=True)
    if missing or surplus:
        raise ModelUnavailable(f"{path.name} lacks {missing[:3]} and has unknown {surplus[:3]}")
    model.tie_weights()
    # Rotary frequencies are not weights, so they are not on a device yet.
    model.model.rotary_emb = type(model.model.rotary_emb)(measures)
    return model.to(device).eval()


def _weight(tensor: Any, *, config: Any, dtype: Any) -> tuple[str, Any]:  # noqa: ANN401
    torch = _vendor("torch")
    name = _name(tensor.name)
    if not name:
        return "", None
    numbers = dense(tensor)
    if config.model_type == "llama" and name.endswith(("q_proj.weight", "k_proj.weight")):
        heads = config.num_attention_heads if "q_proj" in name else config.num_key_value_heads
        numbers = deinterleaved(numbers, heads)
    return name, torch.from_numpy(numbers.copy()).to(dtype)


def _name(name: str) -> str:
    """transformers' name of a tensor; empty for one that it creates itself."""
    if name in _OUTSIDE:
        return _OUTSIDE[name]
    if name == "rope_freqs.weight":
        return ""
    block, number, part, suffix = name.split(".")
    if block != "blk" or part not in NAMES:
        raise ModelUnavailable(f"unknown tensor {name!r}: the architecture is not supported")
    return f"model.layers.{number}.{NAMES[part]}.{suffix}"


def tokenizer(contents: Contents, *, name: str = "the model") -> Any:  # noqa: ANN401 - the vendor's
    """The tokenizer in the file, with its chat template."""
    values: Mapping[str, Any] = contents.values
    vendor, transformers = _vendor("tokenizers"), _vendor("transformers")
    pre, cut = values.get("tokenizer.ggml.pre"), vendor.pre_tokenizers
    if values.get("tokenizer.ggml.model") != "gpt2" or pre not in ("qwen2", "smollm"):
        raise ModelUnavailable(f"{name} has a tokenizer of type {pre!r}; wanted qwen2 or smollm")
    tokens: Sequence[str] = values["tokenizer.ggml.tokens"]
    pairs = [tuple(merge.split(" ", 1)) for merge in values["tokenizer.ggml.merges"]]
    encoder = vendor.Tokenizer(
        vendor.models.BPE({token: i for i, token in enumerate(tokens)}, pairs)
    )
    if pre == "qwen2":
        first = cut.Split(vendor.Regex(_QWEN), "isolated")
        byte_level = cut.ByteLevel(add_prefix_space=False, use_regex=False)
    else:
        first = cut.Digits(individual_digits=True)
        byte_level = cut.ByteLevel(add_prefix_space=False, use_regex=True)
    encoder.pre_tokenizer = cut.Sequence([first, byte_level])
    encoder.decoder = vendor.decoders.ByteLevel()
    kinds: Sequence[int] = values["tokenizer.ggml.token_type"]
    encoder.add_special_tokens(
        [
            vendor.AddedToken(token, special=True, normalized=False)
            for token, kind in zip(tokens, kinds, strict=True)
            if kind in _SPECIAL
        ]
    )
    end = values.get("tokenizer.ggml.eos_token_id")
    padding = values.get("tokenizer.ggml.padding_token_id", end)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=encoder,
        chat_template=values.get("tokenizer.chat_template"),
        eos_token=tokens[end] if end is not None else None,
        pad_token=tokens[padding] if padding is not None else None,
        clean_up_tokenization_spaces=False,
    )


def _vendor(name: str) -> Any:  # noqa: ANN401 - torch and its friends are optional
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(
            f"opening a model needs {name}, which is not installed: pip install omoide[tune]"
        ) from error
