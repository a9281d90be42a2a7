"""Processing of queries that are nested deeper than Python's stack: as deep as Spark's own parser allows.

Chains (`a OR b OR c`, UNIONs, AND) are iterated and need no stack. Nested parts do: functions, CASEs in ELSE,
sub-queries, CTEs that read each other. Such work is repeated in a thread with a larger stack.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Final, TypeVar

from tidemark.errors import QueryError

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")

_STACK_BYTES: Final = 256 * 1024 * 1024
_FRAMES: Final = 40_000
_ONE_AT_A_TIME: Final = threading.Lock()
"""The stack size and the recursion limit belong to the whole process."""


def with_deep_stack(work: Callable[[], Result], where: str) -> Result:
    """The result of `work`, which may raise its own errors. Raises QueryError if the nesting is still too deep."""
    try:
        return work()
    except RecursionError:
        return _in_a_thread(work, where)


def _in_a_thread(work: Callable[[], Result], where: str) -> Result:
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits for it
            errors.append(error)

    with _ONE_AT_A_TIME:
        frames, size = sys.getrecursionlimit(), threading.stack_size(_STACK_BYTES)
        try:
            sys.setrecursionlimit(max(frames, _FRAMES))
            thread = threading.Thread(target=run, name="deep-query")
            thread.start()
            thread.join()
        finally:
            sys.setrecursionlimit(frames)
            threading.stack_size(size)
    if errors and isinstance(errors[0], RecursionError):
        raise QueryError(
            "query nested too deep",
            expected="fewer functions, CASEs or queries in each other: Spark's parser ends at some hundreds, too",
            where=where,
        ) from errors[0]
    if errors:
        raise errors[0]
    return results[0]
