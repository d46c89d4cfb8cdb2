"""What `omoide serve` says on a terminal: to a person, and without secrets."""

from __future__ import annotations

import io
import logging
from dataclasses import replace

import pytest

from omoide.server import logs
from omoide.server.greeting import Greeting
from omoide.server.options import Options
from omoide.settings import Settings, database

ADDRESS = "http://127.0.0.1:8377"
HELLO = Greeting(
    settings=Settings(db=database("postgresql://ann:secret@db.example/omoide")),
    options=Options(),
    upstream="https://bob:hidden@api.example/v1#gpt",
    keyed=False,
)


def test_a_greeting_names_every_way_in_and_no_secret() -> None:
    """Addresses for each client, the model and the database, without their passwords."""
    text = HELLO.text(ADDRESS)
    for shown in (f"{ADDRESS}/v1", "gpt at https://api.example/v1", "db.example/omoide"):
        assert shown in text
    assert "secret" not in text
    assert "hidden" not in text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (Options(), "every request names its user"),
        (Options(default_user="home"), "is of 'home'"),
        (Options(user_from_key=True), "its key's name"),
    ],
)
def test_a_greeting_says_whose_memory_it_is(options: Options, said: str) -> None:
    """The three ways to treat a request without a user."""
    text = replace(HELLO, options=options).text(ADDRESS)
    assert said in text
    assert f'"user": "{options.default_user or "ana"}"' in text


def test_a_greeting_tells_who_may_call() -> None:
    """With keys the example shows where one goes; the embedded model is named as such."""
    text = replace(HELLO, keyed=True, upstream="default").text(ADDRESS)
    assert text.count("Authorization: Bearer omo_…") == 3
    assert "default (runs in this process)" in text


def test_logs_for_people_are_plain_lines() -> None:
    """A request is one short line, a warning says so, no text of a user is in either, and the web
    server's own news is left out."""
    out = io.StringIO()
    watched = [logging.getLogger(name) for name in ("omoide", "uvicorn")]
    before = [(logger, logger.handlers[:], logger.level, logger.propagate) for logger in watched]
    try:
        logs.configure("info", out, plain=True)
        log = logging.getLogger("omoide.server.app")
        fields = {"request": "r1", "method": "POST", "route": "/v1/messages", "status": 200}
        log.info("request", extra={**fields, "ms": 12.5, "tenant": "", "key": ""})
        logging.getLogger("uvicorn.error").info("Started server process")
        log.warning("request failed", extra={"reason": "store-locked"})
        error = ValueError("My secret")
        log.error("unexpected error", exc_info=(ValueError, error, None))
    finally:
        for logger, handlers, level, propagate in before:
            logger.handlers[:], logger.propagate = handlers, propagate
            logger.setLevel(level)
    request, warning, failure = out.getvalue().splitlines()
    assert request.endswith("  POST /v1/messages 200  ms=12.5")
    assert warning.endswith("  warning: request failed  reason=store-locked")
    assert failure.endswith("  error: unexpected error  error=ValueError")
