"""Translates Qdrant's errors into ours."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import (
    ApiException,
    ResponseHandlingException,
    UnexpectedResponse,
)

from omoide.errors import VectorsUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOT_FOUND, _REFUSED = 404, (401, 403)


class NoCollection(Exception):
    """The collection was never created, or somebody removed it."""


@contextmanager
def translated_errors(where: str) -> Iterator[None]:
    """Translate Qdrant's errors into ours. Their messages contain nothing that was sent."""
    try:
        yield
    except UnexpectedResponse as error:
        if error.status_code == _NOT_FOUND:
            raise NoCollection from error
        if error.status_code in _REFUSED:
            raise VectorsUnavailable(
                f"{where} refused the key (status {error.status_code}): set OMOIDE_VECTORS_KEY to "
                "one that may read and write"
            ) from error
        raise VectorsUnavailable(
            f"{where} answered with status {error.status_code} ({error.reason_phrase}); omoide "
            "will retry"
        ) from error
    except ResponseHandlingException as error:
        raise VectorsUnavailable(
            f"{where} cannot be reached ({type(error.source).__name__}): check that it is running "
            "and that OMOIDE_VECTORS is right"
        ) from error
    except (ApiException, QdrantException) as error:
        raise VectorsUnavailable(
            f"{where} failed ({type(error).__name__}); omoide will retry"
        ) from error
    except ValueError as error:  # the client's local mode
        if "not found" not in str(error):
            raise
        raise NoCollection from error
