"""Retries after another writer's commit came first.

At commit Delta checks whether a commit since the read version added or removed what this one depends on. If so, the
decision is outdated and is made again on the new version. A changed schema or protocol is not retried.
"""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from delta.exceptions import (
    ConcurrentAppendException,
    ConcurrentDeleteDeleteException,
    ConcurrentDeleteReadException,
    ConcurrentTransactionException,
    ConcurrentWriteException,
    MetadataChangedException,
    ProtocolChangedException,
)

from tidemark.delta.errors import ColumnsDifferError, CommitConflictError
from tidemark.system.table_location import TableLocation

T = TypeVar("T")


class StaleReadError(Exception):
    """Another writer's commit outdated what was read before the transaction: statistics, or the absence of a table."""


RETRYABLE = (
    StaleReadError,
    ConcurrentAppendException,
    ConcurrentDeleteDeleteException,
    ConcurrentDeleteReadException,
    # Two writers with the same application id: on the new version the second one is recognised as a replay.
    ConcurrentTransactionException,
    ConcurrentWriteException,
)


@dataclass(frozen=True)
class BackOff:
    """The number of `attempts`; before retry n, a random pause up to `first_seconds` * 2^(n-1) and `most_seconds`."""

    attempts: int = 12
    first_seconds: float = 0.05
    most_seconds: float = 5.0
    sleep: Callable[[float], None] = time.sleep

    def pause(self, retry: int) -> None:
        """Wait before retry number `retry` (from 1)."""
        longest = min(self.most_seconds, self.first_seconds * 2 ** (retry - 1))
        self.sleep(random.uniform(0, longest))  # noqa: S311 - spreads writers, guards nothing


@contextmanager
def require_same_definition(path: TableLocation) -> Iterator[None]:
    """Raise ColumnsDifferError if another writer changed the table's columns, properties or protocol meanwhile."""
    try:
        yield
    except (MetadataChangedException, ProtocolChangedException) as error:
        raise ColumnsDifferError.changed(path, error) from error


def with_retries(path: TableLocation, attempt: Callable[[], T], back_off: BackOff) -> tuple[T, int]:
    """(result, number of retries). Raises CommitConflictError after the last attempt, ColumnsDifferError at once."""
    for number in range(1, back_off.attempts + 1):
        try:
            with require_same_definition(path):
                return attempt(), number - 1
        except RETRYABLE as error:
            if number == back_off.attempts:
                raise CommitConflictError.of(path, number, error) from error
            back_off.pause(number)
    raise AssertionError("a back-off has at least one attempt")
