"""A member that says when it is in a transaction, and goes on with it when it is told to.

python -m tests.capture.distribution.stuck_member DATABASE capture distribute ...: tidemark's command, with a line on
standard error in its first transaction; a line on standard input ends the wait.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from tests.capture.distribution.members import main
from tests.capture.distribution.stream import tables
from tidemark.capture.distribution.session import DistributionSession

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.capture.distribution.topic_reader import MessageBatch

IN_TRANSACTION = "in a transaction"


def _waiting(commit: Callable[[DistributionSession, MessageBatch], None]) -> Any:
    """In the place of `DistributionSession._commit`."""

    def wait(session: DistributionSession, batch: MessageBatch) -> None:
        print(IN_TRANSACTION, file=sys.stderr, flush=True)
        sys.stdin.readline()
        commit(session, batch)

    return wait


if __name__ == "__main__":
    DistributionSession._commit = _waiting(DistributionSession._commit)  # type: ignore[method-assign]
    main(tables(sys.argv[1]), sys.argv[2:])
