"""Every key of a declaration, what it means and an example that the parser takes.

The models say which keys there are: a key without an entry here fails the test, and so does an entry without a key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tidemark.dependency_model.entity.completeness import Completeness
from tidemark.dependency_model.entity.dependency import Dependency, Weak
from tidemark.dependency_model.entity.entity import CapturedSource, Entity, EntityState
from tidemark.dependency_model.entity.probe import (
    CountsProbe,
    DagsterProbe,
    DeltaProbe,
    FilesProbe,
    HttpProbe,
    KafkaProbe,
    OwnProbe,
    PartitionsProbe,
    Probe,
    SqlProbe,
)
from tidemark.dependency_model.entity.profile_settings import ProfileSettings
from tidemark.dependency_model.entity.quality_rules import (
    AcceptedValues,
    Drift,
    Expression,
    Freshness,
    NoRows,
    NotNull,
    Pattern,
    QualityRule,
    Reconcile,
    Referential,
    RowCount,
    Unique,
    WithinRange,
)
from tidemark.dependency_model.entity.refresh import Refresh

INTERNAL: Final = frozenset({"name", "layer", "file", "computed", "rule_inputs"})
"""What the files themselves say."""


@dataclass(frozen=True)
class Key:
    """What a key means, and a whole declaration that has it."""

    meaning: str
    example: str


@dataclass(frozen=True)
class Section:
    """The keys of one model."""

    title: str
    intro: str
    model: type
    keys: dict[str, Key]


def _of_dependency(text: str) -> str:
    return f"period: day\ndepends_on:\n  - {text}"


def _rule(text: str) -> str:
    return f"period: day\nquality:\n  - {text}"


def _completeness(more: str) -> str:
    query = "sql: [{url: '${SHOP}', table: shop.orders_0}, {url: '${SHOP}', table: shop.orders_1}]"
    return f"period: day\nstart: 2026-03-23\ncompleteness:\n  time_column: created_at\n  {more or query}"


def _probe(*lines: str) -> str:
    return "\n  ".join(["kind: Virtual\nperiod: hour\nprobe:", *lines])


_DELTA: Final = (
    "delta: {table: 's3://lake/clicks', partition: {dt: '{start:%Y-%m-%d}'}, watermark: clicked_at, "
    "options: {AWS_SECRET_ACCESS_KEY: '${LAKE_SECRET}'}}"
)
_FILES: Final = "files: {path: '/data/clicks/{start:%Y-%m-%d}', marker: _SUCCESS, manifest: _FILES, at_least: 4}"
_HIVE: Final = "partitions: {path: /data/clicks, partition: {dt: '{start:%Y-%m-%d}', hour: '{start:%H}'}}"
_SQL: Final = (
    "sql: {url: '${PARTNER_DB}', table: public.clicks, partition: {site: eu}, time_column: clicked_at, "
    "watermark: clicked_at}"
)
_HTTP: Final = (
    "http: {url: 'https://partner.example/days/{start:%Y-%m-%d}', field: data.state, equals: done, rows: data.rows, "
    "headers: {Authorization: 'Bearer ${PARTNER_TOKEN}'}}"
)
_KAFKA: Final = "kafka: {servers: 'broker:9092', topic: clicks}"
_DAGSTER: Final = "dagster: {asset: team/clicks, partition: '{start:%Y-%m-%d-%H:%M}', each: 5min}"
_COUNTS: Final = "counts: {of: clicks, at_least: 99.99%, slot_minutes: 10, phase: 8, late: keep}"
_OWN: Final = "own: {entry_point: ftp_drop, settings: {host: partner.example}}"

_REFRESH: Final = "period: day\nrefresh: [{{target: serving, {}}}]"
_CAPTURED: Final = 'kind: Snapshot\nperiod: day\nsource: {table: "school.orders_*", instances: [a, b]}\nkey: [order_id]'

SECTIONS: Final = (
    Section(
        "An entity",
        "A file `warehouse_assets/<layer>/<entity>.yaml`. Keys of `warehouse_assets/project.yaml` are "
        "defaults of all entities: "
        "`time_zone`, `week_start`, `holidays`, `start`, `end`, `owner`, `tags`, `reprocess`, `project`.",
        Entity,
        {
            "period": Key(
                (
                    "the length of a slice: `5min`, `10min`, `hour`, `day`, `week`, `month`, `quarter`, `year`; "
                    "not for `kind: Static`"
                ),
                "period: hour",
            ),
            "kind": Key(
                (
                    "how the data relates to time: `TimeSeries` (the default), `Sliding`, `Snapshot`, `Static`, "
                    "`Cumulative`, `Virtual` (made by another system), `Project`, `View` (not a table: its query "
                    "is inserted into the queries that name it)"
                ),
                "kind: Virtual\nperiod: day",
            ),
            "description": Key("what a row is, in words", "period: day\ndescription: Orders of a course on a day."),
            "granularity": Key(
                (
                    "the time span that a slice covers, if it is not the period: for example the month to date, "
                    "computed every day"
                ),
                "kind: Cumulative\nperiod: day\ngranularity: month",
            ),
            "start": Key(
                "the first slice; earlier slices do not exist and nothing waits for them",
                "period: day\nstart: 2026-03-23",
            ),
            "end": Key("slices that end later do not exist", "period: day\nstart: 2026-03-23\nend: 2026-04-01"),
            "time_zone": Key(
                "the time zone of the slices (default: the project's)", "period: day\ntime_zone: Europe/Paris"
            ),
            "week_start": Key("the first day of the week (default: the project's)", "period: week\nweek_start: sunday"),
            "holidays": Key(
                (
                    "the calendar of workdays (`workday -1`, `last workday of month`): a country (`FR`), a region "
                    "(`FR-57`) or a market (`XNYS`) of the library `holidays`, or `weekdays`, Monday to Friday "
                    "(default: the project's). For years that the library does not know yet, only weekends are "
                    "days off"
                ),
                "period: day\nholidays: FR\ndepends_on: [{entity: ods_rates, offset: workday -1}]",
            ),
            "tags": Key(
                "labels for selections in Dagster and on the command line; `pool` names the pool of its runs",
                "period: day\ntags: {team: growth, pool: heavy}",
            ),
            "owner": Key(
                "the person or team in charge: an e-mail address or `team:name`",
                "period: day\nowner: data@school.example",
            ),
            "states": Key(
                (
                    "states that a slice reaches one after the other, each with its dependencies; `depends_on` "
                    "alone is the state `completed`"
                ),
                "period: day\nstates:\n  - {entity_state: estimated, depends_on: [ods_clicks]}\n"
                "  - {entity_state: completed, depends_on: [ods_orders]}",
            ),
            "sub_partitions": Key(
                (
                    "dimensions that divide a slice into parts. Each part is waited for and computed separately, "
                    "in its own time zone if it names one, and from its own `start` on. A value that lies "
                    "`within` a value of another dimension is combined only with that one (docs/regions.md)"
                ),
                "period: day\nsub_partitions:\n"
                "  region: {apac: {time_zone: Asia/Shanghai}, emea: {}, west: {time_zone: UTC-8, start: 2026-04-01}}\n"
                "  country: {cn: {within: apac}, fr: {within: emea, time_zone: Europe/Paris}, us: {within: west}}",
            ),
            "quorum": Key(
                (
                    "the number or share of sub-partitions that complete a business time, for the whole and for "
                    "entities that depend on all parts. A part that comes later follows `reprocess`"
                ),
                "period: day\nquorum: 3\nsub_partitions: {region: [apac, gulf, emea, west]}",
            ),
            "partition_columns": Key(
                (
                    "the columns that name the slice of a row, instead of `dt`, `hour` and `minute`, each with "
                    "its form: `date`; a text of `yyyy`, `MM`, `dd`, `HH` and `mm`; or `int` and such a text. A "
                    "longer period leaves out the columns of shorter units"
                ),
                "period: hour\ntime_zone: UTC\npartition_columns: {ds: int yyyyMMdd, hh: HH}",
            ),
            "columns": Key(
                (
                    "the names of all other columns of a table that no query in the project computes. Queries and "
                    "column lineage then know them before the first slice; without this key column lineage reads "
                    "the existing table. In a table with a `source`: the columns to copy, each with or without its type"
                ),
                'period: day\nsource: landing/{dt}.csv\ncolumns: {user_id: BIGINT, city: , paid: "DECIMAL(12, 2)"}',
            ),
            "quality": Key(
                "rules that the rows of a slice must pass before others read it (see below)",
                "period: day\nquality: [{unique: [course_id]}]",
            ),
            "profile": Key(
                (
                    "the columns that are measured in each slice, or `off` (see below; default: all columns of "
                    "computed slices, none of snapshots)"
                ),
                "period: day\nprofile: off",
            ),
            "anomalies": Key(
                (
                    "what to do with a slice whose profile differs from the usual pattern: `warn` shows it, "
                    "`block` holds the slice back like a failed rule, `off` turns the comparison off"
                ),
                "period: day\nanomalies: block",
            ),
            "quality_on_anomaly": Key(
                (
                    "rules as in `quality` that run only if the profile has an anomaly. A failed rule holds the "
                    "slice back, whatever `anomalies` is"
                ),
                "period: day\nquality_on_anomaly: [{unique: [order_id]}]",
            ),
            "probe": Key(
                "how to look for a slice of `kind: Virtual` in the system that makes it (see below)",
                _probe("files: {path: '/data/clicks/dt={start:%Y-%m-%d}', marker: _SUCCESS}"),
            ),
            "completeness": Key(
                (
                    "how to count the records of a table at their source. Entities with `probe: {counts: {of: "
                    "..}}` wait for these counts (see below)"
                ),
                _completeness(""),
            ),
            "ready_by": Key(
                (
                    "the promise: the time of day, in the entity's zone, by which a slice is ready. `tidemark "
                    "status` and an observation in Dagster show late slices. If pools are full, the slice with "
                    "the smallest margin to a promise is launched first"
                ),
                'period: day\nready_by: "00:30"',
            ),
            "alert_margin": Key(
                (
                    "the time before `ready_by` at which a slice should be ready. `tidemark baseline` calls a "
                    "promise at risk if the slice will probably be later (default: 0m)"
                ),
                'period: day\nready_by: "00:30"\nalert_margin: 10m',
            ),
            "notify": Key(
                (
                    "the channels that receive alerts about its slices: `log`, and names of the setting "
                    "`channels` (default: [log]); in `project.yaml` for all entities (see docs/alerts.md)"
                ),
                'period: day\nready_by: "00:30"\nnotify: [log, growth_chat]',
            ),
            "priority": Key(
                (
                    "the importance of a promise, 1 to 9 (default: 5). If margins are equal, `tidemark baseline` "
                    "shows higher ones first"
                ),
                'period: day\nready_by: "00:30"\npriority: 8',
            ),
            "earliest": Key(
                (
                    "a slice does not start before this time: cron, in the entity's zone (default: the end of its "
                    "window)"
                ),
                'period: day\nearliest: "0 6 * * *"',
            ),
            "reprocess": Key(
                (
                    "what happens to a slice when an input was computed again: `always` (the default), "
                    "`if_changed`, `never`, `ask`"
                ),
                "period: day\nreprocess: if_changed",
            ),
            "project": Key("its project (an entity of `kind: Project`)", "period: day\nproject: growth"),
            "task_id": Key(
                "its id in another scheduler: the subject `taskId=1234` names it", "period: day\ntask_id: 1234"
            ),
            "source": Key(
                (
                    "the rows that are copied into the table: a path of files, or `files`, `sql`, `delta` or `kafka` "
                    "with the keys of a probe ([Sources](../sources.md)); for a captured table, its physical tables "
                    "(see below)"
                ),
                "period: day\nsource: landing/orders/{dt}/*.csv",
            ),
            "key": Key("the columns that identify a row when changes are merged into a captured table", _CAPTURED),
            "partition_by": Key(
                "the date column by which a captured table is partitioned", f"{_CAPTURED}\npartition_by: order_date"
            ),
            "cluster_by": Key(
                "up to four columns that filters use. Files are kept clustered by them",
                "period: day\ncluster_by: [user_id]",
            ),
            "snapshot_of": Key(
                "snapshots of a captured table with another period: tags of its versions, without a copy",
                "kind: Snapshot\nperiod: hour\nsnapshot_of: ods_orders",
            ),
            "late_events": Key(
                (
                    "what to do with changes that come after the snapshot of their time was tagged: "
                    "`next_snapshot` (the default) or `restate`"
                ),
                f"{_CAPTURED}\nlate_events: restate",
            ),
            "allowed_lateness": Key(
                "how long a snapshot waits for late changes", f"{_CAPTURED}\nallowed_lateness: 10m"
            ),
            "keep_snapshots": Key(
                "how many of the newest snapshots keep their tags (default: all)", f"{_CAPTURED}\nkeep_snapshots: 400"
            ),
            "series": Key(
                (
                    "entities with the same name here hold the same data, for example with different periods. An "
                    "invalid slice of one invalidates the slices of the others at that time"
                ),
                "period: hour\nseries: orders",
            ),
            "own_asset": Key(
                "whether an asset in your own code computes it. The center launches the asset",
                "period: day\nown_asset: true",
            ),
            "center": Key(
                "the center that computes the table; in other centers it is a replica, until `tidemark take-over` "
                "(see docs/replication.md). Without it, each center computes the table",
                "period: day\ncenter: center_a\nreplicate: [center_b]",
            ),
            "replicate": Key(
                ("names of `replicas` in tidemark.yaml: slices are copied to these lakes (see docs/replication.md)"),
                "period: day\nreplicate: [center_b]",
            ),
            "read_by": Key(
                (
                    "other formats in which the table can be read without a copy: `iceberg` keeps Iceberg metadata "
                    "with a tag for each slice (see docs/engines.md). `project.yaml` may have it for all tables"
                ),
                "period: day\nread_by: [iceberg]",
            ),
            "refresh": Key(
                (
                    "copies of its slices in other systems, by names of `refresh_targets` in tidemark.yaml. They "
                    "are refreshed when a slice changes (see docs/refresh.md)"
                ),
                _REFRESH.format("keys: ['sales:{day}']"),
            ),
            "export": Key("whether each slice is published to the OLAP store", "period: day\nexport: true"),
        },
    ),
    Section(
        "What is refreshed",
        (
            "An entry of `refresh`. Texts may contain the fields of a probe, and the longer periods "
            "around the slice: `{hour}`, `{day}`, `{month}`, `{quarter}`, `{year}`."
        ),
        Refresh,
        {
            "target": Key("a name of `refresh_targets`", _REFRESH.format("keys: ['sales:{day}']")),
            "table": Key(
                "the table in the database that holds the rows of the slices", _REFRESH.format("table: sales")
            ),
            "view": Key(
                "a materialized view of a PostgreSQL database, refreshed after the tables",
                _REFRESH.format("view: sales_monthly"),
            ),
            "keys": Key(
                "names of keys on a Redis-protocol server; a name with `*` is a pattern",
                _REFRESH.format("keys: ['sales:{day}', 'sales:{month}:*']"),
            ),
            "tags": Key(
                "sets of such keys; for an HTTP cache, the surrogate keys of pages",
                _REFRESH.format("tags: ['sales-{day}']"),
            ),
            "paths": Key("pages of an HTTP cache", _REFRESH.format("paths: ['/sales/{day}']")),
            "when_invalid": Key(
                ("whether the rows of an invalid slice are removed from the table: `remove` (the default) or `keep`"),
                _REFRESH.format("table: sales, when_invalid: keep"),
            ),
        },
    ),
    Section(
        "A state",
        "An entry of `states`.",
        EntityState,
        {
            "entity_state": Key("the name of the state", "period: day\nstates: [{entity_state: estimated}]"),
            "depends_on": Key("its dependencies", "period: day\ndepends_on: [ods_orders]"),
        },
    ),
    Section(
        "A dependency",
        ("An entry of `depends_on`: the name of an entity, or a mapping. Write only what SQL or Python does not show."),
        Dependency,
        {
            "entity": Key("the upstream entity", "period: day\ndepends_on: [ods_orders]"),
            "offset": Key(
                "the slices of the upstream (see below); `dates` is another name of this key",
                _of_dependency('{entity: ods_orders, offset: "Set -7,-1"}'),
            ),
            "states": Key(
                "states that are sufficient (default: `completed`)",
                _of_dependency("{entity: ods_orders, states: [estimated, completed]}"),
            ),
            "weak": Key(
                "what is sufficient instead of all slices (see below)",
                _of_dependency("{entity: ods_clicks, offset: Range 0-23, weak: {at_least: 22, timeout: 2h}}"),
            ),
            "quality": Key(
                "`ignore` also accepts slices whose rules failed (default: `required`)",
                _of_dependency("{entity: ods_clicks, quality: ignore}"),
            ),
            "sub": Key(
                "the sub-partitions of the upstream", _of_dependency("{entity: clicks, sub: {region: [cn, eu]}}")
            ),
            "beyond": Key(
                (
                    "`start` or `end` of this table's window, that the high watermark of each slice must have reached: "
                    "the earliest time in the `watermarks` of a probe or report, else the end of the slice"
                ),
                _of_dependency("{entity: dim_users, offset: last_available, beyond: end}"),
            ),
            "because": Key(
                "why the offset differs from what the SQL reads",
                _of_dependency('{entity: rates, offset: last_available, because: "rates come when they come"}'),
            ),
        },
    ),
    Section(
        "A weak dependency",
        ("Each key releases the slice by itself. The slice is then `partial`, and says what was missing."),
        Weak,
        {
            "any_of": Key(
                "one slice is sufficient",
                _of_dependency("{entity: ods_clicks, offset: Range 0-23, weak: {any_of: true}}"),
            ),
            "at_least": Key(
                "the number or share of slices that is sufficient",
                _of_dependency("{entity: ods_clicks, offset: Range 0-23, weak: {at_least: 90%}}"),
            ),
            "timeout": Key(
                "how long after its earliest time a slice waits. Then it runs with the inputs that are there",
                _of_dependency("{entity: ods_clicks, weak: {timeout: 30min}}"),
            ),
        },
    ),
    Section(
        "A captured table's source",
        "[Capture](../capture.md) explains what becomes of rows, types and names.",
        CapturedSource,
        {
            "table": Key("`database.table`; `*` at the end stands for the numbers of the shards", _CAPTURED),
            "instances": Key("the servers that hold shards, named as in their topics `cdc.<instance>`", _CAPTURED),
            "columns": Key(
                "the captured columns: `include` or `exclude`",
                "kind: Snapshot\nperiod: day\nkey: [user_id]\nsource: {table: school.users, instances: [a], "
                "columns: {exclude: [password]}}",
            ),
            "start": Key(
                (
                    "where a new table begins: `earliest`, the first change of the topics; `now`, with an initial "
                    "load; or `{a: 120}`, an offset of each instance's topic"
                ),
                "kind: Snapshot\nperiod: day\nkey: [id]\nsource: {table: school.users, instances: [a], start: now}",
            ),
            "idle_after": Key(
                "the table is idle after this time without a change (default `10m`)",
                "kind: Snapshot\nperiod: day\nkey: [id]\nsource: {table: school.users, instances: [a], "
                "idle_after: 20m}",
            ),
            "broken_after": Key(
                "an instance is broken after this time without a heartbeat (default `5m`)",
                "kind: Snapshot\nperiod: day\nkey: [id]\nsource: {table: school.users, instances: [a], "
                "broken_after: 2m}",
            ),
        },
    ),
    Section(
        "How records are counted",
        ("[Probes](../probes.md#completeness-by-counts) explains windows and counts. The source is `sql` or `kafka`."),
        Completeness,
        {
            "time_column": Key(
                ("the column with the time of a row, in the lake and at the source. It must never change in a row"),
                _completeness(""),
            ),
            "time_zone": Key(
                "the time zone of a column without a zone (default: UTC)",
                _completeness("sql: [{url: '${SHOP}', table: orders}]\n  time_zone: Europe/Paris"),
            ),
            "sql": Key("tables of PostgreSQL, MySQL, MariaDB or SQLite; the shards are added up", _completeness("")),
            "kafka": Key(
                (
                    "a topic, counted by its offsets at timestamps. Its records must carry the time of the row, "
                    "and it must not have transactions"
                ),
                _completeness("kafka: {servers: '${KAFKA}', topic: clicks}"),
            ),
            "capture": Key(
                "for a captured table: the counts in the capture's commits",
                "kind: Snapshot\nsource: {table: shop.orders, instances: [a]}\nkey: [order_id]\n"
                + _completeness("capture: true"),
            ),
            "settle_for": Key(
                "the count of a minute is final this long after the minute's end (default `5m`)",
                _completeness("kafka: {servers: '${KAFKA}', topic: clicks}\n  settle_for: 10m"),
            ),
            "recount_for": Key(
                "how long it is counted again, for late records (default `1h`)",
                _completeness("kafka: {servers: '${KAFKA}', topic: clicks}\n  recount_for: 6h"),
            ),
            "timeout_seconds": Key(
                "the time limit of a count (default 20)",
                _completeness("kafka: {servers: '${KAFKA}', topic: clicks}\n  timeout_seconds: 60"),
            ),
        },
    ),
    Section(
        "A probe",
        (
            "How to look for an external slice: one of these sources. [Probes](../probes.md) explains "
            "when. The `source:` of a table has the same keys. Texts name the slice by `{dt}`, "
            "`{start:%Y-%m-%d}`, `{end:%H}`, `{key}` or a sub-partition's "
            "`{region}`; `${NAME}` is an environment variable."
        ),
        Probe,
        {
            "delta": Key("a partition of a Delta table", _probe(_DELTA)),
            "files": Key("a directory, or a prefix of an object store", _probe(_FILES)),
            "partitions": Key("folders with Hive's names", _probe(_HIVE)),
            "sql": Key("a table of PostgreSQL, MySQL, MariaDB or SQLite", _probe(_SQL)),
            "http": Key("a JSON document over HTTP", _probe(_HTTP)),
            "kafka": Key("a topic, by offsets at timestamps", _probe(_KAFKA)),
            "dagster": Key("an asset of this or another code location", _probe(_DAGSTER)),
            "counts": Key("counts of records in the source and in the lake", _probe(_COUNTS)),
            "own": Key("a probe of your own, by its entry point", _probe(_OWN)),
            "system": Key(
                (
                    "probes with the same system share a limit and a circuit breaker (default: the address of the "
                    "source)"
                ),
                _probe(_HTTP, "system: partner"),
            ),
            "settle_for": Key(
                "a slice is complete when its data has not changed for this time (default `1m`)",
                _probe(_FILES, "settle_for: 10m"),
            ),
            "ready_after": Key(
                "the time between the end of the window and the first look (default: none)",
                _probe(_FILES, "ready_after: 30m"),
            ),
            "fresh_for": Key("the shortest time between two looks (default `1m`)", _probe(_FILES, "fresh_for: 5m")),
            "late_every": Key(
                ("the longest time between two looks at a late slice (default: 30 minutes; for counts one minute)"),
                _probe(_FILES, "late_every: 5m"),
            ),
            "recheck_for": Key(
                "how long after its window a complete slice is looked at (default `0s`: not at all)",
                _probe(_FILES, "recheck_for: 7d"),
            ),
            "late": Key(
                (
                    "what to do with changed data of a complete slice: `restate` (the default) makes a new "
                    "generation, `keep` ignores it"
                ),
                _probe(_FILES, "recheck_for: 7d\n  late: keep"),
            ),
            "timeout_seconds": Key("the time limit of an answer (default 20)", _probe(_SQL, "timeout_seconds: 60")),
        },
    ),
    Section(
        "The probe `delta`",
        "It reads only the log of the table, without a scan.",
        DeltaProbe,
        {
            "table": Key("the path or URL of the table", _probe(_DELTA)),
            "partition": Key("the values of the partition columns; at least one file must exist", _probe(_DELTA)),
            "time_column": Key(
                "a column with a time inside the slice's window; without a zone it is on the entity's clock",
                _probe("delta: {table: 's3://lake/clicks', time_column: clicked_at, watermark: clicked_at}"),
            ),
            "at_least": Key(
                "the least number of rows in the window, or of files (default 1); 0 if a slice may be empty",
                _probe("delta: {table: 's3://lake/clicks', time_column: at, watermark: at, at_least: 0}"),
            ),
            "watermark": Key("a column that must have a value at the slice's end or later", _probe(_DELTA)),
            "replica_of": Key(
                (
                    "for a replica: the entity in the other center. A slice is complete when its newest "
                    "generation is published (see docs/replication.md)"
                ),
                _probe("delta: {table: 's3://lake-b/warehouse/clicks', replica_of: clicks}"),
            ),
            "options": Key("settings of the object store", _probe(_DELTA)),
        },
    ),
    Section(
        "The probe `files`",
        "Names that begin with `_` or `.` are not data.",
        FilesProbe,
        {
            "path": Key("the folder, a file, or a pattern of files such as `{dt}/*.csv`", _probe(_FILES)),
            "marker": Key("a file that exists when all other files are there", _probe(_FILES)),
            "manifest": Key(
                "a file that lists the other files, one on each line, with or without sizes", _probe(_FILES)
            ),
            "at_least": Key("the smallest number of files (default 1)", _probe(_FILES)),
        },
    ),
    Section(
        "The probe `partitions`",
        "Folders such as `dt=2026-03-29/hour=03`.",
        PartitionsProbe,
        {
            "path": Key("the folder of the table", _probe(_HIVE)),
            "partition": Key("the partition columns, in the order of the folders", _probe(_HIVE)),
        },
    ),
    Section(
        "The probe `sql`",
        "One aggregate query, read-only.",
        SqlProbe,
        {
            "url": Key("the database, as a SQLAlchemy URL", _probe(_SQL)),
            "table": Key("the table, with its schema", _probe(_SQL)),
            "partition": Key("columns with the values that the slice's rows have", _probe(_SQL)),
            "time_column": Key(
                "a column with a time inside the slice's window; without a zone it is in UTC", _probe(_SQL)
            ),
            "watermark": Key("a column that must have a value at the slice's end or later", _probe(_SQL)),
            "at_least": Key(
                "the least number of rows (default 1); 0 if a slice may be empty",
                _probe("sql: {url: '${DB}', table: clicks, time_column: at, watermark: at, at_least: 0}"),
            ),
        },
    ),
    Section(
        "The probe `http`",
        "A status of 404 means that the slice is not there yet. Redirects are not followed.",
        HttpProbe,
        {
            "url": Key("the document", _probe(_HTTP)),
            "field": Key("the path of the field that shows whether the slice is there", _probe(_HTTP)),
            "equals": Key("the value of the field when the slice is there (default `true`)", _probe(_HTTP)),
            "rows": Key("the path of the field with the number of rows", _probe(_HTTP)),
            "headers": Key("headers of the request", _probe(_HTTP)),
        },
    ),
    Section(
        "The probe `kafka`",
        (
            "A slice is there when each partition of the topic has a record at the slice's end or later. "
            "TIDEMARK_KAFKA_... hold the login."
        ),
        KafkaProbe,
        {
            "servers": Key("bootstrap servers", _probe(_KAFKA)),
            "topic": Key("the topic", _probe(_KAFKA)),
        },
    ),
    Section(
        "The probe `dagster`",
        "A materialization of an asset in another code location releases the slice.",
        DagsterProbe,
        {
            "asset": Key("the asset's key, with slashes", _probe(_DAGSTER)),
            "partition": Key(
                "the name of its partition; without this key any materialization counts", _probe(_DAGSTER)
            ),
            "each": Key(
                "the period of the asset: all its partitions in the slice's window must be there", _probe(_DAGSTER)
            ),
        },
    ),
    Section(
        "The probe `counts`",
        ("Compares records of the source with records of the lake, slot by slot. `tidemark counts` reads counts."),
        CountsProbe,
        {
            "of": Key("the name under which counts are reported", _probe(_COUNTS)),
            "at_least": Key(
                (
                    "the share of the source's records that the lake must have; it may not have more than the "
                    "source plus the same margin (default `99.995%`)"
                ),
                _probe(_COUNTS),
            ),
            "slot_minutes": Key("the length of a slot in minutes (default 5)", _probe(_COUNTS)),
            "phase": Key("the minute of the day, in UTC, at which a slot begins (default 0)", _probe(_COUNTS)),
            "late": Key(
                (
                    "what late counts of a complete slice do: `restate` (the default) makes the slice wait and be "
                    "computed again, `keep` does nothing"
                ),
                _probe(_COUNTS),
            ),
        },
    ),
    Section(
        "The probe `own`",
        "A function behind an entry point of the group `tidemark.probes`.",
        OwnProbe,
        {
            "entry_point": Key("its name", _probe(_OWN)),
            "settings": Key("arguments of the function; variables are filled in", _probe(_OWN)),
        },
    ),
    Section(
        "Profiles",
        "The keys below `profile`.",
        ProfileSettings,
        {
            "columns": Key("only these columns (default: all)", "period: day\nprofile: {columns: [order_id, city]}"),
            "exclude": Key("all columns except these", "period: day\nprofile: {exclude: [payload]}"),
            "max_columns": Key(
                ("the largest number of columns; the first ones of the table are used (default: 32); 0 is `off`"),
                "period: day\nprofile: {max_columns: 100}",
            ),
        },
    ),
    Section(
        "Keys of every rule",
        (
            "Entries of `quality`. All rules of a run are counted in one pass over the new files, before "
            "they are published. `referential` and `query` are a separate job for each slice, and so is "
            "the source's side of `reconcile`. `not_null` and `unique` may be a list of columns. A rule "
            "that crashes has an unknown result, which does not count as passed."
        ),
        QualityRule,
        {
            "severity": Key(
                (
                    "`block` (the default): a slice that breaks the rule is not published; `warn`: it is "
                    "published with a warning"
                ),
                _rule("not_null: {columns: [gmv], severity: warn}"),
            ),
            "where": Key(
                "an SQL condition that selects the rows to check (not for `query`, `reconcile` and `drift`)",
                _rule("unique: {columns: [payment_id], where: status = 'paid'}"),
            ),
            "quarantine": Key(
                (
                    "for rules about single rows: rows that break the rule are stored, up to 10,000, as JSON with "
                    "the slice and the rule, in a Delta table that the check names"
                ),
                _rule("range: {column: gmv, min: 0, quarantine: true}"),
            ),
        },
    ),
    Section(
        "The rule `not_null`",
        "An entry of `quality`.",
        NotNull,
        {"columns": Key("columns without NULL", _rule("not_null: [course_id, gmv]"))},
    ),
    Section(
        "The rule `unique`",
        "An entry of `quality`.",
        Unique,
        {
            "columns": Key(
                "columns whose values together are different in all rows of a slice", _rule("unique: [course_id]")
            )
        },
    ),
    Section(
        "The rule `row_count`",
        "An entry of `quality`.",
        RowCount,
        {
            "min": Key("the smallest number of rows", _rule("row_count: {min: 1}")),
            "max": Key("the largest number of rows", _rule("row_count: {min: 1, max: 5000}")),
            "growth": Key(
                "the largest difference from the slice before, as a share", _rule("row_count: {min: 1, growth: 0.5}")
            ),
            "same_weekday": Key(
                (
                    "the largest difference from the median of the same time one to four weeks before, as a share "
                    "(for days and shorter periods). Missing slices are left out"
                ),
                _rule("row_count: {same_weekday: 0.3}"),
            ),
        },
    ),
    Section(
        "The rule `accepted_values`",
        "An entry of `quality`.",
        AcceptedValues,
        {
            "column": Key("the column", _rule("accepted_values: {column: status, values: [paid, open]}")),
            "values": Key("the allowed values", _rule("accepted_values: {column: status, values: [paid, open]}")),
        },
    ),
    Section(
        "The rule `range`",
        "An entry of `quality`. NULL passes.",
        WithinRange,
        {
            "column": Key("the column", _rule("range: {column: gmv, min: 0}")),
            "min": Key(
                "the smallest value; a date or time is written as text",
                _rule('range: {column: paid_on, min: "2020-01-01"}'),
            ),
            "max": Key("the largest value", _rule("range: {column: rate, min: 0, max: 1}")),
        },
    ),
    Section(
        "The rule `pattern`",
        "An entry of `quality`. NULL passes.",
        Pattern,
        {
            "column": Key("the column", _rule("pattern: {column: email, matches: '^[^@]+@[^@]+$'}")),
            "matches": Key(
                "a regular expression (Java) that must match somewhere in the text",
                _rule("pattern: {column: city, matches: '^[A-Z]'}"),
            ),
        },
    ),
    Section(
        "The rule `expression`",
        "An entry of `quality`.",
        Expression,
        {
            "holds": Key(
                "an SQL condition that must be true for each row; NULL passes, as in a CHECK constraint",
                _rule("expression: {holds: paid_at >= created_at}"),
            )
        },
    ),
    Section(
        "The rule `referential`",
        "An entry of `quality`. NULL passes.",
        Referential,
        {
            "columns": Key(
                "the columns that refer to the other entity",
                _rule("referential: {columns: [course_id], entity: dwd_course}"),
            ),
            "entity": Key(
                "the other entity; the rule uses the slices that this entity reads of it",
                _rule("referential: {columns: [course_id], entity: dwd_course}"),
            ),
            "key": Key(
                "the columns of the other entity (default: the same names)",
                _rule("referential: {columns: [course_id], entity: dwd_course, key: [id]}"),
            ),
        },
    ),
    Section(
        "The rule `freshness`",
        "An entry of `quality`.",
        Freshness,
        {
            "column": Key("a column of times", _rule("freshness: {column: paid_at, within: 2h}")),
            "within": Key(
                "the longest time from its newest value to the slice's end",
                _rule("freshness: {column: paid_at, within: 2h}"),
            ),
        },
    ),
    Section(
        "The rule `drift`",
        (
            "An entry of `quality` about a slice's profile. It compares cumulative shares of a number or "
            "time (Kolmogorov-Smirnov), or the shares of a text or flag (total variation, up to 48 "
            "values), with the same weekday of the four weeks before (for weeks and longer: with the four "
            "slices before), if their sketches are stored. The median counts. The difference that chance "
            "explains with this number of rows is subtracted. Holidays are not compared."
        ),
        Drift,
        {
            "column": Key("a column with a profile", _rule("drift: {column: amount, severity: warn}")),
            "at_most": Key(
                ("the largest difference of the distributions: 0 is equal, 1 is without a common value (default 0.1)"),
                _rule("drift: {column: amount, at_most: 0.2}"),
            ),
        },
    ),
    Section(
        "The rule `query`",
        "An entry of `quality`.",
        NoRows,
        {
            "no_rows": Key(
                (
                    "a query that must give no rows; `slice_rows` are the rows of the slice, and it may read the "
                    "entity's inputs"
                ),
                _rule('query: {no_rows: "SELECT city FROM slice_rows GROUP BY city HAVING sum(gmv) < 0"}'),
            )
        },
    ),
    Section(
        "The rule `reconcile`",
        "An entry of `quality`: compares two ways to compute one figure.",
        Reconcile,
        {
            "value": Key(
                "an expression over the rows of the slice",
                _rule(
                    'reconcile: {value: sum(gmv), equals: "SELECT sum(amount) FROM ods_orders WHERE dt = :biz_date"}'
                ),
            ),
            "equals": Key(
                "a query over its inputs",
                _rule(
                    'reconcile: {value: sum(gmv), equals: "SELECT sum(amount) FROM ods_orders WHERE dt = :biz_date"}'
                ),
            ),
            "tolerance": Key(
                "the largest difference, as a share (default 0)",
                _rule('reconcile: {value: sum(gmv), equals: "SELECT 1", tolerance: 0.001}'),
            ),
        },
    ),
)

OFFSETS: Final = (
    ("Set 0", "the upstream slice of the same time; for a shorter period, the first one in the window"),
    ("Set -1", "the slice before: T-1"),
    ("Set -7,-1", "the seventh slice before and the slice before, without those between"),
    ("Range -6..0", "seven slices, up to the one of the same time"),
    (
        "Range 0-23",
        ("the first 24 slices of a shorter period: the hours of a day (on days of 23 or 25 hours all of them)"),
    ),
    (
        "Set 2 once",
        ("without the repeated hour in autumn: `hour = '02'` does not read `02+01:00`, and `Set 2` does"),
    ),
    ("all", "every upstream slice in the window: the days of a month"),
    ("all week", "every upstream slice in the week around the window"),
    ("to_date", "from the start of the entity's granularity to the window's end"),
    ("to_date month", "from the start of the month to the window's end"),
    (
        "all day -1",
        ("every upstream slice of the day before: its 23, 24 or 25 hours (`hours of day -1` is the same)"),
    ),
    (
        "all day -6..0",
        ("every slice of seven days; `all month -1`: of the month before; `all week -2,-1`: of the two weeks before"),
    ),
    ("first of month", "the first upstream slice of the month; `last of month -1`: the last one of the month before"),
    ("Set 14 of month", "counted from the first upstream slice of the month: the fifteenth for days"),
    (
        "date -1 year",
        (
            "the same date a year ago (28 February for 29 February); for hours also the same hour: `date "
            "-7 day`, a week ago"
        ),
    ),
    (
        "to_date month -1",
        ("the month before, up to the same date; `to_date year -1,0`: this year and last year, each to date"),
    ),
    (
        "workday -1",
        (
            "the last workday before the slice's date, by the entity's `holidays`; 0 is the date itself, "
            "if it is a workday"
        ),
    ),
    ("last workday of month", "`first workday of month -1`: of the month before; for hours, all hours of that day"),
    ("date -12,-1,0 month", "the same date a year ago and a month ago, and the slice's own date"),
    ("since start", "from the upstream's `start` to the window's end; `since 2024-01-01`: from that day on"),
    ("last_available", "the newest completed slice that ended by the window's end"),
    ("static", "the one slice of an entity without periods"),
)
"""Offsets count in the upstream's periods, from the first upstream slice of the downstream's window."""

PARAMETERS: Final = (
    ("biz_date", "every period", "the local date on which the slice begins, a DATE"),
    ("biz_hour", "`hour` and shorter", "the hour as in the column `hour`, a text: `07`"),
    ("biz_minute", "`5min`, `10min`", "the minute as in the column `minute`, a text: `05`"),
    ("period_start", "every period", "the start of the slice, a TIMESTAMP"),
    ("period_end", "every period", "the end of the slice, not included, a TIMESTAMP"),
)
