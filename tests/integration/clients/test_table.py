"""The page about clients says what the tests show, and no more."""

from __future__ import annotations

from omoide.server.protocols import messages_request, ollama_request, responses_request
from omoide.server.routes import ROUTES

from .table import PAGE, between, table


def test_the_table_is_the_one_that_the_tests_make() -> None:
    """A feature without a test cannot be claimed; `table.py` writes it anew."""
    assert between(PAGE.read_text("utf-8")) == table()


def test_the_page_names_every_route_of_a_protocol() -> None:
    """Nothing is served that the page does not tell of."""
    page = PAGE.read_text("utf-8")
    assert [row.path for row in ROUTES if row.foreign and row.path not in page] == []


def test_the_page_names_every_field_that_has_no_effect() -> None:
    """What is accepted and does nothing is said openly."""
    page = PAGE.read_text("utf-8")
    silent = (
        *responses_request.NO_EFFECT,
        *messages_request.NO_EFFECT,
        *ollama_request.ENGINE,
    )
    assert [name for name in silent if f"`{name}`" not in page] == []
