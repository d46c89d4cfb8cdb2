"""Weight files: GGUF, LoRA, and trainable models."""
