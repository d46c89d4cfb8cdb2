"""Numbered steps of the schema, applied in order and once."""
