"""An adapter in both runtimes: transformers with peft, the embedded model with the LoRA file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from omoide.adapters.models.llama import Llama
from omoide.errors import BadInput, ModelUnavailable
from omoide_tune.formats.dense import open_dense
from omoide_tune.formats.gguf_files import read_contents
from omoide_tune.formats.lora import write_lora
from tests.tiny import tiny_model
from tests.tuning import need

if TYPE_CHECKING:
    from pathlib import Path

need("torch", "transformers", "peft", "gguf", "xllamacpp")

MESSAGES = [{"role": "user", "content": "Name a town in England, in one word."}]


def adapted(model: Any, folder: Path) -> Any:  # noqa: ANN401 - the vendor's
    """The model with an adapter of random numbers, strong enough to change what it says."""
    import peft
    import torch

    torch.manual_seed(3)
    tuned = peft.get_peft_model(
        model,
        peft.LoraConfig(
            r=4,
            lora_alpha=16,
            target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "down_proj"],
            task_type="CAUSAL_LM",
        ),
    )
    for name, weights in tuned.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weights, std=0.08)
    tuned.save_pretrained(folder)
    return tuned.eval()


def by_llama(adapter: Path | None) -> dict[int, float]:
    """The embedded model's likeliest first tokens, and their log-probabilities."""
    adapters = (adapter,) if adapter else ()
    llama = Llama(tiny_model(), window=256, slots=1, threads=1, cache_mib=0, adapters=adapters)
    try:
        reply = llama._client.post(
            "/v1/chat/completions",
            json={
                "messages": MESSAGES,
                "max_tokens": 1,
                "temperature": 0,
                "logprobs": True,
                "top_logprobs": 20,
                "lora": [{"id": 0, "scale": 1.0}] if adapter else [],
            },
        ).json()
        top = reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        return {one["id"]: one["logprob"] for one in top}
    finally:
        llama.close()


def apart(one: dict[int, float], dense: Any) -> float:  # noqa: ANN401 - a row of numbers
    """The mean difference of log-probabilities over the ten likeliest tokens."""
    ten = sorted(one, key=lambda i: -one[i])[:10]
    return sum(abs(one[i] - float(dense[i])) for i in ten) / len(ten)


@pytest.mark.model
def test_both_runtimes_agree_with_an_adapter_and_without(tmp_path: Path) -> None:
    """The logits agree to what rounding by llama.cpp's kernels leaves, and the adapter moves both
    the same way, much further than that."""
    import torch

    dense = open_dense(tiny_model(), dtype="float32")
    ids = dense.tokenizer.apply_chat_template(
        MESSAGES, add_generation_prompt=True, return_dict=False
    )

    def logits(model: Any) -> Any:  # noqa: ANN401 - the vendor's
        with torch.no_grad():
            return model(input_ids=torch.tensor([ids])).logits[0, -1].log_softmax(-1)

    plain = logits(dense.model)
    tuned = logits(adapted(dense.model, tmp_path / "peft"))
    file = tmp_path / "adapter.gguf"
    assert write_lora(tmp_path / "peft", file, base=read_contents(tiny_model())) == 30 * 6 * 2
    without, beside = by_llama(None), by_llama(file)
    near, also_near = apart(without, plain), apart(beside, tuned)
    assert near < 0.25
    assert also_near < 0.25
    assert apart(beside, plain) > 4 * max(near, also_near)


def test_what_is_no_adapter_is_refused(tmp_path: Path) -> None:
    """A folder without one, and a model in its place."""
    with pytest.raises(BadInput, match="has no peft adapter"):
        write_lora(tmp_path, tmp_path / "x.gguf", base=read_contents(tiny_model()))
    with pytest.raises(ModelUnavailable, match="is not a LoRA adapter"):
        Llama(tiny_model(), window=64, slots=1, threads=1, cache_mib=0, adapters=(tiny_model(),))
