"""What is to be learnt, task by task: a prompt that a mechanism sends, an answer it would take."""
