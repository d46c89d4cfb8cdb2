"""Chat Completions over the protocols of other vendors.

Chat Completions is the one internal form. `ProtocolTransport` sends a request in that form to an
endpoint that speaks another protocol, and gives back its answer in that form. So whoever speaks
Chat Completions, the proxy as well as the model that writes memory, can use any endpoint.
"""
