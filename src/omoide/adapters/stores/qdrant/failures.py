"""Qdrant's errors as ours."""

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
    """Nothing was ever put there, or somebody removed it."""


@contextmanager
def told(where: str) -> Iterator[None]:
    """Turn Qdrant's errors into ours. Nothing that was sent is in their messages."""
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
            f"{where} answered with status {error.status_code} ({error.reason_phrase}); it is "
            "tried again"
        ) from error
    except ResponseHandlingException as error:
        raise VectorsUnavailable(
            f"{where} cannot be reached ({type(error.source).__name__}): check that it runs and "
            "that OMOIDE_VECTORS names it"
        ) from error
    except (ApiException, QdrantException) as error:
        raise VectorsUnavailable(
            f"{where} did not do what was asked ({type(error).__name__}); it is tried again"
        ) from error
    except ValueError as error:  # the client's local mode
        if "not found" not in str(error):
            raise
        raise NoCollection from error
