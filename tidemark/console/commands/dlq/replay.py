"""`tidemark dlq replay`: read dead-letter records again, after the cause was corrected."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from tidemark.console.action_command import ActionCommand
from tidemark.console.output import json_option, print_json, print_line
from tidemark.errors import TerminalError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.capture.operations.dead_letter_replay import Replayed


@click.command(cls=ActionCommand)
@json_option
def replay(*, as_json: bool) -> None:
    """Read the dead-letter queue again from Kafka, and merge the records that can be read now.

    A record has the same effect as if it had been read in time: later changes and deletes of the row stay. Tagged
    snapshots do not change. Records that still cannot be read stay in the queue.

    \b
    Exit codes: 0 the queue is empty, 1 some records stay (or no Kafka is set), 75 Kafka does not answer.
    With --json: {"replayed": [{"topic", "offset", "row", "problem"}]}, problem null for merged records.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    replayed = _replay()
    if as_json:
        print_json({"replayed": [_as_data(outcome) for outcome in replayed]})
    else:
        for outcome in replayed:
            print_line(f"{outcome.letter.topic} offset {outcome.letter.offset}: {outcome.problem or 'replayed'}")
        read = sum(outcome.problem is None for outcome in replayed)
        print_line(f"{read} of {len(replayed)} records of the dead-letter queue replayed")
    if any(outcome.problem for outcome in replayed):
        raise click.exceptions.Exit(1)


def _replay() -> Sequence[Replayed]:
    from tidemark.capture.operations.dead_letter_replay import DeadLetterReplay  # noqa: PLC0415
    from tidemark.capture.source.kafka.intake import KafkaIntake  # noqa: PLC0415 - keeps --help fast
    from tidemark.spark.session import spark_session  # noqa: PLC0415
    from tidemark.state_store.database import Database  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    settings = Settings.load()
    if not settings.kafka:
        raise TerminalError(
            "TIDEMARK_KAFKA is not set",
            expected="the bootstrap servers that the records came from",
            where="TIDEMARK_KAFKA",
            hint="set it to the servers of that time",
        )
    sources = load_warehouse(settings).source_tables()
    intake, database = KafkaIntake.of(settings), Database.of(settings)
    return DeadLetterReplay(spark_session(settings), settings, sources, intake, database).run(datetime.now(UTC))


def _as_data(outcome: Replayed) -> dict[str, object]:
    return {
        "topic": outcome.letter.topic,
        "offset": outcome.letter.offset,
        "row": outcome.letter.row,
        "problem": outcome.problem,
    }
