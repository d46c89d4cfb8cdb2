"""Qdrant's REST as far as we use it, over a socket, answered by the client's local mode: shows what
is sent by the wire. It is no Qdrant."""

from __future__ import annotations

import json
import re
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from qdrant_client import QdrantClient, models

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Wire:
    """What came, and what it is answered from."""

    def __init__(self, *, key: str = "") -> None:
        self.client = QdrantClient(":memory:")
        self.key = key
        self.came: list[tuple[str, str, Any]] = []
        self.lock = threading.Lock()
        self.port = 0
        self.before: Callable[[str, str], None] = lambda _, __: None
        """Told of method and path before a request is done, and the next after that."""
        self.after: Callable[[str, str], None] = lambda _, __: None

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:  # noqa: ANN401
        """Status and result."""
        self.came.append((method, path, body))
        matched = re.fullmatch(r"/collections/([^/?]+)(/[^?]*)?(\?.*)?", path)
        assert matched is not None, path
        name, rest = matched.group(1), matched.group(2) or ""
        there = self.client.collection_exists(name)
        done = {"operation_id": 1, "status": "completed"}
        match method, rest:
            case "GET", "/exists":
                return 200, {"exists": there}
            case "PUT", "":
                size = models.VectorParams(**body["vectors"])
                return 200, self.client.create_collection(name, vectors_config=size)
            case _ if not there:
                return 404, None
            case "GET", "":
                return 200, self.client.get_collection(name).model_dump(mode="json")
            case "PUT", "/index":
                return 200, done
            case "PUT", "/points":
                self.client.upsert(name, points=models.Batch(**body["batch"]))
                return 200, done
            case "POST", "/points/query":
                found = self.client.query_points(
                    name,
                    query=body["query"]["nearest"],
                    query_filter=models.Filter(**body["filter"]),
                    limit=body["limit"],
                    with_payload=False,
                )
                return 200, found.model_dump(mode="json")
            case "POST", "/points/count":
                counted = self.client.count(name, count_filter=models.Filter(**body["filter"]))
                return 200, counted.model_dump(mode="json")
            case "POST", "/points/scroll":
                page, after = self.client.scroll(
                    name,
                    scroll_filter=models.Filter(**body["filter"]),
                    limit=body["limit"],
                    offset=body.get("offset"),
                )
                points = [point.model_dump(mode="json") for point in page]
                return 200, {"points": points, "next_page_offset": after}
            case "POST", "/points/delete":
                chosen = (
                    models.PointIdsList(points=body["points"])
                    if "points" in body
                    else models.FilterSelector(filter=models.Filter(**body["filter"]))
                )
                self.client.delete(name, points_selector=chosen)
                return 200, done
        raise AssertionError((method, path))


@contextmanager
def serving(wire: Wire) -> Iterator[Wire]:
    """Listen on this machine."""

    class Handler(BaseHTTPRequestHandler):
        def _do(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            if wire.key and self.headers.get("api-key") != wire.key:
                status, result = 401, None
            else:
                with wire.lock:
                    wire.before(self.command, self.path)
                    status, result = wire.answer(self.command, self.path, body)
                    wire.after(self.command, self.path)
            said = json.dumps({"result": result, "status": "ok", "time": 0.0}).encode()
            with suppress(ConnectionError):  # whoever asked was killed
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

        do_GET = do_PUT = do_POST = _do  # noqa: N815 - the library's names

        def log_message(self, format: str, *values: object) -> None:  # noqa: A002
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    wire.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield wire
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
