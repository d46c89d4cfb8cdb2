"""Memory poisoning: texts that plant instructions in memory, and how often a model obeys them."""
