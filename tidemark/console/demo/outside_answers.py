"""Expected contents of external tables, from the recording and the partner's table, without the engine.

The recorded changes are replayed row by row: the new users of each day as of its midnight, and the orders of each
minute at the end. delta-rs reads the partner's figures from its table.
"""

from __future__ import annotations

import json
import lzma
from collections import Counter, defaultdict
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tidemark.console.demo.source_database_answers import Comparison, OracleMetric
from tidemark.crawl.probed_slice import ProbedSlice
from tidemark.crawl.probes.counted_records import counted_window
from tidemark.delta.open_table import open_table
from tidemark.dependency_model.time.zone import zone_info
from tidemark.state_store.record_counts import RecordCounts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.database import Database
    from tidemark.system.table_location import TableLocation
    from tidemark.warehouse.warehouse import Warehouse

AD_COST: Final = "ads_ad_cost"
PARTNER: Final = "the partner's table and the recording"
RECORDING: Final = "the recording"
_DAY_MS: Final = 86_400_000
_MINUTE_MS: Final = 60_000
_CENT: Final = Decimal("0.01")


class RecordedRows(NamedTuple):
    """Users by day and channel of registration, as of midnight; and the final orders by minute.

    Minutes count from 1970 on the recording's clock.
    """

    new_users: Mapping[date, Mapping[str, int]]
    orders: Mapping[int, int]


def recorded_rows(sample: Path, days: Sequence[date], zone: tzinfo) -> RecordedRows:
    """Replay users and orders up to the end of the last day."""
    midnights = [datetime.combine(day + timedelta(days=1), time(), zone) for day in days]
    users: dict[int, tuple[date, str]] = {}
    by_day: dict[date, Mapping[str, int]] = {}
    reached = 0
    for at_ms, before, after in _changes(sample, "users"):
        while reached < len(days) and at_ms >= midnights[reached].timestamp() * 1000:
            by_day[days[reached]] = _of_day(users, days[reached])
            reached += 1
        if before is not None:
            users.pop(before["user_id"], None)
        if after is not None:
            registered = date.fromordinal(date(1970, 1, 1).toordinal() + after["registered_at"] // _DAY_MS)
            users[after["user_id"]] = (registered, after["channel"])
    by_day |= {day: _of_day(users, day) for day in days[reached:]}
    return RecordedRows(by_day, _orders(sample, midnights[-1]))


def _of_day(users: Mapping[int, tuple[date, str]], day: date) -> Mapping[str, int]:
    return Counter(channel for registered, channel in users.values() if registered == day)


def _orders(sample: Path, until: datetime) -> Mapping[int, int]:
    minutes: Counter[int] = Counter()
    for at_ms, before, after in _changes(sample, "orders_"):
        if at_ms < until.timestamp() * 1000:
            minutes.update([after["created_at"] // _MINUTE_MS] if after else [])
            minutes.subtract([before["created_at"] // _MINUTE_MS] if before else [])
    return minutes


def _changes(sample: Path, table: str) -> Iterator[tuple[int, dict[str, Any] | None, dict[str, Any] | None]]:
    """(event time, row before, row after) of the changes of these tables, instance by instance."""
    mark = f'"table":"{table}'
    for path in sorted((sample / "changes").glob("*/*.jsonl.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                value = json.loads(line)["value"] if mark in line else None
                if value and "op" in value:
                    yield value["source"]["ts_ms"], value["before"], value["after"]


def expected_ad_costs(table: TableLocation, recorded: RecordedRows) -> tuple[OracleMetric, ...]:
    """Expected rows of each slice of `ads_ad_cost`."""
    spent: dict[date, dict[str, tuple[int, Decimal]]] = defaultdict(dict)
    for row in open_table(table).to_pyarrow_table().to_pylist():
        clicks, cost = spent[row["dt"]].get(row["channel"], (0, Decimal(0)))
        spent[row["dt"]][row["channel"]] = (clicks + row["clicks"], cost + row["cost"])
    return tuple(
        OracleMetric(
            AD_COST, day.isoformat(), tuple(_cost(channel, *paid, users) for channel, paid in spent[day].items())
        )
        for day, users in recorded.new_users.items()
    )


def _cost(channel: str, clicks: int, cost: Decimal, users: Mapping[str, int]) -> dict[str, object]:
    new_users = users.get(channel, 0)
    share = (cost / new_users).quantize(_CENT, ROUND_HALF_UP) if new_users else None
    return {
        "channel": channel,
        "clicks": clicks,
        "cost": cost,
        "new_users": new_users,
        "cost_per_user": share,
    }


def compare_windows(
    recorded: RecordedRows, warehouse: Warehouse, database: Database, slices: Iterable[Slice]
) -> Comparison:
    """Compare the counts of each window on both sides with the recording, and whether it is complete."""
    result, counts = Comparison(against=RECORDING), RecordCounts(database)
    for slice_ in slices:
        probe = warehouse.graph.entity(slice_.entity).probe
        if probe is None or probe.counts is None:
            continue
        probed = ProbedSlice.of(warehouse.graph, slice_)
        counted = counted_window(probe.counts, probed, counts)
        expected = _within(recorded.orders, probed)
        result.add(str(slice_), (expected, expected, 0), (counted.source, counted.lake, len(counted.open_slots)))
    return result


def _within(orders: Mapping[int, int], probed: ProbedSlice) -> int:
    """Orders whose local time is within the slice."""
    if probed.window is None:
        return 0
    first, end = (_reading(instant, probed.time_zone) for instant in (probed.window.start, probed.window.end))
    return sum(rows for minute, rows in orders.items() if first <= minute < end)


def _reading(instant: datetime, time_zone: str) -> int:
    return int(instant.astimezone(zone_info(time_zone)).replace(tzinfo=UTC).timestamp()) // 60
