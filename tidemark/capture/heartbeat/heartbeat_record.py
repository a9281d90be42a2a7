"""A heartbeat in a topic, and the table's columns that reveal whether a connector changes values."""

from typing import Final, NamedTuple

# The heartbeat's table in each instance, and its column for the writer's time.
TABLE: Final = "heartbeat"
COLUMN: Final = "beat_at"


class KnownColumn(NamedTuple):
    """A column of the heartbeat's table with the same value in every row. A record with another value was altered.

    `declaration` and `value` are SQL. `sent` are the texts of the value in a record of Debezium and of Canal, empty for
    NULL. `setting` is the connector's right setting.
    """

    name: str
    declaration: str
    value: str
    sent: tuple[str, ...]
    setting: str


NULL: Final = KnownColumn("always_null", "INT DEFAULT 1", "NULL", (), "value.converter.replace.null.with.default=false")
KNOWN: Final = (
    NULL,
    KnownColumn(
        "known_decimal",
        "DECIMAL(20,4)",
        "1234567890123456.7891",
        ("1234567890123456.7891",),
        "decimal.handling.mode=string",
    ),
    KnownColumn(
        "known_datetime",
        "DATETIME(6)",
        "'2026-01-02 03:04:05.123456'",
        ("1767323045123456", "2026-01-02 03:04:05.123456"),
        "time.precision.mode=adaptive_time_microseconds",
    ),
    KnownColumn(
        "known_millis",
        "DATETIME(3)",
        "'2026-01-02 03:04:05.123'",
        ("1767323045123", "2026-01-02 03:04:05.123"),
        "time.precision.mode=adaptive_time_microseconds",
    ),
    KnownColumn(
        "known_time",
        "TIME",
        "'10:00:00'",
        ("36000000000", "10:00:00"),
        "time.precision.mode=adaptive_time_microseconds",
    ),
    KnownColumn("known_date", "DATE", "'0050-02-03'", ("-701232", "0050-02-03"), "enable.time.adjuster=false"),
    KnownColumn(
        "known_unsigned",
        "BIGINT UNSIGNED",
        "18446744073709551615",
        ("-1", "18446744073709551615"),
        "bigint.unsigned.handling.mode=long",
    ),
    KnownColumn(
        "known_binary",
        "VARBINARY(4)",
        "X'FBEFBE7E'",
        ("++++fg==", "\u00fb\u00ef\u00be~"),
        "binary.handling.mode=bytes",
    ),
    KnownColumn("known_tiny", "TINYINT(1)", "2", ("2",), "no converter of TINYINT(1) to BOOLEAN"),
)
"""One column for each connector setting that silently changes values."""


class Beat(NamedTuple):
    """A heartbeat's record in an instance's topic, with the writer's time (epoch ms).

    `server_ms` is the same moment on the server's clock, None if unknown.
    """

    offset: int
    beat_ms: int
    server_ms: int | None = None
