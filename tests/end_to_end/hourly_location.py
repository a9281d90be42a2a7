"""A code location that knows nothing of Tidemark: it writes hours of a table when somebody orders them.

An order is a file of the folder `orders` named by the first and the last hour: `2026-03-24-00:00...2026-03-24-22:00`.
Its sensor runs in Dagster's daemon, and asks for one run an order.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pyarrow as pa
from deltalake import write_deltalake

HOURS = dg.HourlyPartitionsDefinition("2026-03-23-00:00", end_date="2026-03-25-00:00")


def data() -> Path:
    return Path(os.environ["TIDEMARK_DATA"])


@dg.asset(key=["team", "visits"], partitions_def=HOURS, backfill_policy=dg.BackfillPolicy.single_run())
def visits(context: dg.AssetExecutionContext) -> None:
    days = [key[:10] for key in context.partition_keys]
    rows = pa.table({"dt": pa.array(days).cast(pa.date32()), "n": [1] * len(days)})
    write_deltalake(str(data() / "warehouse" / "visits"), rows, mode="append", partition_by=["dt"])


@dg.sensor(target=[visits], minimum_interval_seconds=1, default_status=dg.DefaultSensorStatus.RUNNING)
def ordered_hours() -> Iterator[dg.RunRequest]:
    for order in sorted((data() / "orders").glob("*...*")):
        first, last = order.name.split("...")
        tags = {"dagster/asset_partition_range_start": first, "dagster/asset_partition_range_end": last}
        yield dg.RunRequest(run_key=order.name, tags=tags)


defs = dg.Definitions(assets=[visits], sensors=[ordered_hours])
