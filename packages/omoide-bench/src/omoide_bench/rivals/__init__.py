"""Other libraries' memories as methods of a run: same model, embedder, budget and prompts."""
