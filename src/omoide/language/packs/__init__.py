"""The built-in language packs: a folder each."""
