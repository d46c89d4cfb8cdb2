"""The recursive summary, paper A: the iterator, the forms it asks in, and the mechanism."""
