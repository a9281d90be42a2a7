"""A web server with faults, in a real Dagster instance: no run is asked for, and the same sensor goes on by itself."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import dagster as dg
import pytest

from tests.compute.small_warehouse import DECLARED, small_warehouse
from tests.dagster.sensors.external_program import DAY
from tests.dagster.sensors.test_external_arrival import asked_for
from tests.dagster.sensors.test_readiness import runs_of
from tests.until import until
from tidemark.dagster.sensors.readiness import readiness_sensor
from tidemark.system.free_port import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

SERVER = """
import http.server, pathlib, sys, time
folder = pathlib.Path(sys.argv[2])
class Faulty(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        fault = (folder / "fault").read_text()
        with (folder / "asked").open("a") as file:
            file.write(fault + self.path + "\\n")
        if fault == "hangs":
            time.sleep(20)
        if fault == "closes":
            return self.connection.close()
        done = b'{"state": "done", "rows": 5}' if "2026-03-24" in self.path else b'{"state": "running", "rows": 5}'
        body = {"is no JSON": b"<html>done</html>", "says less": b'{"state": "done"'}.get(fault, done)
        self.send_response(503 if fault == "is busy" else 200)
        self.send_header("Content-Length", str(len(body) + (9 if fault == "breaks off" else 0)))
        self.end_headers()
        self.wfile.write(body)
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Faulty).serve_forever()
"""


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test(temp_dir=str(tmp_path)) as opened:
        yield opened


@pytest.mark.parametrize("fault", ["is down", "is busy", "hangs", "closes", "is no JSON", "says less", "breaks off"])
def test_no_fault_releases_a_day_and_its_end_does(tmp_path: Path, instance: dg.DagsterInstance, fault: str) -> None:
    """The server says all the while that the day is done, but for its fault."""
    port = free_port()
    probe = f"http: {{url: 'http://127.0.0.1:{port}/{{key}}', field: state, equals: done, rows: rows}}"
    declared_probe = f"probe: {{{probe}, settle_for: 0m, fresh_for: 0m, timeout_seconds: 2}}\n"
    sales = f"period: day\nkind: Virtual\nend: 2026-03-26\nquality: [{{row_count: {{min: 1}}}}]\n{declared_probe}"
    declared = {name: (f"{yaml}end: 2026-03-26\n", sql) for name, (yaml, sql) in DECLARED.items()}
    sensor = readiness_sensor(small_warehouse(tmp_path, {**declared, "sales": (sales, DECLARED["sales"][1])}))
    told = tmp_path / "fault"
    told.write_text(fault)

    def asked_in_vain() -> bool:
        """Whether the server was asked twice while the fault lasted; nothing is released meanwhile."""
        assert asked_for(sensor, instance) == []
        asked = tmp_path / "asked"
        return asked.exists() and asked.read_text().count(f"{fault}/{DAY}") > 1

    if fault == "is down":
        assert not any(asked_in_vain() for _ in range(5))
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, str(port), str(tmp_path)], stderr=subprocess.DEVNULL
    ) as server:
        try:
            if fault != "is down":
                until(asked_in_vain, "a question while the fault lasts")
            assert not instance.get_materialized_partitions(dg.AssetKey(["sales"]))
            told.write_text("nothing")
            assert runs_of(until(lambda: asked_for(sensor, instance), "the run of the day")) == [("totals", DAY)]
            assert instance.get_materialized_partitions(dg.AssetKey(["sales"])) == {DAY}
        finally:
            server.kill()
