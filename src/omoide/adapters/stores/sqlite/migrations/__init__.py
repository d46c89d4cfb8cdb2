"""The schema as numbered steps: never edit one that was released, add another."""
