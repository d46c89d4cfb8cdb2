"""Memory poisoning: texts that try to plant instructions, and how often a model obeys them."""
