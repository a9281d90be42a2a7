"""Leases that a process holds during its work, renewed by a thread.

When a process dies, its leases end: at once for processes on the same machine, which see that it is gone, and after
`SECONDS` for others. A process that was suspended for longer has lost its leases: `require` raises, and writes with
`fences` are refused.
"""

from __future__ import annotations

import os
import socket
import threading
import time
import uuid
from contextlib import contextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING, Final

from sqlalchemy import select

from tidemark.state_store.database_clock import database_now
from tidemark.state_store.errors import FencedError, StateStoreDownError
from tidemark.state_store.lease import Lease, is_gone
from tidemark.state_store.schema import LEASES
from tidemark.system.errors import AlreadyRunningError
from tidemark.system.process_identity import ProcessIdentity
from tidemark.system.turn_boundary import TurnBoundary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import ExitStack

    from sqlalchemy import Connection

    from tidemark.state_store.database import Database
    from tidemark.state_store.fence import Fence

SECONDS: Final = 30.0
"""Seconds after the last renewal until a process on another machine may take a lease."""
_RENEWALS: Final = 4


class HeldLeases:
    """The leases of a block, by this process's `clock`."""

    def __init__(
        self,
        database: Database,
        leases: Iterable[Lease],
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database, self._leases, self._seconds, self._clock = database, tuple(leases), seconds, clock
        self._until = 0.0
        self._lost: Fence | None = None
        self._changing = threading.Lock()

    @property
    def fences(self) -> tuple[Fence, ...]:
        """Fences for a writer that may write only while all leases are held."""
        return tuple(lease.fence for lease in self._leases)

    def require(self) -> None:
        """Raise FencedError if a lease is lost, or may be lost because it was not renewed in time."""
        if self._lost is not None:
            raise FencedError.of(self._lost, 0, "another process")
        if self._clock() > self._until and self._leases:
            raise FencedError.of(self._leases[0].fence, 0, "")

    def take(self, what: str, taken_over: Callable[[Connection], None] | None = None) -> None:
        """Take all leases or none, and write `taken_over` in the same transaction. Raises AlreadyRunningError."""
        begun = self._clock()
        with self._database.writing() as connection:
            for lease in self._leases:
                state = lease.hold_in(connection)
                if state.fencing_token is None:
                    raise AlreadyRunningError.of(what, lease.name, state.holder, self._database.where)
            if taken_over is not None and any(lease.is_taken_over for lease in self._leases):
                taken_over(connection)
        self._until = begun + self._seconds

    def renew(self) -> None:
        """Renew for another `seconds`; a lost lease is not taken again. Raises StateStoreDownError."""
        with self._changing:
            begun = self._clock()
            with self._database.writing() as connection:
                for lease in self._leases:
                    if not lease.renew_in(connection):
                        self._lost = lease.fence
                        return
            self._until = begun + self._seconds

    def release(self) -> None:
        """Release the leases that are still held. Raises StateStoreDownError."""
        with self._changing, self._database.writing() as connection:
            for lease in self._leases:
                lease.release_in(connection)


@contextmanager
def holding(
    database: Database,
    names: str | Iterable[str],
    what: str,
    seconds: float = SECONDS,
    taken_over: Callable[[Connection], None] | None = None,
) -> Iterator[HeldLeases]:
    """Hold the leases of these names, all or none, while the block runs; `what` describes the work.

    `taken_over` is called in the transaction that takes them, if the earlier holder did not release them and may still
    run.

    Raises AlreadyRunningError if another process holds one, StateStoreDownError.
    """
    all_names = [names] if isinstance(names, str) else sorted(set(names))
    holder, process = _holder(what), str(ProcessIdentity.of_this_process())
    leases = [Lease(database, holder, seconds, name, process=process) for name in all_names]
    held = HeldLeases(database, leases, seconds)
    held.take(what, taken_over)
    try:
        with renewed(held.renew, seconds):
            yield held
    finally:
        with suppress(StateStoreDownError):  # they expire
            held.release()


def taken_number(database: Database, name: str, what: str, stack: ExitStack) -> tuple[int, HeldLeases]:
    """The lowest number (from 1) whose lease `NAME NUMBER` is free; held until the stack closes.

    Raises StateStoreDownError.
    """
    for number in count(1):
        try:
            return number, stack.enter_context(holding(database, f"{name} {number}", what))
        except AlreadyRunningError:
            continue
    raise AssertionError("numbers do not end")


def holders_of(database: Database, name: str) -> frozenset[int]:
    """The numbers of `taken_number` whose leases are held now. Raises StateStoreDownError."""
    query = select(LEASES).where(LEASES.c.name.startswith(f"{name} ", autoescape=True))
    with database.reading() as connection:
        now = database_now(connection)
        held = [row.name for row in connection.execute(query) if row.until > now and not is_gone(row.process)]
    return frozenset(int(lease.rpartition(" ")[2]) for lease in held)


@contextmanager
def renewed(renew: Callable[[], None], seconds: float) -> Iterator[None]:
    """Call it several times in `seconds` during the block; tries again if the state store is down."""
    ended = threading.Event()

    boundary = TurnBoundary("leases are not renewed")

    def go_on() -> None:
        while not ended.wait(seconds / _RENEWALS):
            boundary.run(renew)

    thread = threading.Thread(target=go_on, name="leases", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _holder(what: str) -> str:
    """The name of this process for messages, different from every other one."""
    return f"{what} {socket.gethostname()}:{os.getpid()} {uuid.uuid4().hex[:8]}"
