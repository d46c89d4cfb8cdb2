"""One module per training task: a mechanism's prompt, and an answer it would accept."""
