"""The program of an advertising partner: it does not know the warehouse, and writes a Delta table by delta-rs.

    python ad_partner.py TABLE FIRST_DAY LAST_DAY

Each input line has the current time. The program writes the partitions of all days that have ended in a region, one
commit each, and answers with their number. After a restart it continues.
"""

from __future__ import annotations

import sys
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from tidemark.dependency_model.time.zone import zone_info

if TYPE_CHECKING:
    from collections.abc import Iterator

REGIONS: Final = {"reunion": "Indian/Reunion", "metropole": "Europe/Paris", "antilles": "America/Martinique"}
CHANNELS: Final = ("advert", "app_store", "search")
_TYPES: Final = pa.schema(
    [
        ("dt", pa.date32()),
        ("region", pa.string()),
        ("channel", pa.string()),
        ("clicks", pa.int64()),
        ("cost", pa.decimal128(12, 2)),
    ]
)


def main(table: str, first: str, last: str) -> None:
    """Answer each line of the input."""
    days = [date.fromisoformat(first) + timedelta(days=n) for n in range(_days(first, last) + 1)]
    written = _written(table)
    for line in sys.stdin:
        now, new = datetime.fromisoformat(line.strip()), 0
        for day, region in _ended(days, now):
            if (day, region) not in written:
                write_deltalake(table, _rows(day, region), mode="append", partition_by=["dt", "region"])
                written.add((day, region))
                new += 1
        sys.stdout.write(f"{new}\n")
        sys.stdout.flush()


def _days(first: str, last: str) -> int:
    return (date.fromisoformat(last) - date.fromisoformat(first)).days


def _written(table: str) -> set[tuple[date, str]]:
    if not DeltaTable.is_deltatable(table):
        return set()
    return {(date.fromisoformat(part["dt"]), part["region"]) for part in DeltaTable(table).partitions()}


def _ended(days: list[date], now: datetime) -> Iterator[tuple[date, str]]:
    """Regions and their finished days, by each region's clock."""
    for day in days:
        for region, zone in REGIONS.items():
            if datetime.combine(day + timedelta(days=1), time(), zone_info(zone)) <= now:
                yield day, region


def _rows(day: date, region: str) -> pa.Table:
    """Rows with plausible, fixed figures."""
    rows = []
    for number, channel in enumerate(CHANNELS):
        clicks = 40 + (day.toordinal() * 37 + 101 * number + 53 * len(region)) % 160
        cost = clicks * Decimal(17 + 6 * number + len(region)) / 100
        rows.append({"dt": day, "region": region, "channel": channel, "clicks": clicks, "cost": cost})
    return pa.Table.from_pylist(rows, schema=_TYPES)


if __name__ == "__main__":
    main(*sys.argv[1:4])
