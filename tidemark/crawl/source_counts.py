"""The records of a source by minute: from a query that counts, or from a topic's offsets (C4)."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from confluent_kafka import Consumer, KafkaException
from sqlalchemy.exc import SQLAlchemyError

from tidemark.crawl.errors import ProbeError
from tidemark.crawl.probes.kafka_offsets import TopicOffsets
from tidemark.crawl.probes.sql_table import database_url, session
from tidemark.crawl.rule_query import quote_name
from tidemark.crawl.topic_rows import SETTINGS
from tidemark.dependency_model.time.window import seconds_of
from tidemark.dependency_model.time.zone import Zone
from tidemark.system.kafka_client import librdkafka

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.crawl.connection_secrets import ConnectionSecrets
    from tidemark.dependency_model.entity.completeness import Completeness, CountQuery
    from tidemark.dependency_model.entity.probe import KafkaProbe

_MINUTE: Final = 60
_MINUTE_OF: Final = {
    "postgresql": "to_char({0}, 'YYYY-MM-DD HH24:MI')",
    "sqlite": "strftime('%Y-%m-%d %H:%M', {0})",
    "mysql": "DATE_FORMAT({0}, '%%Y-%%m-%%d %%H:%%i')",
    "mariadb": "DATE_FORMAT({0}, '%%Y-%%m-%%d %%H:%%i')",
}
"""A minute as text: on the session's clock, which is UTC, or as in the column."""

Counts = dict[tuple[int, str], int]
"""(minute since 1970-01-01T00:00Z, part) -> records."""


def source_counts(declared: Completeness, first: int, end: int, secrets: ConnectionSecrets) -> tuple[Counts, int]:
    """Records of the minutes `[first, end)`, and the minute up to which they are final.

    Raises ProbeError with the source's message without secrets, and IdentifierError.
    """
    if declared.kafka is not None:
        return _of_topic(declared.kafka, first, end, declared.timeout_seconds, secrets)
    counts: Counts = {}
    for query in declared.sql:
        for minute, records in _of_table(query, declared, (first, end), secrets):
            counts[minute, query.table] = counts.get((minute, query.table), 0) + records
    return counts, end


def _of_table(
    query: CountQuery, declared: Completeness, minutes: tuple[int, int], secrets: ConnectionSecrets
) -> list[tuple[int, int]]:
    zone = Zone.load(declared.time_zone) if declared.time_zone else None
    url = database_url(secrets.fill(query.url))
    dialect = url.get_backend_name()
    text = count_statement(query.table, declared.time_column, dialect)
    bounds = tuple(_bound(minute * _MINUTE, dialect, zone) for minute in minutes)
    try:
        with session(url, declared.timeout_seconds) as connection:
            rows = connection.exec_driver_sql(text, bounds).all()
    except (SQLAlchemyError, OSError) as error:
        words = secrets.mask(str(getattr(error, "orig", None) or error))
        raise ProbeError("the database did not answer", found=words[:300]) from None
    return [(_minute(str(minute), zone), int(records)) for minute, records in rows]


def count_statement(table: str, column: str, dialect: str) -> str:
    """The statement that counts records by minute between two bounds, the second excluded. Raises IdentifierError."""
    mark = "?" if dialect == "sqlite" else "%s"
    name, quoted = ".".join(quote_name(part, dialect) for part in table.split(".")), quote_name(column, dialect)
    minute = _MINUTE_OF[dialect].replace("{0}", quoted)
    where = f"{quoted} >= {mark} AND {quoted} < {mark}"
    return f"SELECT {minute}, count(*) FROM {name} WHERE {where} GROUP BY 1"  # noqa: S608 - every name is quoted


def _bound(instant: int, dialect: str, zone: Zone | None) -> object:
    """PostgreSQL has instants. A column without a zone is compared with times of its clock."""
    if dialect == "postgresql" and zone is None:
        return datetime.fromtimestamp(instant, UTC)
    offset = 0 if zone is None else zone.offset_at(instant)
    local = datetime.fromtimestamp(instant + offset, UTC).replace(tzinfo=None)
    return local.isoformat(" ") if dialect == "sqlite" else local


def _minute(text: str, zone: Zone | None) -> int:
    """The minute of a time. If a clock repeats an hour, it is the first of both, as in the lake."""
    reading = seconds_of(datetime.strptime(text, "%Y-%m-%d %H:%M").replace(tzinfo=UTC))
    return (reading if zone is None else zone.earliest(reading)) // _MINUTE


def _of_topic(source: KafkaProbe, first: int, end: int, seconds: int, secrets: ConnectionSecrets) -> tuple[Counts, int]:
    consumer = Consumer({**librdkafka(secrets.fill(source.servers)), **SETTINGS})
    try:
        topic = TopicOffsets(consumer, source.topic, seconds)
        instants = [datetime.fromtimestamp(minute * _MINUTE, UTC) for minute in range(first, end + 1)]
        offsets = [topic.offsets(instant) for instant in instants]
        highs = topic.highs()
    except KafkaException as error:
        raise ProbeError("the brokers did not answer", found=secrets.mask(str(error.args[0]))[:300]) from None
    finally:
        consumer.close()
    return offset_counts(source.topic, first, offsets, highs)


def offset_counts(topic: str, first: int, offsets: Sequence[Sequence[int]], highs: Sequence[int]) -> tuple[Counts, int]:
    """Counts from the offsets of each minute's first record: `offsets[minute - first][partition]`.

    Final up to the first minute from which on some partition has no record yet: an earlier record may still come.
    """
    counts: Counts = {}
    final = first
    for number, (starts, ends) in enumerate(pairwise(offsets)):
        for partition, high in enumerate(highs):
            counts[first + number, f"{topic}-{partition}"] = min(ends[partition], high) - min(starts[partition], high)
        if final == first + number and all(end < high for end, high in zip(ends, highs, strict=True)):
            final += 1
    return counts, final
