"""The recall protocol of paper B (Hou et al. 2024, section 4), on real dialogues."""
