"""The server and its protocols, in the process of the tests: every route over a whole memory."""
