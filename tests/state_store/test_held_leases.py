"""Leases of processes: renewed beside the work, and free again when the process is gone, or stopped for too long."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import make_url

from tests.until import GUARD_SECONDS, until
from tidemark.state_store.errors import FencedError, StateStoreDownError
from tidemark.state_store.held_leases import HeldLeases, holding, renewed
from tidemark.state_store.lease import Lease
from tidemark.state_store.notes import Notes
from tidemark.state_store.version_claims import VersionClaim, claims_of_readers, reading
from tidemark.system.errors import AlreadyRunningError
from tidemark.system.process_identity import ProcessIdentity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.state_store.database import Database

HOLDER = """
import sys
from contextlib import ExitStack
from tidemark.state_store.database import Database
from tidemark.state_store.errors import FencedError
from tidemark.state_store.held_leases import holding
from tidemark.state_store.notes import Notes
from tidemark.state_store.version_claims import reading
database, seconds = Database(sys.argv[1]), float(sys.argv[2])
with holding(database, "it", "testing", seconds) as held, reading(database, "/t", 7, "it", seconds):
    print("held", flush=True)
    sys.stdin.readline()
    try:
        held.require()
        print("still", flush=True)
    except FencedError:
        print("lost", flush=True)
    try:
        Notes(database, "a").put({"x": "late"}, held.fences)
        print("written", flush=True)
    except FencedError:
        print("refused", flush=True)
"""


@contextmanager
def holder(url: str, seconds: float) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", HOLDER, url, str(seconds)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert said(process) == "held"
        try:
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def tell(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_the_second_is_refused_and_goes_on_at_once_when_the_first_is_dead(database: Database, url: str) -> None:
    with holder(url, 3_600) as process:
        with pytest.raises(AlreadyRunningError, match=r"another process is at it .*held by testing"):
            take(database)
        assert claims_of_readers(database, "/t") == [VersionClaim(7, "it")]
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=30)
        take(database)
        assert claims_of_readers(database, "/t") == []


def take(database: Database) -> None:
    with holding(database, "it", "it"):
        pass


def test_a_holder_keeps_it_for_longer_than_its_seconds(database: Database) -> None:
    """Another one on another machine, as it were: by time alone."""
    now = [1_000.0]

    def lease(holder: str) -> Lease:
        return Lease(database, holder, 30.0, "it", clock=lambda: now[0])

    held, other = HeldLeases(database, [lease("holder")], 30.0, lambda: now[0]), lease("another")
    held.take("testing")
    for _ in range(5):
        now[0] += 20
        held.renew()
        held.require()
        assert other.hold().fencing_token is None
    now[0] += 31
    with pytest.raises(FencedError, match="'it' is lost"):
        held.require()
    assert other.hold().fencing_token == 2
    held.renew()
    with pytest.raises(FencedError, match="'it' is lost"):
        held.require()


def test_leases_are_renewed_during_work_even_after_the_store_was_down(url: str) -> None:
    renewals, again = list[int](), threading.Event()

    def renew() -> None:
        renewals.append(1)
        if len(renewals) == 1:
            raise StateStoreDownError.of(make_url(url), OSError("gone"))
        again.set()

    with renewed(renew, 0.01):
        assert again.wait(GUARD_SECONDS)


def test_a_holder_that_was_stopped_for_too_long_cannot_write(database: Database, url: str) -> None:
    with holder(url, 1.0) as process:
        process.send_signal(signal.SIGSTOP)
        other = Lease(database, "another", 60.0, "it")
        until(lambda: other.hold().fencing_token, "the end of the stopped one's time")
        process.send_signal(signal.SIGCONT)
        tell(process)
        assert (said(process), said(process)) == ("lost", "refused")
        assert Notes(database, "a").all() == {}
        process.wait(timeout=30)
        assert other.hold().fencing_token == 2, "who lost it lets go of nothing"


def test_several_leases_are_held_together_or_not_at_all(database: Database) -> None:
    with holding(database, "b", "testing"):
        with pytest.raises(AlreadyRunningError, match="'b'"), holding(database, list("abc"), "testing"):
            pytest.fail("b was given twice")
        with holding(database, ["a", "c"], "testing") as held:
            held.require()
            assert [fence.lease for fence in held.fences] == ["a", "c"]
    with holding(database, list("abc"), "testing") as held:
        assert [fence.fencing_token for fence in held.fences] == [2, 2, 2]


def test_a_lease_that_was_not_renewed_in_time_may_be_lost(database: Database) -> None:
    now = [0.0]
    held = HeldLeases(database, [Lease(database, "holder", 30.0, "a")], 30.0, lambda: now[0])
    held.take("testing")
    held.require()
    now[0] = 31.0
    with pytest.raises(FencedError, match="'a' is lost"):
        held.require()
    held.renew()
    held.require()


def test_a_version_is_claimed_while_it_is_read(database: Database) -> None:
    with (
        reading(database, "/t", 1, "a query"),
        reading(database, "/t", 2, "an export"),
        reading(database, "/u", 3, "x"),
    ):
        assert sorted(claims_of_readers(database, "/t")) == [VersionClaim(1, "a query"), VersionClaim(2, "an export")]
    assert claims_of_readers(database, "/t") == []


def test_a_process_is_known_again() -> None:
    own = ProcessIdentity.of_this_process()
    assert ProcessIdentity.parse(str(own)) == own
    assert not own.is_gone()
    assert ProcessIdentity(own.machine, own.pid, "1").is_gone(), "another one has its number now"
    assert not ProcessIdentity("another-machine", own.pid, "1").is_gone(), "nobody knows"
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE) as process:
        other = ProcessIdentity(own.machine, process.pid, start_of(process.pid))
        assert not other.is_gone()
        os.kill(process.pid, signal.SIGKILL)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert other.is_gone(), "what is left of it, until its parent asks, is not it"
    assert other.is_gone()


def start_of(pid: int) -> str:
    """When the process started, as the system says it."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[19]
