"""The tables of the state store after the last migration (`steps/`).

Instants are whole microseconds since 1970-01-01T00:00Z; JSON is text, so that both databases store it alike.
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
    """Columns of a version that is, or will be, a slice's snapshot."""
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
"""Tags of snapshots. `late_batch` is the number of the table's newest commit whose late changes belong to the snapshot.
`restatement` numbers restatements of all tags. Both are 0 if the snapshot was never restated. Until the event time
`late_until` (epoch ms), the snapshot waits for late changes; 0 means that this is over."""

CANDIDATES = Table(
    "snapshot_candidates",
    METADATA,
    *_snapshot_columns(),
    Column("verdict", String, nullable=False),
    Column("why", String, nullable=False),
)
"""Versions to tag when their blocking rules pass; `verdict` is the result so far, `why` the reason."""

RESTATEMENTS: Final = "restatements"
"""The counter of restatements: numbers stay unique even after tags were deleted."""

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
"""Append-only: events of slices, each row with the status after it.

`details` has parameters, watermarks and the manifest of a launch.
"""

IS_OPEN: Final = text("(life IN ('waiting', 'ready', 'launched', 'running', 'failed') OR tainted)")
"""Slices with work left: few, however long the history is."""

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
"""A projection: the status after each slice's last transition.

`run_id` and `cluster` are those of the slice's last run; `seq` 0 means that it waits without any event. Keys sort by
bytes.
"""

SCHEDULE_CURSOR: Final = "schedule"

SCHEDULES = Table(
    "schedules",
    METADATA,
    Column("entity", String, primary_key=True),
    Column("schedule", String, nullable=False),
)
"""Entities, with their declaration, whose slices are scheduled up to the instant in the cursor `schedule`.

Each of these has a row in `slices`.
"""

CURSORS = Table(
    "cursors",
    METADATA,
    Column("name", String, primary_key=True),
    Column("position", String, nullable=False),
)
"""The position of each detector, written in the same transaction as the events."""

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
"""Holders of exclusive rights; `until` 0 means released, `wanted` that a preferred candidate waits.

`process` is the holder's process (system.process_identity), empty if only time shows that it has ended.
"""

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
"""Table versions in use by readers, each until its reader is done, dead, or has not renewed it in time."""

NOTES = Table(
    "notes",
    METADATA,
    Column("kind", String, primary_key=True),
    Column("name", String, primary_key=True),
    Column("content", String, nullable=False),
    Column("changed_at", BigInteger, nullable=False),
)
"""Notes between processes on any host: the newest content by name, in the format of its kind."""

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
"""The number of scans of a table by combination of filter columns (JSON, sorted) and day (since 1970, UTC)."""

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
"""The last position in the log of each entity's table, and the table's contents at that version.

`stamp` identifies the commit file, `table_id` the table; `vacuumed` is the last VACUUM in the log, or -1; `verified_at`
is the last time that the files were checked on disk, or 0.
"""

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
"""Contents of each partition at the read version.

`version` is the last one that changed it, key and sub are the slice's. `is_suspect` means that it may differ from its
slice; `contents` are its files, now and before.
"""

CATALOG_SCHEMAS = Table(
    "catalog_schemas",
    METADATA,
    Column("entity", String, primary_key=True),
    Column("version", BigInteger, primary_key=True),
    Column("changed_at", BigInteger, nullable=False),
    Column("columns", String, nullable=False),
)
"""Each schema in a table's log, from the version that introduced it; columns are JSON, name to type."""

CATALOG_COUNTS = Table(
    "catalog_counts",
    METADATA,
    Column("entity", String, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("counts", String, nullable=False),
)
"""The number of an entity's slices by state after transition `seq`, as JSON; counted again after later transitions."""

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
"""The number of records of a minute (since 1970) in a part of the source or the lake; `report` numbers reports."""

COUNTED_LOGS = Table(
    "counted_logs",
    METADATA,
    Column("name", String, primary_key=True),
    Column("version", BigInteger, nullable=False),
    Column("stamp", String, nullable=False),
)
"""The last commit whose records are counted, by table."""

CODE_VERSIONS = Table(
    "code_versions",
    METADATA,
    Column("code", String, primary_key=True),
    Column("entity", String, primary_key=True),
    Column("content", String, nullable=False),
)
"""Each code that computed slices of an entity, as JSON; empty if only its id was reported."""

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
"""The code that computed each slice, with the generation: for another generation the code is unknown."""

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
"""Backfills by number; `asked` is the request in words, `origin` what started it outside (`dagster:ID`).

`revision` grows with a change by a user, so that the center reads it again.
"""

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
"""The slices of a backfill's plan, in order.

`inputs` is JSON: the places of its inputs and of its strong inputs, whether a user named it, and whether another system
makes it.
"""

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
"""Alerts: one open alert for each cause.

`slices` (JSON) are all slices that it ever named; `recovered_at` is 0 while it is open.
"""

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
"""Deliveries of raised and recovered alerts by channel: written with the alert, sent later. Each row is sent once."""

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
"""The profile of each slice at its last check, in a version of its table (-1: not published).

`figures` are JSON; `sketches` is the mergeable form, for as long as it is kept. `anomalies` (JSON, empty for none) are
the differences from the usual pattern.
"""

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
"""Results of each rule for each check of a slice, for SQL queries by users.

`judged_at` is ISO 8601 in UTC; `measured` is JSON; `version` is the checked version of the slice's table, NULL if it
was never published. `table_state` identifies the table and its schema if a later version may be checked by its changes
only.
"""


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
"""Pools of warm workers, one for each host.

`identity` distinguishes machines with one name; each join gets the next fencing token. `until` is the end of the host's
lease, 0 after it left or was given up.
"""

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
"""Runs of warm workers if several hosts share the store. `host` is empty until a host takes the run; no other host
takes it later. `code` identifies the code that the host must have loaded. `lost_at` is when the host was given up:
later results of the run are refused. `told_at` is when the run was last reported to Dagster, or 0."""

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
"""The tokens of callers. Rows are never deleted. `id` is the public part of a token, `digest` the SHA-256 of the whole
token in hex. `expires_at` is 0 if it never expires, `revoked_at` is 0 if it is not revoked."""

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
"""The audit log. A row is written before its action, never changed, and deleted only when it is old. `who` is the
authenticated identity, `source` the origin of the request, `why` the caller's reason."""
