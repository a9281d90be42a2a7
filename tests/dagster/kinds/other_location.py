"""A code location that knows nothing of Tidemark: its asset waits for slices, and the warehouse waits for it.

It shares Dagster's storage and the folder of the lake with the warehouse, and imports nothing of it.
"""

import os
from datetime import date
from pathlib import Path

import dagster as dg
import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

DAYS = dg.DailyPartitionsDefinition("2026-03-23", end_date="2026-03-25")

INVALID = dg.AutomationCondition.any_checks_match(dg.AutomationCondition.check_failed(), blocking_only=True)
SLICES_ARE_THERE = dg.AutomationCondition.eager().without(
    dg.AutomationCondition.in_latest_time_window()
) & ~dg.AutomationCondition.any_deps_match(INVALID)
DAY_AND_DAY_BEFORE = dg.TimeWindowPartitionMapping(start_offset=-1, end_offset=0)


@dg.asset(
    partitions_def=DAYS,
    deps=[dg.AssetDep("counted", partition_mapping=DAY_AND_DAY_BEFORE)],
    automation_condition=SLICES_ARE_THERE,
)
def scores(context: dg.AssetExecutionContext) -> None:
    lake, day = Path(os.environ["TIDEMARK_DATA"]) / "warehouse", date.fromisoformat(context.partition_key)
    counted = DeltaTable(str(lake / "counted")).to_pyarrow_table(filters=[("dt", "<=", day)])
    rows = pa.table({"dt": [day], "score": [sum(counted["n"].to_pylist())]})
    is_new = not DeltaTable.is_deltatable(str(lake / "scores"))
    predicate = None if is_new else f"dt = '{day}'"
    write_deltalake(str(lake / "scores"), rows, mode="overwrite", partition_by=["dt"], predicate=predicate)


defs = dg.Definitions(
    assets=[scores],
    sensors=[
        dg.AutomationConditionSensorDefinition(
            "waits_for_slices",
            target=dg.AssetSelection.all(),
            default_status=dg.DefaultSensorStatus.RUNNING,
            minimum_interval_seconds=5,
        )
    ],
)
