"""The heartbeats among the records of a pass."""

from collections import defaultdict

from pyspark.sql import functions as sf

from resources.capture.binlog_runs import read_before
from resources.capture.envelope.record import HEARTBEAT
from resources.capture.heartbeat.beat import Beat
from resources.capture.order.guard import Order
from resources.capture.scan import Scan

# The column of the heartbeat table in which its writer puts the time.
COLUMN = "beat_at"


def beats_in(scan: Scan, order: Order) -> dict[str, list[Beat]]:
    """Per instance the heartbeats that carry their writer's time and were not read before."""
    written = sf.get_json_object("after", f"$.{COLUMN}").try_cast("timestamp")
    rows = (
        scan.records.where((sf.col("table") == HEARTBEAT) & ~read_before(order.again))
        .select("instance", "offset", sf.unix_millis(written).alias("beat_ms"))
        .where("beat_ms IS NOT NULL")
        .toArrow()
        .to_pylist()
    )
    found: dict[str, list[Beat]] = defaultdict(list)
    for row in rows:
        found[row["instance"]].append(Beat(row["offset"], row["beat_ms"]))
    return found
