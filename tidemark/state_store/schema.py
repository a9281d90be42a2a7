"""The tables of the state store, as they are after the last migration (`steps/`).

Instants are whole microseconds since 1970-01-01T00:00Z; JSON is text, so that both databases keep it alike.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, LargeBinary, MetaData, String, Table, text

METADATA = MetaData()

MIGRATIONS = Table(
    "migrations",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("name", String, nullable=False),
    Column("applied_at", BigInteger, nullable=False),
)


def _snapshot_columns() -> tuple[Column[Any], ...]:
    """Of a version that stands, or is to stand, for a slice."""
    return (
        Column("entity", String, primary_key=True),
        Column("period", String, primary_key=True),
        Column("slice", String, primary_key=True),
        Column("version", BigInteger, nullable=False),
        Column("rows", BigInteger, nullable=False),
        Column("tagged_at", String, nullable=False),
        Column("generation", Integer, nullable=False, server_default="1"),
        Column("late_batch", BigInteger, nullable=False, server_default="0"),
        Column("restatement", BigInteger, nullable=False, server_default="0"),
        Column("late_until", BigInteger, nullable=False, server_default="0"),
    )


SNAPSHOTS = Table("snapshots", METADATA, *_snapshot_columns(), Index("snapshots_restatement", "restatement"))
"""`late_batch` is the number of the table's newest commit whose late changes belong to the snapshot, `restatement` the
number of its last restatement among all; both 0 where it was never restated. `late_until` (epoch ms) is the event time
until which late changes are waited for, 0 where that is over."""

CANDIDATES = Table(
    "snapshot_candidates",
    METADATA,
    *_snapshot_columns(),
    Column("verdict", String, nullable=False),
    Column("why", String, nullable=False),
)
"""What would be tagged once its blocking rules held; `verdict` is what they said so far, `why` what was found."""

RESTATEMENTS: Final = "restatements"
"""The cursor that numbers restatements, so that none has a number twice, also after tags were forgotten."""

TRANSITIONS = Table(
    "transitions",
    METADATA,
    Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("event_id", String, nullable=False, unique=True),
    Column("entity", String, nullable=False),
    Column("key", String, nullable=False),
    Column("sub", String, nullable=False),
    Column("event", String, nullable=False),
    Column("who", String, nullable=False),
    Column("why", String, nullable=False),
    Column("event_time", BigInteger, nullable=False),
    Column("record_time", BigInteger, nullable=False),
    Column("life", String, nullable=False),
    Column("states", String, nullable=False),
    Column("quality", String, nullable=False),
    Column("issues", String, nullable=False),
    Column("tainted", Boolean, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("run_id", String),
    Column("cluster", String),
    Column("row_count", BigInteger),
    Column("minimum", String),
    Column("maximum", String),
    Column("snapshot_id", String),
    Column("batch_id", String),
    Column("details", String),
    Index("transitions_of_slice", "entity", "key", "sub", "seq"),
)
"""Append-only: what happened to slices, each row with the status after it. `details` holds parameters, watermarks and
the manifest of a launch, where there are any."""

IS_OPEN: Final = text("(life IN ('waiting', 'ready', 'launched', 'running', 'failed') OR tainted)")
"""A slice for which something is still to be done: few, however long the past is."""

SLICES = Table(
    "slices",
    METADATA,
    Column("entity", String, primary_key=True),
    Column("key", String().with_variant(String(collation="C"), "postgresql"), primary_key=True),
    Column("sub", String, primary_key=True),
    Column("life", String, nullable=False),
    Column("states", String, nullable=False),
    Column("quality", String, nullable=False),
    Column("issues", String, nullable=False),
    Column("tainted", Boolean, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("run_id", String),
    Column("cluster", String),
    Index("slices_by_key", "key"),
    Index("slices_open", "seq", sqlite_where=IS_OPEN, postgresql_where=IS_OPEN),
)
"""A projection: the status after each slice's last transition, for reading in one go. `run_id` and `cluster` are those
of the slice's last run; `seq` 0 says that it waits, though nothing has happened to it. Keys sort by their bytes."""

SCHEDULE_CURSOR: Final = "schedule"

SCHEDULES = Table(
    "schedules",
    METADATA,
    Column("entity", String, primary_key=True),
    Column("schedule", String, nullable=False),
)
"""Of which entities, by what declaration, all slices were looked at whose time had come by the instant in the cursor
`schedule`: each has a row in `slices`."""

