"""The terminal: one file a noun."""
