"""`tidemark capture distribute`: from one topic an instance to one topic a logical table."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

import click

from console.output import print_line
from dependency_model.errors import TerminalError

if TYPE_CHECKING:
    from collections.abc import Callable

    from resources.capture.distribution.service import Done


@click.command()
@click.option("--partitions", type=click.IntRange(1), default=4, show_default=True, help="Of topics that it makes.")
def distribute(*, partitions: int) -> None:
    """Send the changes of all instances' topics on to one topic a logical table, until it is stopped.

    tables.school.orders gets those of all shards, by physical table in one partition and in order, each message once.
    Any number of these processes share the instances; when one dies, the others go on where its last transaction ended.

    \b
    Exit codes: 0 stopped, 1 it cannot work so, 75 no broker, or topics are not there yet.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from resources.capture.distribution.service import distribute as run  # noqa: PLC0415 - keeps --help fast
    from resources.settings import Settings  # noqa: PLC0415
    from warehouse_assets.warehouse import load_warehouse  # noqa: PLC0415

    settings = Settings.load()
    if not settings.kafka:
        raise TerminalError(
            "no Kafka to read from",
            expected="bootstrap servers",
            where="TIDEMARK_KAFKA",
            hint="set it to host:9092, several with commas between",
        )
    sources = load_warehouse(settings).source_tables()
    done = run(settings.kafka, sources, partitions, _until_stopped())
    print_line(f"{done.messages} messages sent on, {done.nobodys} of nobody's tables")


def _until_stopped() -> Callable[[Done], bool]:
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    return lambda _: not stopped.is_set()
