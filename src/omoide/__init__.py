"""omoide: long-term memory for conversations with language models."""

__version__ = "0.1.0"
