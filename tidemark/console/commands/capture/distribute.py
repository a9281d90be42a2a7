"""`tidemark capture distribute`: copy the topic of each instance to one topic for each logical table."""

from __future__ import annotations

import time
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Final

import click

from tidemark.console.end_deadline import END_SECONDS, end_within
from tidemark.console.output import json_option, print_json, print_line
from tidemark.console.service_beat import ServiceBeat
from tidemark.console.stop_signals import stop_signals
from tidemark.errors import TerminalError

if TYPE_CHECKING:
    from tidemark.capture.distribution.service import Done
    from tidemark.console.commands.capture.distribution_progress import Progress

_ENDED: Final = (
    f"Stopped: the broker did not answer within {END_SECONDS:.0f} s. The next process continues where the "
    "last transaction ended."
)


@click.command()
@click.option("--partitions", type=click.IntRange(1), default=4, show_default=True, help="For new topics.")
@click.option(
    "--topics",
    default="tables.{table}",
    show_default=True,
    metavar="PATTERN",
    help="Names of the topics; {table} is school.orders, {entity} is ods_orders. Use the same value in every process.",
)
@json_option
def distribute(partitions: int, topics: str, *, as_json: bool) -> None:
    """Copy changes from the topics of all instances to one topic for each logical table, until it is stopped.

    tables.school.orders gets the changes of the shards school.orders_0, orders_1, ... of all instances. Each physical
    table is in one partition, in order. Readers of committed messages (isolation.level read_committed) see each change
    once. Keys are the physical tables: a.school.orders_0 for instance a. Heartbeats go to every partition.
    Undeclared tables are not copied; records that cannot be read go to tidemark.distribution.unreadable.

    You may start any number of these processes, on any host: they share the instances. If one dies, the others continue
    after its last transaction. Ctrl-C stops it between two transactions, or after 8 seconds if the broker does not
    answer. It waits for a broker that is down.

    It needs TIDEMARK_KAFKA, and a topic cdc.INSTANCE with one partition for each instance of the entities. To change
    the number of partitions of an existing topic, read it to its end and delete it first: a table that moved to another
    partition would lose its order.

    \b
    Exit codes: 0 stopped, 1 it cannot work with these settings, 75 no broker at the start or at the end, or topics
    are not there yet.
    With --json: {"messages", "unrouted", "unreadable", "sessions_lost", "lost_because", "lag", "sources", "seconds"}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.capture.distribution.group_members import ConsumerGroup  # noqa: PLC0415
    from tidemark.capture.distribution.service import Distribution  # noqa: PLC0415
    from tidemark.capture.distribution.service import distribute as run  # noqa: PLC0415
    from tidemark.console.commands.capture.distribution_progress import Progress  # noqa: PLC0415 - keeps --help fast
    from tidemark.state_store.database import Database  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    settings = Settings.load()
    if not settings.kafka:
        raise TerminalError(
            "Kafka is not configured",
            expected="bootstrap servers",
            where="TIDEMARK_KAFKA",
            hint="set it to host:9092, several separated by commas",
        )
    what = Distribution(
        settings.kafka,
        load_warehouse(settings).source_tables(),
        Database.of(settings),
        partitions,
        topics,
    )
    begun, beat = time.monotonic(), ServiceBeat(settings.data, "distribute")
    progress = None if as_json else Progress(print_line, ConsumerGroup(settings.kafka).members, begun)
    with stop_signals() as signals, end_within(END_SECONDS, _ENDED):
        done = run(what, partial(_goes_on, signals, beat, progress))
    if as_json:
        print_json({**asdict(done), "seconds": round(time.monotonic() - begun, 3)})
    else:
        print_line(f"Stopped: {done.messages:,} messages sent on, {done.unrouted:,} unrouted.")


def _goes_on(signals: list[int], beat: ServiceBeat, progress: Progress | None, so_far: Done) -> bool:
    """Whether to continue, asked after each transaction; reports the progress now and then."""
    beat.beat()
    return not signals and (progress is None or progress.tell(so_far, time.monotonic()))
