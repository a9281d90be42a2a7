"""The host of warm workers: one process for each DAGSTER_HOME, the child of its owner.

    python -m tidemark.warm_runs.worker_host HOME LOG

It waits for the lock. An earlier host's workers hold the lock too, so their runs are over by then. It closes the runs
in a killed host's journal, and serves until its standard input ends, which means that its owner is gone.
"""

from __future__ import annotations

import fcntl
import functools
import json
import os
import signal
import sys
import time
import traceback
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from tidemark.strict_json import json_text
from tidemark.system.bounded_logs import bound_log
from tidemark.system.files import private_directory
from tidemark.system.project_root import make_project_importable
from tidemark.system.turn_boundary import TurnBoundary
from tidemark.warm_runs.host_socket import MOST_BYTES, HostAddress
from tidemark.warm_runs.worker_options import folder_in

if TYPE_CHECKING:
    import socket

    from tidemark.warm_runs.host_service import HostService
    from tidemark.warm_runs.warm_workers import WarmWorkers

_WAIT_SECONDS: Final = 0.2
_TICK_SECONDS: Final = 1.0
_RETRY_TICKS: Final = 20
_END_SECONDS: Final = 6.0


def main(home: Path, log: Path) -> None:
    """Serve until the owner is gone, or sends SIGTERM."""
    stopped = Event()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    Thread(target=_watch_owner, args=[stopped], daemon=True).start()
    folder = folder_in(home)
    private_directory(folder)
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    while not _try_lock(lock):
        if stopped.wait(_WAIT_SECONDS):
            return
    _serve(home, log, lock, stopped)


def _serve(home: Path, log: Path, lock: int, stopped: Event) -> None:
    from dagster import DagsterInstance  # noqa: PLC0415 - a host that waits for the lock does not need it

    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warm_runs.close_runs import DagsterRunCloser  # noqa: PLC0415
    from tidemark.warm_runs.host_service import HostService  # noqa: PLC0415
    from tidemark.warm_runs.launcher import WarmRunLauncher  # noqa: PLC0415
    from tidemark.warm_runs.run_identity import OutsideEnd  # noqa: PLC0415
    from tidemark.warm_runs.run_journal import Journal  # noqa: PLC0415
    from tidemark.warm_runs.run_places import RunPlaces  # noqa: PLC0415
    from tidemark.warm_runs.source_version import source_folders, source_version  # noqa: PLC0415
    from tidemark.warm_runs.warm_workers import WarmWorkers  # noqa: PLC0415
    from tidemark.warm_runs.worker_process import starter  # noqa: PLC0415

    make_project_importable()
    folder, (life, _ours) = folder_in(home), os.pipe()
    with DagsterInstance.from_config(str(home)) as instance:
        if not isinstance(instance.run_launcher, WarmRunLauncher):  # runs of this home go elsewhere
            return
        options, settings, service = instance.run_launcher.options, Settings.load(), HostService()
        journal = Journal(folder, service.note_end)
        runs, left = DagsterRunCloser(instance, journal), journal.runs()
        for run_id in left:
            runs.close(run_id, "The host of the workers that ran this was killed.", OutsideEnd.LOST)
        watched = source_folders([*options.watch, *options.modules])
        plans = settings.data / "cache"
        version = functools.partial(source_version, watched, plans)
        start, place_of = starter(options, home, log, lock, life), RunPlaces(instance, settings).place_of
        warm_workers = WarmWorkers(options, start, runs, version, place_of=place_of)
        service.serve(warm_workers, settings, instance, folder)
        address = HostAddress(folder, lambda listener: _serve_questions(listener, service))
        try:
            _tick_until(stopped, warm_workers, address, log)
        finally:
            address.close()
            _end(warm_workers)
            runs.finish(_END_SECONDS)
            service.leave()


def _tick_until(stopped: Event, warm_workers: WarmWorkers, address: HostAddress, log: Path) -> None:
    ticks = 0
    warm_workers.tick()
    while not stopped.wait(_TICK_SECONDS):
        ticks += 1
        warm_workers.tick()
        address.look()
        if ticks % _RETRY_TICKS == 0:
            warm_workers.retry_start()
            bound_log(log)


def _end(warm_workers: WarmWorkers) -> None:
    warm_workers.close()
    deadline = time.monotonic() + _END_SECONDS
    while not warm_workers.is_empty and time.monotonic() < deadline:
        time.sleep(0.05)
    for pid in warm_workers.status()["pids"]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    while not warm_workers.is_empty and time.monotonic() < deadline + 1:
        time.sleep(0.05)


def _serve_questions(listener: socket.socket, service: HostService) -> None:
    Thread(target=_answer, args=[listener, service], daemon=True).start()


def _answer(listener: socket.socket, service: HostService) -> None:
    """Each connection has one request and its own thread, so a silent one does not delay others."""
    boundary = TurnBoundary("the host of warm workers does not answer")

    def accept() -> None:
        try:
            connection, _ = listener.accept()
        except OSError:
            if listener.fileno() < 0:
                return  # the host listens elsewhere now
            raise
        Thread(target=_answer_one, args=[connection, service], daemon=True).start()

    while listener.fileno() >= 0:
        if not boundary.run(accept):
            time.sleep(_WAIT_SECONDS)


def _answer_one(connection: socket.socket, service: HostService) -> None:
    with connection, connection.makefile("rb") as lines:
        try:
            asked = json.loads(lines.readline(MOST_BYTES))
            connection.sendall(json_text(service.answer(asked)).encode() + b"\n")
        except (OSError, ValueError):  # the caller has gone, or did not send a request
            return
        except Exception:  # noqa: BLE001 - the caller gets no answer, and the next one is served
            traceback.print_exc()


def _try_lock(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _watch_owner(stopped: Event) -> None:
    """Standard input is a pipe that only the owner can write to, and never does."""
    sys.stdin.buffer.read(1)
    stopped.set()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
