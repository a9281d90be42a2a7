"""A worker's process: loads definitions, starts Spark, then executes one run at a time for the host.

The main thread executes runs. Dagster interrupts a run by a signal, which only that thread gets. It also captures a
step's output through the process's descriptors, so two parallel runs would share their logs. So there is one run at a
time, and one Spark session for each worker.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import sys
import time
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Final

from dagster import DagsterInstance

from tidemark.dagster_internals.execution import capture_interrupts, pop_captured_interrupt
from tidemark.dagster_internals.long_lived_connections import keep_connections
from tidemark.strict_json import json_text
from tidemark.system.files import keep_files_private
from tidemark.system.garbage_collection import freeze_live_objects
from tidemark.system.project_root import make_project_importable
from tidemark.system.settings import Settings
from tidemark.warm_runs.execution import Execution

if TYPE_CHECKING:
    from collections.abc import Mapping

_LAST_SECONDS: Final = 10.0
"""How long a run may take to end after the host is gone."""
_ALIVE_SECONDS: Final = 5.0
_SAYING: Final = Lock()
_NO_JVM: Final = "its JVM has ended"


def main(control_number: int, life_number: int, home: Path, given: Mapping[str, Any]) -> None:
    """Serve until the host is gone, or closes the connection."""
    keep_files_private()
    make_project_importable()
    control = socket.socket(fileno=control_number)
    Thread(target=_end_with, args=[life_number], daemon=True).start()
    with DagsterInstance.from_config(str(home)) as instance, capture_interrupts():
        keep_connections(instance)
        execution = Execution(instance, Settings.load(os.environ).host)
        for module in given["modules"]:
            execution.load(module)
        if given["spark"]:
            _start_spark()
        freeze_live_objects()
        _say(control, {"ready": True})
        Thread(target=_live, args=[control], daemon=True).start()
        for line in control.makefile("r"):
            run_id = json.loads(line)["run"]
            if _is_jvm_gone():
                _say(control, {"broken": _NO_JVM, "gives_back": True})
                continue
            # A signal between two runs was meant for the last run. To stop this one, it would be marked first.
            pop_captured_interrupt()
            _say(control, {"done": run_id, "ended": execution.run(run_id)})
    # Python's normal exit frees all that Dagster has loaded, which may take longer than all runs did.
    atexit._run_exitfuncs()  # noqa: SLF001
    os._exit(0)


def _start_spark() -> None:
    from tidemark.spark.session import spark_session  # noqa: PLC0415 - only if the host needs it

    settings = Settings.load(os.environ)
    session = spark_session(settings)
    if not settings.place:  # a place may have no room for the executors of a session without a run
        session.range(1).collect()


def _is_jvm_gone() -> bool:
    internals = sys.modules.get("tidemark.spark.internals")  # a worker without Spark never imports it
    return internals is not None and internals.is_jvm_gone()


def _say(control: socket.socket, what: Mapping[str, Any]) -> None:
    with _SAYING:
        control.sendall(json_text(what).encode() + b"\n")


def _live(control: socket.socket) -> None:
    """Report that the process is alive, or that its JVM is not. A stopped or hanging process reports nothing."""
    while True:
        time.sleep(_ALIVE_SECONDS)
        word = {"broken": _NO_JVM, "gives_back": False} if _is_jvm_gone() else {"alive": True}
        try:
            _say(control, word)
        except OSError:  # the host is gone, which another thread notices
            return


def _end_with(life_number: int) -> None:
    """End this process when the host is gone for any reason, which a pipe shows."""
    os.read(life_number, 1)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(_LAST_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), json.loads(sys.argv[4]))
