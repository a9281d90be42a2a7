"""How long it takes from an upstream's materialization to the run that waited for it.

Feeds are materialized at a given rate, evenly, with a burst in the middle; each makes one slice of one small asset
ready. `started_ms` is from the record of the feed in Dagster's event log to the start of the slice's run in it,
`finished_ms` to its end. `cpu_s_per_run` is processor time of all processes that decide and run, not of the database.
`others`, unless told otherwise, are the same figures of shorter measurements: slices that Spark writes to Delta tables,
the other host, and Dagster's own launcher, a new process a run.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from benchmarks.launch.row import Row, measure_row
from benchmarks.launch.world import LAUNCHERS
from tidemark.center.service import ACROSS

if TYPE_CHECKING:
    import argparse

_SPARK: Final = Row(spark=True, rate=12.0, minutes=2.0, burst=0)
_SENSOR: Final = Row(host="sensor", rate=30.0, minutes=1.0, burst=0)
_CENTER: Final = Row(host="center", rate=30.0, minutes=1.0, burst=0)
_DEFAULT: Final = Row(host="sensor", launcher="default", rate=10.0, minutes=1.0, burst=0)


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", choices=("center", "sensor"), default="center")
    parser.add_argument("--launcher", choices=LAUNCHERS, default="warm")
    parser.add_argument("--db", choices=("postgresql", "sqlite"), default="postgresql")
    parser.add_argument("--rate", type=float, default=104.0, help="runs a minute")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--burst", type=int, default=60, help="so many more in one second, in the middle")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--spark", action="store_true", help="slices that Spark writes to Delta tables")
    parser.add_argument("--across", type=int, default=ACROSS, help="entities that share a run while there is no room")
    parser.add_argument("--alone", action="store_true", help="nothing else for comparison")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """The figure, and in `others` those to compare it with."""
    names = ("host", "launcher", "db", "rate", "minutes", "burst", "workers", "spark", "across")
    row = Row(**{name: getattr(arguments, name) for name in names})
    others = {} if arguments.alone else _others(row)
    figures = measure_row(row)
    return {**figures, **({"others": {name: measure_row(other) for name, other in others.items()}} if others else {})}


def _others(row: Row) -> dict[str, Row]:
    host = {"sensor": _SENSOR} if row.host == "center" else {"center": _CENTER}
    rows = {"spark": _SPARK, **host, "default_launcher": _DEFAULT}
    return {name: replace(other, db=row.db, workers=row.workers) for name, other in rows.items()}
