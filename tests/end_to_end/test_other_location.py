"""Under a real `tidemark up`, an asset of another code location releases the days of which it has every hour."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest
from deltalake import DeltaTable

from tests.end_to_end import hourly_location
from tests.end_to_end.test_added_tables import Project, project, served, wait_for, wait_until_green

__all__ = ["project"]

pytestmark = [
    pytest.mark.components,
    pytest.mark.long,
    pytest.mark.xdist_group("other location"),
    pytest.mark.timeout(1200),
]

VISITS = """\
kind: Virtual
period: day
time_zone: UTC
probe:
  dagster: {asset: team/visits, partition: "{start:%Y-%m-%d-%H:%M}", each: hour}
  settle_for: 0s
  fresh_for: 1s
  late_every: 1s
"""
_TICKS_SECONDS = 20.0
"""Some ticks of the daemon's sensors, and many looks of the probe."""


def order(project: Project, first: str, last: str) -> None:
    """Somebody orders hours of the other location."""
    folder = project.root / "data" / "orders"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{first}...{last}").touch()


def hours(project: Project) -> int:
    """How many hours the other location has written."""
    path = str(project.lake / "visits")
    return DeltaTable(path).to_pyarrow_table().num_rows if DeltaTable.is_deltatable(path) else 0


def test_a_day_is_released_by_its_last_hour_and_no_other_day(project: Project) -> None:
    shutil.copyfile(Path(hourly_location.__file__), project.root / "other_location.py")
    project.declare("external/visits.yaml", VISITS)
    project.declare("dwd/counted.yaml", "period: day\ntime_zone: UTC\n")
    project.declare("dwd/counted.sql", "SELECT sum(n) AS n FROM visits WHERE dt = :biz_date\n")
    with served(project) as port:
        order(project, "2026-03-23-00:00", "2026-03-23-22:00")
        order(project, "2026-03-24-00:00", "2026-03-24-23:00")
        wait_for(project, port, "counted", [24])
        wait_until_green(port)
        assert hours(project) == 23 + 24
        time.sleep(_TICKS_SECONDS)
        assert project.rows("counted") == [24], "an hour of the day before is missing"
        order(project, "2026-03-23-23:00", "2026-03-23-23:00")
        wait_for(project, port, "counted", [24, 24])
        wait_until_green(port)
