"""Tuning small models for memory: instruction data in the mechanisms' own prompts, and LoRA."""
