"""`tidemark dlq replay`: dead letters once more, after what made them dead was corrected."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from tidemark.console.output import json_option, print_json, print_line
from tidemark.dependency_model.errors import TerminalError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.capture.operations.replay import Replayed


@click.command()
@json_option
def replay(*, as_json: bool) -> None:
    """Read the dead letters once more from Kafka, and merge what can be read now.

    A letter has the effect that it would have had when it came: what changed the same row later stays, and so does a
    later delete. Snapshots that are named already stay as they are. What still cannot be read stays a dead letter.

    \b
    Exit codes: 0 nothing waits any more, 1 some letters stay (or no Kafka is set), 75 Kafka does not answer.
    With --json: {"replayed": [{"topic", "offset", "row", "problem"}]}, problem null for those that had their effect.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    found = _replay()
    if as_json:
        print_json({"replayed": [_described(one) for one in found]})
    else:
        for one in found:
            print_line(f"{one.letter.topic} offset {one.letter.offset}: {one.problem or 'replayed'}")
        print_line(f"{sum(one.problem is None for one in found)} of {len(found)} dead letters replayed")
    if any(one.problem for one in found):
        raise click.exceptions.Exit(1)


def _replay() -> Sequence[Replayed]:
    from tidemark.capture.operations.replay import DeadLetterReplay  # noqa: PLC0415
    from tidemark.capture.source.kafka.intake import KafkaIntake  # noqa: PLC0415 - keeps --help fast
    from tidemark.spark.session import spark_session  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    settings = Settings.load()
    if not settings.kafka:
        raise TerminalError(
            "no Kafka to read from again",
            expected="the bootstrap servers that the dead letters came from",
            where="TIDEMARK_KAFKA",
            hint="set it as it was when they came",
        )
    sources = load_warehouse(settings).source_tables()
    return DeadLetterReplay(spark_session(settings), settings, sources, KafkaIntake.of(settings)).run(datetime.now(UTC))


def _described(one: Replayed) -> dict[str, object]:
    return {"topic": one.letter.topic, "offset": one.letter.offset, "row": one.letter.row, "problem": one.problem}
