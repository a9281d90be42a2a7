"""How soon a report is decided on while others flood the center with dry runs of backfills.

Another process sends dry runs of 79 bytes each, eight at a time, that stand for some 2,000 slices in six tables; half
of the callers hang up after 50 ms. First it goes on until the plans have taken all the processor time that one caller
has at once. Then rounds without and with it take turns, and in this process:

    reports        how many were measured in each kind of round
    quiet_ms_p50   from sending a report until the center has decided on it, without the flood
    quiet_ms_p90
    flood_ms_p50   the same under the flood
    flood_ms_p90
    flood_vs_quiet flood_ms_p90 / quiet_ms_p90
    dry_runs       how many requests the flood sent
"""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import quantiles
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

from tests.center.test_center import CenterWorld
from tidemark.api.options import ApiOptions
from tidemark.api.server import serve_in_thread

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

_TABLES: Final = {
    "ods": "kind: Virtual\nperiod: hour\nstart: '2024-01-01'\n",
    "d0": "period: hour\nstart: '2024-01-01'\ndepends_on: [ods]\n",
    **{f"d{n}": f"period: hour\nstart: '2024-01-01'\ndepends_on: [d{n - 1}]\n" for n in range(1, 5)},
}
_DRY_RUN: Final = {"subject": "table=ods&&dt=20240201..20240501", "dry_run": True, "yes": True}
_AT_ONCE: Final = 8
_TOO_MUCH: Final = 429
_HANGS_UP: Final = 0.05


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=6, help="of each kind")
    parser.add_argument("--reports", type=int, default=50, help="a round")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    quiet: list[float] = []
    flooded: list[float] = []
    sent = 0
    with tempfile.TemporaryDirectory() as folder:
        world = CenterWorld(Path(folder), **_TABLES)
        with serve_in_thread(world.center, world.forecast(), ApiOptions(writes_per_second=1e9)) as url:
            port = int(url.rpartition(":")[2])
            with _flood(port):
                while ask(port, "/v1/backfills", _DRY_RUN, 60.0) != _TOO_MUCH:
                    time.sleep(0.1)
            for number in range(arguments.rounds):
                quiet += _round(world, port, f"quiet {number}", arguments.reports)
                with _flood(port) as flood:
                    flooded += _round(world, port, f"flood {number}", arguments.reports)
                sent += int(flood.communicate()[0] or 0)
    before, under = _percentiles(quiet), _percentiles(flooded)
    return {
        "reports": len(quiet),
        "quiet_ms_p50": before[0],
        "quiet_ms_p90": before[1],
        "flood_ms_p50": under[0],
        "flood_ms_p90": under[1],
        "flood_vs_quiet": round(under[1] / before[1], 2),
        "dry_runs": sent,
    }


def _round(world: CenterWorld, port: int, name: str, reports: int) -> list[float]:
    taken = []
    for number in range(reports):
        key = f"2024-03-{1 + number % 28:02}T{number % 24:02}"
        told = {"event": "observed", "event_id": f"{name} {number}", "event_time": "2024-06-03T01:00:00+02:00"}
        begun = time.monotonic()
        assert ask(port, "/v1/reports", {"subject": f"ods@{key}", **told}, 60) == 200
        world.center.tick()
        taken.append(1_000 * (time.monotonic() - begun))
    return taken


def _percentiles(taken: list[float]) -> tuple[float, float]:
    cuts = quantiles(taken, n=10)
    return round(cuts[4], 1), round(cuts[8], 1)


def ask(port: int, path: str, body: Any, seconds: float) -> int:
    """The status of the answer. Raises TimeoutError where it is not there in time: the connection is closed then."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()


@contextmanager
def _flood(port: int) -> Iterator[subprocess.Popen[str]]:
    """Until the block ends. It says how many requests it sent when its input is closed."""
    command = [sys.executable, "-m", "benchmarks.flood", str(port)]
    flood = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert flood.stdout is not None
    flood.stdout.readline()
    try:
        yield flood
    finally:
        if flood.stdin is not None:
            flood.stdin.close()
            flood.stdin = None


def _be_the_flood(port: int) -> None:
    sent, goes_on = [0] * _AT_ONCE, [True]

    def send(number: int) -> None:
        while goes_on[0]:
            sent[number] += 1
            with suppress(OSError, http.client.HTTPException):
                if ask(port, "/v1/backfills", _DRY_RUN, _HANGS_UP if number % 2 else 60.0) != 200:
                    time.sleep(0.01)

    threads = [Thread(target=send, args=(number,), daemon=True) for number in range(_AT_ONCE)]
    for thread in threads:
        thread.start()
    print("begun", flush=True)
    sys.stdin.read()
    goes_on[0] = False
    print(sum(sent))


if __name__ == "__main__":
    _be_the_flood(int(sys.argv[1]))
