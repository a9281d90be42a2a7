"""Slices that need processors alone, on a cluster: `python -m benchmarks.scaleout.cluster_slices MASTER FOLDER SLICES`.

It prints one JSON object: wall seconds of all slices in a warm session, and each stage's tasks in processor seconds.
"""

from __future__ import annotations

import json
import sys
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.cluster.tasks import tasks_of
from benchmarks.timing import Timer
from tidemark.compute.runtime import Runtime
from tidemark.dependency_model.slice import Slice
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from collections.abc import Sequence

_FIRST: Final = date(2026, 1, 1)
_SQL: Final = """
SELECT id % 4 AS part, max(sha2(concat(:biz_date, id), 512)) AS found
FROM range(0, 1600000, 1, 8) GROUP BY id % 4
"""
_CONF: Final = "spark.executor.memory 512m\nspark.executor.cores 1\nspark.sql.shuffle.partitions 2\n"
_GROUP: Final = "counted"


def main(arguments: Sequence[str]) -> None:
    master, folder, count = arguments[0], Path(arguments[1]), int(arguments[2])
    declared = folder / "declared"
    (declared / "ads").mkdir(parents=True)
    (declared / "project.yaml").write_text(f"time_zone: UTC\nstart: {_FIRST}\nowner: data@school.example\n")
    (declared / "ads" / "hashed.yaml").write_text("period: day\n")
    (declared / "ads" / "hashed.sql").write_text(_SQL)
    (folder / "spark.conf").write_text(_CONF)
    settings = Settings.at(folder / "data", spark_master=master, spark_conf=str(folder / "spark.conf"))
    runtime = Runtime(load_warehouse(settings, declared))
    computer, timer = runtime.computer(), Timer(0)
    computer.compute([_slice(0)])
    runtime.spark.sparkContext.setJobGroup(_GROUP, "slices that are counted")
    done = timer.run(lambda: computer.compute([_slice(number) for number in range(1, count + 1)]))
    assert all(slice_.is_published for slice_ in done), done
    tasks = tasks_of(runtime.spark, _GROUP)
    sys.stdout.write(json.dumps({"seconds": timer.seconds, "stages": tasks.stages}))


def _slice(number: int) -> Slice:
    return Slice("hashed", str(_FIRST + timedelta(days=number)))


if __name__ == "__main__":
    main(sys.argv[1:])
