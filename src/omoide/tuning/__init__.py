"""Small models tuned for memory: instruction data in the mechanisms' own forms, and LoRA."""
