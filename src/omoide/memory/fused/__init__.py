"""The fused writer: summary, memos and events of a session from one call of a model."""
