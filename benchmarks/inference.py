"""Dependencies from SQL: how fast queries are analysed, and how soon Dagster has the main job's definitions.

Writes a folder of 2,000 entities a unit of scale with queries of seven forms (filters, joins, CTEs, unions, windows,
sub-queries) and no `depends_on`, and reads it three times, each in a new process; `--wide` has windows of a year.

    cold_seconds       every query analysed, nothing in the cache
    cold_cpu_seconds   the same in processor time, of all processes
    cold_ms_each       the same, wall time an entity
    changed_seconds    after one query in a hundred changed
    warm_seconds       nothing changed
    decided            entities whose SQL says all of their dependencies
    main_job_cold_seconds, main_job_warm_seconds  declarations of the main job, SQL included
    definitions_seconds  a new process until Dagster's definitions of the main job are there, cache warm
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidemark.system.settings import Settings
from tidemark.warehouse.declarations import read_declarations

if TYPE_CHECKING:
    import argparse

ENTITIES = 2_000
MAIN_JOB = Path(__file__).resolve().parent.parent / "warehouse_assets"
_FORMS = (
    "SELECT user_id, sum(x) AS x FROM {a} WHERE dt = :biz_date AND x > {n} GROUP BY user_id",
    (
        "SELECT a.user_id, b.x FROM {a} AS a JOIN {b} AS b ON b.user_id = a.user_id AND b.dt = a.dt"
        " WHERE a.dt = :biz_date AND a.x <> {n}"
    ),
    (
        "SELECT a.user_id, b.x FROM {a} AS a LEFT JOIN {b} AS b"
        " ON b.user_id = a.user_id AND b.dt = date_sub(:biz_date, {n}) WHERE a.dt = :biz_date"
    ),
    (
        "WITH recent AS (SELECT user_id, dt, x FROM {a} WHERE dt BETWEEN date_sub(:biz_date, {n}) AND :biz_date)"
        " SELECT user_id, avg(x) AS x FROM recent GROUP BY user_id"
    ),
    (
        "SELECT user_id, x FROM (SELECT user_id, dt, x FROM {a} UNION ALL SELECT user_id, dt, x FROM {b})"
        " WHERE dt = :biz_date AND x < {n}"
    ),
    (
        "SELECT user_id, row_number() OVER (PARTITION BY user_id ORDER BY x) AS x FROM {a}"
        " WHERE dt BETWEEN trunc(:biz_date, 'MM') AND :biz_date AND x <> {n}"
    ),
    (
        "SELECT user_id, x FROM {a} WHERE dt = :biz_date AND user_id IN"
        " (SELECT user_id FROM {b} WHERE dt IN (:biz_date, date_sub(:biz_date, {n})))"
    ),
)
_WIDE_FORMS = (
    (
        "SELECT a.user_id, b.x FROM {a} AS a JOIN {b} AS b ON b.user_id = a.user_id AND b.dt = a.dt"
        " WHERE a.dt BETWEEN date_sub(:biz_date, {n}) AND :biz_date"
    ),
    (
        "SELECT a.user_id, b.x FROM {a} AS a JOIN {b} AS b ON b.user_id = a.user_id"
        " AND b.dt BETWEEN date_sub(a.dt, 6) AND a.dt WHERE a.dt BETWEEN date_sub(:biz_date, {n}) AND :biz_date"
    ),
)


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scale", type=float, default=1.0, help="times 2,000 entities")
    parser.add_argument("--wide", action="store_true", help="windows of 300 to 400 days, and wide joins")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    count = int(ENTITIES * arguments.scale)
    with tempfile.TemporaryDirectory() as folder:
        root, data = Path(folder) / "declared", Path(folder) / "data"
        data.mkdir()
        write(root, count, is_wide=arguments.wide)
        cold = _in_new_process(root, data)
        for path in sorted(root.rglob("*.sql"))[::100]:
            path.write_text(path.read_text() + "\n-- changed")
        changed, warm = _in_new_process(root, data), _in_new_process(root, data)
        main_cold, main_warm = _in_new_process(MAIN_JOB, data), _in_new_process(MAIN_JOB, data)
        definitions = _definitions_seconds(data)
    return {
        "entities": count,
        "cold_seconds": cold["seconds"],
        "cold_cpu_seconds": cold["cpu_seconds"],
        "cold_ms_each": round(cold["seconds"] / count * 1000, 1),
        "changed_seconds": changed["seconds"],
        "warm_seconds": warm["seconds"],
        "decided": cold["decided"],
        "main_job_cold_seconds": main_cold["seconds"],
        "main_job_warm_seconds": main_warm["seconds"],
        "definitions_seconds": definitions,
    }


def write(root: Path, count: int, *, is_wide: bool = False) -> None:
    """Declarations and queries, the same for the same number."""
    forms, days = (_FORMS + _WIDE_FORMS, (300, 400)) if is_wide else (_FORMS, (1, 60))
    chance = random.Random(count)
    root.mkdir(parents=True)
    (root / "project.yaml").write_text("time_zone: Europe/Paris\nstart: 2024-01-01\n")
    for number in range(count):
        (root / f"t_{number:05}.yaml").write_text("period: day\n")
        if number >= 10:
            a, b = (f"t_{upstream:05}" for upstream in chance.sample(range(max(0, number - 500), number), k=2))
            form = chance.choice(forms)
            (root / f"t_{number:05}.sql").write_text(form.format(a=a, b=b, n=chance.randint(*days)))


def _in_new_process(root: Path, data: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.inference", str(root), str(data)]
    measured: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return measured


def _definitions_seconds(data: Path) -> float:
    """From the start of a process to loaded definitions, the second time."""
    code = "from warehouse_assets.definitions import definitions; definitions()"
    environment = {**os.environ, "TIDEMARK_DATA": str(data), "PYTHONWARNINGS": "ignore"}
    for _ in range(2):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    return round(time.perf_counter() - begun, 2)


def load(root: Path, data: Path) -> dict[str, Any]:
    """What happens in the new process."""
    begun = time.perf_counter()
    read = read_declarations(root, Settings.at(data))
    seconds = time.perf_counter() - begun
    assert not read.problems, read.problems[0]
    times = os.times()
    cpu = times.user + times.system + times.children_user + times.children_system
    decided = sum(bool(read.entities[name].depends_on) for name in read.queries)
    return {"seconds": round(seconds, 3), "cpu_seconds": round(cpu, 2), "decided": decided}


if __name__ == "__main__":
    print(json.dumps(load(Path(sys.argv[1]), Path(sys.argv[2]))))
