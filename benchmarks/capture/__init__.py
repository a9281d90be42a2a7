"""Changes on their way from the source databases' topics to tagged snapshots, a broker on the same machine.

`ingest`: inserts, updates and deletes of orders in a hundred shards on four instances wait in their topics; one process
takes them into a Delta table and names each hour. `changes_per_second` is from the start of the first pass to the last
commit, `cpu_us_per_change` what Python and the JVM used. The table is compared with what is left of the changes.
`rss_mb` are this process and its JVM.

`soak`: such changes keep coming for half an hour, and a pass takes in every ten seconds what is there.
`soak_rss_mb_start` and `soak_rss_mb_end` are as above, `soak_pass_s_max` is the longest pass after the first tenth.

`snapshots`: hour after hour, changes of many tables are taken in, then each instance's heartbeat of the hour's end
arrives. `snapshot_delay_s_max` is from there to the last table's name, the longest of all hours.

`growth`: hours of the same changes for a table and one with ten times its rows, in turns. `hourly_cost_ratio_10x` is
the median hour of the large one to that of the small one, in seconds; `hourly_cpu_ratio_10x` in processor seconds.

`broken`: hours of the same changes for four tables alone, and for the four beside one that has stopped, in turns.
`broken_table_cost_ratio` is the median hour with it to that without.

`distribution`: messages as Debezium writes them wait in the topics of four instances; processes of the distribution
send them on to the topics of the logical tables. `distribution_per_second` is from the first transaction to the last,
all members together; `cpu_us_per_message` is processor time of members, the broker's is beside it. Every message is
counted again where it went. `distribution_rss_mb` is what a member holds, the larger one.
"""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from benchmarks.capture import broken, distribution, growth, ingest, snapshots, soak

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

_PARTS: Final[dict[str, Callable[[argparse.Namespace], dict[str, Any]]]] = {
    "ingest": ingest.measure,
    "soak": soak.measure,
    "snapshots": snapshots.measure,
    "growth": growth.measure,
    "broken": broken.measure,
    "distribution": distribution.measure,
}


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--parts", nargs="+", choices=tuple(_PARTS), default=list(_PARTS))
    parser.add_argument("--changes", type=int, default=5_000_000, help="of the ingest")
    parser.add_argument("--minutes", type=float, default=30, help="of the soak")
    parser.add_argument("--rate", type=int, default=5_000, help="changes a second of the soak")
    parser.add_argument("--tables", type=int, default=200, help="of the snapshots")
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the growth's small table")
    parser.add_argument("--broken-changes", type=int, default=100_000, help="an hour, beside a table that has stopped")
    parser.add_argument("--messages", type=int, default=2_000_000, help="of the distribution")
    parser.add_argument("--members", type=int, default=2, help="processes of the distribution")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """The figures of the chosen parts, each in a process of its own."""
    figures: dict[str, Any] = {}
    for part in arguments.parts:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
            figures |= process.submit(_PARTS[part], arguments).result()
    return figures
