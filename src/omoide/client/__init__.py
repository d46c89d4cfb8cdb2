"""The memory of a running server, with the methods of the library.

`omoide.connect` and `omoide.connect_async` make it. `connection` sends requests and turns error
responses into the errors of the library; `encoding` and `decoding` turn its values into JSON and
back; `memory` has the methods.
"""

from omoide.client.exchange import RemoteContext, RemoteExchange
from omoide.client.memory import RemoteMemory, open_remote

__all__ = ["RemoteContext", "RemoteExchange", "RemoteMemory", "open_remote"]
