"""A worker's process: loads definitions, starts Spark, then executes one run at a time, as the host says.

Its main thread executes: Dagster interrupts runs by a signal, which only that thread gets, and captures what a step
prints by the process's own descriptors, so that two runs at once would share their logs. Therefore one run at a time,
and a Spark session a worker.
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
"""So long a run may take to end once the host is gone."""
_ALIVE_SECONDS: Final = 5.0
_SAYING: Final = Lock()
_NO_JVM: Final = "its JVM has ended"


def main(control_number: int, life_number: int, home: Path, given: Mapping[str, Any]) -> None:
    """Serve until the host is gone, or says so."""
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
            # A signal that came between two runs was for the last one; who stops this one has marked it so before.
            pop_captured_interrupt()
            _say(control, {"done": run_id, "ended": execution.run(run_id)})
    # Python's own way out takes apart everything that Dagster has loaded, which can take longer than all runs did.
    atexit._run_exitfuncs()  # noqa: SLF001
    os._exit(0)


def _start_spark() -> None:
    from tidemark.spark.session import spark_session  # noqa: PLC0415 - only where the host is told to

    spark_session(Settings.load(os.environ)).range(1).collect()


def _is_jvm_gone() -> bool:
    internals = sys.modules.get("tidemark.spark.internals")  # a worker without Spark never imports it
    return internals is not None and internals.is_jvm_gone()


def _say(control: socket.socket, what: Mapping[str, Any]) -> None:
    with _SAYING:
        control.sendall(json_text(what).encode() + b"\n")


def _live(control: socket.socket) -> None:
    """Say that the process goes on, or that its JVM does not. One that is stopped, or hangs, says nothing."""
    while True:
        time.sleep(_ALIVE_SECONDS)
        word = {"broken": _NO_JVM, "gives_back": False} if _is_jvm_gone() else {"alive": True}
        try:
            _say(control, word)
        except OSError:  # the host is gone, which another thread notices
            return


def _end_with(life_number: int) -> None:
    """The reading end of a pipe tells when the host is gone, however it went."""
    os.read(life_number, 1)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(_LAST_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), json.loads(sys.argv[4]))