CURSORS = Table(
    "cursors",
    METADATA,
    Column("name", String, primary_key=True),
    Column("position", String, nullable=False),
)
"""How far each detector has read, written in the same transaction as what it read."""

LEASES = Table(
    "leases",
    METADATA,
    Column("name", String, primary_key=True),
    Column("holder", String, nullable=False),
    Column("fencing_token", BigInteger, nullable=False),
    Column("until", BigInteger, nullable=False),
    Column("wanted", Boolean, nullable=False),
    Column("process", String, nullable=False, server_default=""),
)
"""Who may do what only one may; `until` 0 is let go of, `wanted` that somebody with more right to it waits. `process`
is the holder's (system.process_identity), empty where only time tells that it is gone."""

VERSION_CLAIMS = Table(
    "version_claims",
    METADATA,
    Column("claim", String, primary_key=True),
    Column("location", String, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("who", String, nullable=False),
    Column("process", String, nullable=False),
    Column("until", BigInteger, nullable=False),
    Index("version_claims_by_location", "location"),
)
"""Versions of tables that somebody reads, each until its reader is done, dead, or has not renewed it in time."""

NOTES = Table(
    "notes",
    METADATA,
    Column("kind", String, primary_key=True),
    Column("name", String, primary_key=True),
    Column("content", String, nullable=False),
    Column("changed_at", BigInteger, nullable=False),
)
"""What processes of any host tell each other: the newest content by name. Its form is its kind's."""

JOURNAL = Table(
    "journal",
    METADATA,
    Column("kind", String, primary_key=True),
    Column("subject", String, primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("content", String, nullable=False),
    Column("added_at", BigInteger, nullable=False),
)
"""Entries about a subject, in the order of their numbers; never changed."""

SCAN_COUNTS = Table(
    "scan_counts",
    METADATA,
    Column("location", String, primary_key=True),
    Column("columns", String, primary_key=True),
    Column("day", Integer, primary_key=True, autoincrement=False),
    Column("scans", BigInteger, nullable=False),
)
"""How many scans of a table filtered by which columns together (JSON, sorted) on a day (since 1970, UTC)."""

CATALOG_TABLES = Table(
    "catalog_tables",
    METADATA,
    Column("entity", String, primary_key=True),
    Column("version", BigInteger, nullable=False),
    Column("stamp", String, nullable=False),
    Column("table_id", String, nullable=False),
    Column("committed_at", BigInteger, nullable=False),
    Column("rows", BigInteger, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("files", BigInteger, nullable=False),
    Column("vacuumed", BigInteger, nullable=False),
    Column("verified_at", BigInteger, nullable=False),
)
"""How far the log of each entity's table was read, and what the table held then. `stamp` tells the commit's file from
another one of that number, `table_id` the table from another one at its place; `vacuumed` is the last VACUUM that the
log told, -1 for none; `verified_at` is when the table's files were last looked for on disk, 0 for never."""

CATALOG_PARTITIONS = Table(
    "catalog_partitions",
    METADATA,
    Column("entity", String, primary_key=True),
    Column("key", String().with_variant(String(collation="C"), "postgresql"), primary_key=True),
    Column("sub", String, primary_key=True),
    Column("rows", BigInteger, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("files", Integer, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("is_suspect", Boolean, nullable=False),
    Column("contents", String, nullable=False),
    Index("catalog_partitions_suspect", "entity", sqlite_where=text("is_suspect"), postgresql_where=text("is_suspect")),
)
"""What each partition held at the version that was read, `version` being the last that changed it; key and sub are the
slice's. `is_suspect` where that may not be what its slice was written as; `contents` are its files, now and before."""

CATALOG_SCHEMAS = Table(
    "catalog_schemas",
    METADATA,
    Column("entity", String, primary_key=True),
    Column("version", BigInteger, primary_key=True),
    Column("changed_at", BigInteger, nullable=False),
    Column("columns", String, nullable=False),
)
"""Each schema that a table's log told, from the version on that brought it; columns are JSON, name to type."""

CATALOG_COUNTS = Table(
    "catalog_counts",
    METADATA,
    Column("entity", String, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("counts", String, nullable=False),
)
"""How many of an entity's slices were how after transition `seq`, as JSON: counted again once there are later ones."""

RECORD_COUNTS = Table(
    "record_counts",
    METADATA,
    Column("name", String, primary_key=True),
    Column("minute", BigInteger, primary_key=True, autoincrement=False),
    Column("side", String, primary_key=True),
    Column("part", String, primary_key=True),
    Column("records", BigInteger, nullable=False),
    Column("report", BigInteger, nullable=False),
    Index("record_counts_by_report", "report"),
)
"""How many records of a minute (since 1970) a part of the source, or of the lake, has; `report` numbers reports."""

COUNTED_LOGS = Table(
    "counted_logs",
    METADATA,
    Column("name", String, primary_key=True),
    Column("version", BigInteger, nullable=False),
    Column("stamp", String, nullable=False),
)
"""Up to which commit the lake's records of a table are counted."""

CODE_VERSIONS = Table(
    "code_versions",
    METADATA,
    Column("code", String, primary_key=True),
    Column("entity", String, primary_key=True),
    Column("content", String, nullable=False),
)
"""Each code that computed slices of an entity, as JSON; empty where nobody told more of it than its id."""

SLICE_CODES = Table(
    "slice_codes",
    METADATA,
    Column("entity", String, primary_key=True),
    Column("key", String().with_variant(String(collation="C"), "postgresql"), primary_key=True),
    Column("sub", String, primary_key=True),
    Column("code", String, nullable=False),
    Column("generation", Integer, nullable=False),
    Index("slice_codes_by_code", "code"),
)
"""By which code each slice was computed, in which generation of it: of another generation the code is not known."""

BACKFILLS = Table(
    "backfills",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("phase", String, nullable=False),
    Column("who", String, nullable=False),
    Column("why", String, nullable=False),
    Column("asked", String, nullable=False),
    Column("origin", String, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("planned_at", BigInteger, nullable=False),
    Column("changed_at", BigInteger, nullable=False),
    Index("backfills_by_origin", "origin"),
)
"""Backfills by number; `asked` is the request in words, `origin` what began it outside (`dagster:ID`). `revision` grows
where a person changed it or its slices: who holds it in memory reads it again, then."""

BACKFILL_SLICES = Table(
    "backfill_slices",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("entity", String, nullable=False),
    Column("key", String, nullable=False),
    Column("sub", String, nullable=False),
    Column("wave", Integer, nullable=False),
    Column("policy", String, nullable=False),
    Column("inputs", String, nullable=False),
    Column("progress", String, nullable=False),
    Column("why", String, nullable=False),
)
"""The slices of a backfill's plan, in its order. `inputs` is JSON: the places of those that it reads, of those that it
cannot go without, whether a person named it, and whether another system makes it."""

IS_OPEN_ALERT: Final = text("recovered_at = 0")

ALERTS = Table(
    "alerts",
    METADATA,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("kind", String, nullable=False),
    Column("cause", String, nullable=False),
    Column("message", String, nullable=False),
    Column("slices", String, nullable=False),
    Column("raised_at", BigInteger, nullable=False),
    Column("recovered_at", BigInteger, nullable=False),
    Index("alerts_open", "kind", "cause", unique=True, sqlite_where=IS_OPEN_ALERT, postgresql_where=IS_OPEN_ALERT),
)
"""What people are told of: one open alert a cause. `slices` (JSON) are all that it ever named; `recovered_at` 0 while
it is open."""

IS_TO_DELIVER: Final = text("state = 'pending'")

ALERT_DELIVERIES = Table(
    "alert_deliveries",
    METADATA,
    Column("alert", BigInteger, primary_key=True, autoincrement=False),
    Column("event", String, primary_key=True),
    Column("channel", String, primary_key=True),
    Column("state", String, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("due_at", BigInteger, nullable=False),
    Column("problem", String, nullable=False),
    Index("alert_deliveries_due", "due_at", sqlite_where=IS_TO_DELIVER, postgresql_where=IS_TO_DELIVER),
)
"""That an alert was raised, or recovered, told on one channel: written with the alert, sent later. One row each: what
was sent is not sent again."""

PROFILES = Table(
    "profiles",
    METADATA,
    Column("entity", String, primary_key=True),
    Column("key", String().with_variant(String(collation="C"), "postgresql"), primary_key=True),
    Column("sub", String, primary_key=True),
    Column("measured_at", BigInteger, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("figures", String, nullable=False),
    Column("sketches", LargeBinary),
    Column("history", String, nullable=False),
    Column("anomalies", String, nullable=False),
    Index("profiles_by_age", "measured_at"),
    Index(
        "profiles_anomalous", "entity", sqlite_where=text("anomalies <> ''"), postgresql_where=text("anomalies <> ''")
    ),
)
"""What the rows of each slice looked like when they were last checked, in a version of its table (-1: they were not
published). `figures` are JSON; `sketches` is the profile in the form that merges, for as long as it is kept.
`anomalies` (JSON, empty for none) are what was not as `history` lets expect."""

QUALITY_RESULTS = Table(
    "quality_results",
    METADATA,
    Column("entity", String, primary_key=True),
    Column("key", String().with_variant(String(collation="C"), "postgresql"), primary_key=True),
    Column("sub", String, primary_key=True),
    Column("rule", String, primary_key=True),
    Column("judged_at", String, primary_key=True),
    Column("severity", String, nullable=False),
    Column("outcome", String, nullable=False),
    Column("expected", String, nullable=False),
    Column("reason", String, nullable=False),
    Column("measured", String, nullable=False),
    Column("rows", BigInteger),
    Column("version", BigInteger),
    Column("late_batch", BigInteger, nullable=False),
    Column("table_state", String, nullable=False),
    Index("quality_results_by_version", "entity", "version"),
    Index("quality_results_by_time", "judged_at"),
)
"""What each rule said of each slice, each time that it was judged, for people to SELECT from. `judged_at` is ISO 8601
in UTC; `measured` is JSON; `version` is that of the slice's table that was judged, NULL where it was never published.
`table_state` tells that table and its schema from others, where a later version may be judged by what changed."""


WORKER_HOSTS = Table(
    "worker_hosts",
    METADATA,
    Column("name", String, primary_key=True),
    Column("identity", String, nullable=False),
    Column("fencing_token", BigInteger, nullable=False),
    Column("slots", Integer, nullable=False),
    Column("pools", String, nullable=False),
    Column("code", String, nullable=False),
    Column("running", Integer, nullable=False),
    Column("joined_at", BigInteger, nullable=False),
    Column("seen_at", BigInteger, nullable=False),
    Column("until", BigInteger, nullable=False),
)
"""The pools of warm workers that take runs, a host each. `identity` tells two machines of one name apart; each time
that a host joins it has the next fencing token. `until` is how long its word counts, 0 where it left or is given up."""

IS_OPEN_RUN: Final = text("ended_at = 0")

WORKER_RUNS = Table(
    "worker_runs",
    METADATA,
    Column("run_id", String, primary_key=True),
    Column("code", String, nullable=False),
    Column("asked_at", BigInteger, nullable=False),
    Column("host", String, nullable=False),
    Column("fencing_token", BigInteger, nullable=False),
    Column("taken_at", BigInteger, nullable=False),
    Column("told_at", BigInteger, nullable=False),
    Column("stop_wanted", Boolean, nullable=False),
    Column("lost_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger, nullable=False),
    Index("worker_runs_open", "asked_at", sqlite_where=IS_OPEN_RUN, postgresql_where=IS_OPEN_RUN),
)
"""Runs of warm workers where several hosts share the store: `host` is empty until one has taken the run, which that one
does once and for all. `code` is what has to be loaded to execute it. `lost_at` is when its host was given up: nothing
that the run does afterwards counts. `told_at` is when Dagster was last told something of it; 0 is never."""

ACCESS_TOKENS = Table(
    "access_tokens",
    METADATA,
    Column("id", String, primary_key=True),
    Column("name", String, nullable=False),
    Column("scopes", String, nullable=False),
    Column("digest", String, nullable=False),
    Column("created_by", String, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("revoked_at", BigInteger, nullable=False),
)
"""The tokens of callers. `id` is the part of a token that may be shown, `digest` the SHA-256 of the whole in hex.
`expires_at` is 0 for one that does not expire, `revoked_at` 0 until it is revoked. No row is ever deleted."""

AUDIT_LOG = Table(
    "audit_log",
    METADATA,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("at", BigInteger, nullable=False),
    Column("who", String, nullable=False),
    Column("source", String, nullable=False),
    Column("action", String, nullable=False),
    Column("subject", String, nullable=False),
    Column("why", String, nullable=False),
    Index("audit_log_by_time", "at"),
)
"""Who did what: a row is written before the action is done, never changed, and deleted by age alone. `who` is who was
authenticated, `source` where the request came from, `why` what the caller wrote."""
