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

INTERNAL: Final = frozenset({"name", "layer", "file", "computed"})
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
                "how long a slice is: `5min`, `10min`, `hour`, `day`, `week`, `month`, `quarter`, `year`; "
                "none for `kind: Static`",
                "period: hour",
            ),
            "kind": Key(
                "how the data relates to time: `TimeSeries` (the default), `Sliding`, `Snapshot`, `Static`, "
                "`Cumulative`, `Virtual` "
                "(another system makes it), `Project`, `View` (no table: its query is put into those that name it)",
                "kind: Virtual\nperiod: day",
            ),
            "description": Key("what a row is, for people", "period: day\ndescription: Orders of a course on a day."),
            "granularity": Key(
                "the stretch that a slice tells of, where it is not its period: month to date, computed every day",
                "kind: Cumulative\nperiod: day\ngranularity: month",
            ),
            "start": Key(
                "its first slice; earlier ones do not exist and are not waited for", "period: day\nstart: 2026-03-23"
            ),
            "end": Key(
                "slices that are not over by then do not exist", "period: day\nstart: 2026-03-23\nend: 2026-04-01"
            ),
            "time_zone": Key(
                "the zone whose clock cuts its slices (default: the project's)", "period: day\ntime_zone: Europe/Paris"
            ),
            "week_start": Key(
                "the first day of its weeks (default: the project's)", "period: week\nweek_start: sunday"
            ),
            "holidays": Key(
                "who tells workdays (`workday -1`, `last workday of month`): a country (`FR`), a region (`FR-57`) or a "
                "market (`XNYS`) of the library `holidays`, or `weekdays`, Monday to Friday (default: the project's). "
                "Of years that the library does not know yet only weekends are left out",
                "period: day\nholidays: FR\ndepends_on: [{entity: ods_rates, offset: workday -1}]",
            ),
            "tags": Key(
                "labels by which people and Dagster choose; `pool` names the pool of its runs",
                "period: day\ntags: {team: growth, pool: heavy}",
            ),
            "owner": Key(
                "who answers for it: an e-mail address or `team:name`", "period: day\nowner: data@school.example"
            ),
            "states": Key(
                "states that a slice reaches one after the other, each with what it waits for; `depends_on` "
                "alone is the state `completed`",
                "period: day\nstates:\n  - {entity_state: estimated, depends_on: [ods_clicks]}\n"
                "  - {entity_state: completed, depends_on: [ods_orders]}",
            ),
            "sub_partitions": Key(
                "dimensions that divide a slice: each value is waited for and computed by itself, by its "
                "own clock where it names a zone, and from its own `start` on. A value that lies `within` one of "
                "another dimension is combined with that alone (docs/regions.md)",
                "period: day\nsub_partitions:\n"
                "  region: {apac: {time_zone: Asia/Shanghai}, emea: {}, west: {time_zone: UTC-8, start: 2026-04-01}}\n"
                "  country: {cn: {within: apac}, fr: {within: emea, time_zone: Europe/Paris}, us: {within: west}}",
            ),
            "quorum": Key(
                "so many sub-partitions, or such a share of them, complete a business time: for the whole, and for who "
                "depends on all of them. One that comes later is computed into it by `reprocess`",
                "period: day\nquorum: 3\nsub_partitions: {region: [apac, gulf, emea, west]}",
            ),
            "partition_columns": Key(
                "the columns that tell the slice of a row, where they are not `dt`, `hour` and `minute`, each with its "
                "form: `date`; a text of `yyyy`, `MM`, `dd`, `HH` and `mm`; or `int` and such a text. A longer period "
                "leaves out those of units that it does not have",
                "period: hour\ntime_zone: UTC\npartition_columns: {ds: int yyyyMMdd, hh: HH}",
            ),
            "columns": Key(
                "the names of all other columns of a table that no query here computes: queries and column lineage "
                "know them before its first slice; without them column lineage looks at the table, where it is there",
                "period: day\nkind: Virtual\ncolumns: [user_id, city, clicks]",
            ),
            "quality": Key(
                "rules that a slice's rows must keep before others may read it (see below)",
                "period: day\nquality: [{unique: [course_id]}]",
            ),
            "profile": Key(
                "which columns of a slice are measured, or `off` (see below; default: all of computed slices, none of "
                "snapshots, which are whole tables)",
                "period: day\nprofile: off",
            ),
            "anomalies": Key(
                "what becomes of a slice whose profile is not as those before it let expect: `warn` shows it, `block` "
                "keeps the slice back as a broken rule does, `off` compares nothing",
                "period: day\nanomalies: block",
            ),
            "quality_on_anomaly": Key(
                "deeper rules, written as `quality`, which run only where the profile has an anomaly; one that is "
                "broken keeps the slice back, whatever `anomalies` says",
                "period: day\nquality_on_anomaly: [{unique: [order_id]}]",
            ),
            "probe": Key(
                "how a slice of `kind: Virtual` is looked at in the system that makes it (see below)",
                _probe("files: {path: '/data/clicks/dt={start:%Y-%m-%d}', marker: _SUCCESS}"),
            ),
            "completeness": Key(
                "where the records of a table are counted at their source; `probe: {counts: {of: ..}}` of other "
                "entities waits for them (see below)",
                _completeness(""),
            ),
            "ready_by": Key(
                "the time of day, in its zone, by which a slice is promised: `tidemark status` and "
                "an observation in Dagster tell of late ones; where there is no room for all, what has the smallest "
                "margin to a promise is launched first",
                'period: day\nready_by: "00:30"',
            ),
            "alert_margin": Key(
                "so long before `ready_by` a slice should be there: `tidemark baseline` calls a promise at risk that "
                "probably comes later (default: 0m)",
                'period: day\nready_by: "00:30"\nalert_margin: 10m',
            ),
            "notify": Key(
                "the channels on which alerts about its slices are told: `log`, and those that the setting `channels` "
                "names (default: [log]); in `project.yaml` for all entities (see docs/alerts.md)",
                'period: day\nready_by: "00:30"\nnotify: [log, growth_chat]',
            ),
            "priority": Key(
                "1 to 9 (default: 5): how much a promise matters; of equal margins `tidemark baseline` tells "
                "higher ones first",
                'period: day\nready_by: "00:30"\npriority: 8',
            ),
            "earliest": Key(
                "a slice does not start before: cron, in its zone (default: the end of its window)",
                'period: day\nearliest: "0 6 * * *"',
            ),
            "reprocess": Key(
                "what becomes of a slice when an input was computed again: `always` (the default), "
                "`if_changed`, `never`, `ask`",
                "period: day\nreprocess: if_changed",
            ),
            "project": Key(
                "the project (an entity of `kind: Project`) that it is part of", "period: day\nproject: growth"
            ),
            "source": Key("the physical tables of a captured table (see below)", _CAPTURED),
            "key": Key("the columns by which changes of a captured table are merged", _CAPTURED),
            "partition_by": Key(
                "the column that a captured table is stored by, a date", f"{_CAPTURED}\npartition_by: order_date"
            ),
            "cluster_by": Key(
                "at most four columns that filters use: files are kept clustered by them",
                "period: day\ncluster_by: [user_id]",
            ),
            "snapshot_of": Key(
                "another period's snapshots of a captured table: tags of its versions, no copy",
                "kind: Snapshot\nperiod: hour\nsnapshot_of: ods_orders",
            ),
            "late_events": Key(
                "what becomes of changes that come after the snapshot of their time was tagged: "
                "`next_snapshot` (the default) or `restate`",
                f"{_CAPTURED}\nlate_events: restate",
            ),
            "allowed_lateness": Key(
                "how long a snapshot waits for such changes", f"{_CAPTURED}\nallowed_lateness: 10m"
            ),
            "keep_snapshots": Key(
                "so many of the newest snapshots keep their tags (default: all)", f"{_CAPTURED}\nkeep_snapshots: 400"
            ),
            "series": Key(
                "entities of one name hold the same data, by different periods or judged one beside the other: trouble "
                "with one reaches the others",
                "period: hour\nseries: orders",
            ),
            "own_asset": Key(
                "whether an asset that the project writes itself computes it, whenever the center launches it",
                "period: day\nown_asset: true",
            ),
            "replicate": Key(
                "names of `replicas` in tidemark.yaml: to these lakes its slices are copied (see docs/replication.md)",
                "period: day\nreplicate: [center_b]",
            ),
            "refresh": Key(
                "what was made of its slices at names of `refresh_targets` in tidemark.yaml, and is refreshed as they "
                "change (see docs/refresh.md)",
                _REFRESH.format("keys: ['sales:{day}']"),
            ),
            "export": Key("whether each slice is published to the OLAP store", "period: day\nexport: true"),
        },
    ),
    Section(
        "What is refreshed",
        "An entry of `refresh`. Texts name the slice as those of a probe do, and by the longer periods that it lies "
        "in: `{hour}`, `{day}`, `{month}`, `{quarter}`, `{year}`.",
        Refresh,
        {
            "target": Key("a name of `refresh_targets`", _REFRESH.format("keys: ['sales:{day}']")),
            "table": Key("the table of a database that holds the slices' rows", _REFRESH.format("table: sales")),
            "view": Key(
                "a materialized view of a PostgreSQL database, computed after the tables",
                _REFRESH.format("view: sales_monthly"),
            ),
            "keys": Key(
                "names of keys of a Redis-protocol server; one with `*` is a pattern",
                _REFRESH.format("keys: ['sales:{day}', 'sales:{month}:*']"),
            ),
            "tags": Key(
                "sets of such keys; of an HTTP cache the surrogate keys of pages",
                _REFRESH.format("tags: ['sales-{day}']"),
            ),
            "paths": Key("pages of an HTTP cache", _REFRESH.format("paths: ['/sales/{day}']")),
            "when_invalid": Key(
                "whether the rows of an invalid slice leave the table: `remove` (the default) or `keep`",
                _REFRESH.format("table: sales, when_invalid: keep"),
            ),
        },
    ),
    Section(
        "A state",
        "An entry of `states`.",
        EntityState,
        {
            "entity_state": Key("the state's name", "period: day\nstates: [{entity_state: estimated}]"),
            "depends_on": Key("what it waits for", "period: day\ndepends_on: [ods_orders]"),
        },
    ),
    Section(
        "A dependency",
        "An entry of `depends_on`: an entity's name, or a mapping. Only what SQL and Python do not say is "
        "written down.",
        Dependency,
        {
            "entity": Key("the upstream entity", "period: day\ndepends_on: [ods_orders]"),
            "offset": Key(
                "which of its slices (see below); `dates` reads too",
                _of_dependency('{entity: ods_orders, offset: "Set -7,-1"}'),
            ),
            "states": Key(
                "the states that suffice (default: `completed`)",
                _of_dependency("{entity: ods_orders, states: [estimated, completed]}"),
            ),
            "weak": Key(
                "what suffices instead of all slices (see below)",
                _of_dependency("{entity: ods_clicks, offset: Range 0-23, weak: {at_least: 22, timeout: 2h}}"),
            ),
            "quality": Key(
                "`ignore` takes slices whose rules failed, too (default: `required`)",
                _of_dependency("{entity: ods_clicks, quality: ignore}"),
            ),
            "sub": Key(
                "which sub-partitions of the upstream", _of_dependency("{entity: clicks, sub: {region: [cn, eu]}}")
            ),
            "because": Key(
                "why it differs from what the SQL reads",
                _of_dependency('{entity: rates, offset: last_available, because: "rates come when they come"}'),
            ),
        },
    ),
    Section(
        "A weak dependency",
        "Each key that is given releases on its own; the slice is then `partial`, and says what was missing.",
        Weak,
        {
            "any_of": Key(
                "one slice suffices", _of_dependency("{entity: ods_clicks, offset: Range 0-23, weak: {any_of: true}}")
            ),
            "at_least": Key(
                "so many slices suffice, or such a share",
                _of_dependency("{entity: ods_clicks, offset: Range 0-23, weak: {at_least: 90%}}"),
            ),
            "timeout": Key(
                "so long after the slice's earliest time it goes on with what is there",
                _of_dependency("{entity: ods_clicks, weak: {timeout: 30min}}"),
            ),
        },
    ),
    Section(
        "A captured table's source",
        "[docs/capture.md](../capture.md) says what becomes of its rows, types and names.",
        CapturedSource,
        {
            "table": Key("`database.table`; `*` at its end stands for the shards' numbers", _CAPTURED),
            "instances": Key(
                "the servers that hold shards of it, as their topics `cdc.<instance>` name them", _CAPTURED
            ),
            "columns": Key(
                "which columns are captured: `include` or `exclude`",
                "kind: Snapshot\nperiod: day\nkey: [user_id]\nsource: {table: school.users, instances: [a], "
                "columns: {exclude: [password]}}",
            ),
            "start": Key(
                "where a table begins of which nothing is captured so far: `earliest`, the first change of the topics; "
                "`now`, with an initial load; or `{a: 120}`, an offset of each instance's topic",
                "kind: Snapshot\nperiod: day\nkey: [id]\nsource: {table: school.users, instances: [a], start: now}",
            ),
            "idle_after": Key(
                "without a change for so long the table is idle (default `10m`)",
                "kind: Snapshot\nperiod: day\nkey: [id]\nsource: {table: school.users, instances: [a], "
                "idle_after: 20m}",
            ),
            "broken_after": Key(
                "without a heartbeat for so long an instance is broken (default `5m`)",
                "kind: Snapshot\nperiod: day\nkey: [id]\nsource: {table: school.users, instances: [a], "
                "broken_after: 2m}",
            ),
        },
    ),
    Section(
        "How records are counted",
        "[docs/probes.md](../probes.md) says what windows are made of the counts. The source is `sql` or `kafka`.",
        Completeness,
        {
            "time_column": Key(
                "the column that tells the minute of a row, in the lake and at the source; it never changes in a row",
                _completeness(""),
            ),
            "time_zone": Key(
                "the clock of a column without a zone (default: UTC)",
                _completeness("sql: [{url: '${SHOP}', table: orders}]\n  time_zone: Europe/Paris"),
            ),
            "sql": Key("tables of PostgreSQL, MySQL, MariaDB or SQLite: the shards together", _completeness("")),
            "kafka": Key(
                "a topic, by its offsets at timestamps: one without transactions, whose records carry that time",
                _completeness("kafka: {servers: '${KAFKA}', topic: clicks}"),
            ),
            "capture": Key(
                "of a captured table: the capture's own counters, which its commits tell",
                "kind: Snapshot\nsource: {table: shop.orders, instances: [a]}\nkey: [order_id]\n"
                + _completeness("capture: true"),
            ),
            "settle_for": Key(
                "a minute's count is final so long after it is over (default `5m`)",
                _completeness("kafka: {servers: '${KAFKA}', topic: clicks}\n  settle_for: 10m"),
            ),
            "recount_for": Key(
                "so long it is counted again, as records come late (default `1h`)",
                _completeness("kafka: {servers: '${KAFKA}', topic: clicks}\n  recount_for: 6h"),
            ),
            "timeout_seconds": Key(
                "no count takes longer (default 20)",
                _completeness("kafka: {servers: '${KAFKA}', topic: clicks}\n  timeout_seconds: 60"),
            ),
        },
    ),
    Section(
        "A probe",
        "How an external slice is looked at: one of these sources. [docs/probes.md](../probes.md) says how and when. "
        "Texts name the slice by `{start:%Y-%m-%d}`, `{end:%H}`, `{key}` or a sub-partition's `{region}`; `${NAME}` is "
        "an environment variable.",
        Probe,
        {
            "delta": Key("a Delta table's partition", _probe(_DELTA)),
            "files": Key("a directory, or a prefix of an object store", _probe(_FILES)),
            "partitions": Key("folders as Hive names them", _probe(_HIVE)),
            "sql": Key("a table of PostgreSQL, MySQL, MariaDB or SQLite", _probe(_SQL)),
            "http": Key("a JSON document over HTTP", _probe(_HTTP)),
            "kafka": Key("a topic, by offsets at timestamps", _probe(_KAFKA)),
            "dagster": Key("an asset of this or another code location", _probe(_DAGSTER)),
            "counts": Key("counts of records that the source and the lake report", _probe(_COUNTS)),
            "own": Key("a probe of your own, by its entry point", _probe(_OWN)),
            "system": Key(
                "probes of one system share its limit and its circuit breaker (default: the source's address)",
                _probe(_HTTP, "system: partner"),
            ),
            "settle_for": Key(
                "what is there is believed once it stayed the same for so long (default `1m`)",
                _probe(_FILES, "settle_for: 10m"),
            ),
            "fresh_for": Key("nobody looks again sooner (default `1m`)", _probe(_FILES, "fresh_for: 5m")),
            "late_every": Key(
                "so often at least a late slice is looked for (default: half an hour; of counts a minute)",
                _probe(_FILES, "late_every: 5m"),
            ),
            "recheck_for": Key(
                "so long after its window's end a slice that is there is looked at still (default `0s`: not at all)",
                _probe(_FILES, "recheck_for: 7d"),
            ),
            "late": Key(
                "other data in place of what was there is a new generation that readers follow (`restate`, the "
                "default), or nobody looks at it (`keep`)",
                _probe(_FILES, "recheck_for: 7d\n  late: keep"),
            ),
            "timeout_seconds": Key("how long an answer may take (default 20)", _probe(_SQL, "timeout_seconds: 60")),
        },
    ),
    Section(
        "The probe `delta`",
        "By the table's log alone, without a scan.",
        DeltaProbe,
        {
            "table": Key("its path or URL", _probe(_DELTA)),
            "partition": Key("what its partition columns hold; one file has to be there", _probe(_DELTA)),
            "watermark": Key("a column in which some row is of the slice's end or later", _probe(_DELTA)),
            "replica_of": Key(
                "the table is a replica: the entity of the other center whose slices are waited for, each in the "
                "generation that was published last (see docs/replication.md)",
                _probe("delta: {table: 's3://lake-b/warehouse/clicks', replica_of: clicks}"),
            ),
            "options": Key("settings of the object store", _probe(_DELTA)),
        },
    ),
    Section(
        "The probe `files`",
        "Names that begin with `_` or `.` hold no data.",
        FilesProbe,
        {
            "path": Key("the folder", _probe(_FILES)),
            "marker": Key("a file that says that all others are there", _probe(_FILES)),
            "manifest": Key("a file that names the others, a line each, with their sizes or without", _probe(_FILES)),
            "at_least": Key("so many files (default 1)", _probe(_FILES)),
        },
    ),
    Section(
        "The probe `partitions`",
        "`dt=2026-03-29/hour=03` below a folder.",
        PartitionsProbe,
        {
            "path": Key("the table's folder", _probe(_HIVE)),
            "partition": Key("the columns, in the order of the folders", _probe(_HIVE)),
        },
    ),
    Section(
        "The probe `sql`",
        "One aggregate, read-only.",
        SqlProbe,
        {
            "url": Key("the database, as SQLAlchemy writes it", _probe(_SQL)),
            "table": Key("the table, with its schema", _probe(_SQL)),
            "partition": Key("columns that hold these texts in the slice's rows", _probe(_SQL)),
            "time_column": Key(
                "a column whose time lies in the slice's window; without a zone it is UTC", _probe(_SQL)
            ),
            "watermark": Key("a column in which some row is of the slice's end or later", _probe(_SQL)),
        },
    ),
    Section(
        "The probe `http`",
        "A status of 404 says that nothing is there yet; redirects are not followed.",
        HttpProbe,
        {
            "url": Key("the document", _probe(_HTTP)),
            "field": Key("the field that tells, by its way through the document", _probe(_HTTP)),
            "equals": Key("what it holds once the slice is there (default `true`)", _probe(_HTTP)),
            "rows": Key("the field that counts the slice's rows", _probe(_HTTP)),
            "headers": Key("sent with the question", _probe(_HTTP)),
        },
    ),
    Section(
        "The probe `kafka`",
        "Each partition of the topic holds a record of the slice's end or later. TIDEMARK_KAFKA_... say how to log in.",
        KafkaProbe,
        {
            "servers": Key("bootstrap servers", _probe(_KAFKA)),
            "topic": Key("the topic", _probe(_KAFKA)),
        },
    ),
    Section(
        "The probe `dagster`",
        "A materialization of an asset that others own releases our slices.",
        DagsterProbe,
        {
            "asset": Key("the asset's key, with slashes", _probe(_DAGSTER)),
            "partition": Key("what its partition is called; without it any materialization counts", _probe(_DAGSTER)),
            "each": Key("the asset's own period: all of its partitions in the slice's window", _probe(_DAGSTER)),
        },
    ),
    Section(
        "The probe `counts`",
        "Records of the source against records of the lake, slot by slot: `tidemark counts` takes them in.",
        CountsProbe,
        {
            "of": Key("the name under which they are reported", _probe(_COUNTS)),
            "at_least": Key("the lake's share, and no more too many (default `99.995%`)", _probe(_COUNTS)),
            "slot_minutes": Key("how long a slot is that is compared (default 5)", _probe(_COUNTS)),
            "phase": Key("the minute of the day, in UTC, at which a slot begins (default 0)", _probe(_COUNTS)),
            "late": Key(
                "when counts of a complete slice come late: `restate` asks for it again (the default), `keep` does not",
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
            "settings": Key("what the function gets, variables filled in", _probe(_OWN)),
        },
    ),
    Section(
        "Profiles",
        "What is written below `profile`.",
        ProfileSettings,
        {
            "columns": Key("only these columns (default: all)", "period: day\nprofile: {columns: [order_id, city]}"),
            "exclude": Key("all but these columns", "period: day\nprofile: {exclude: [payload]}"),
            "max_columns": Key(
                "no more than so many columns, the first ones of the table (default: 32); 0 is `off`",
                "period: day\nprofile: {max_columns: 100}",
            ),
        },
    ),
    Section(
        "Keys of every rule",
        "Entries of `quality`. All rules of a run's slices are counted in one pass over the files that were written, "
        "before they are the table's; `referential` and `query` are a job of their own for each slice, and so is the "
        "source's side of `reconcile`. `not_null` and `unique` may be a list of columns. A rule that crashes is "
        "unknown: it does not hold.",
        QualityRule,
        {
            "severity": Key(
                "`block` (the default) keeps a slice that breaks the rule from being published; `warn` tells of it",
                _rule("not_null: {columns: [gmv], severity: warn}"),
            ),
            "where": Key(
                "the rows that the rule is about, an SQL condition (not of `query`, `reconcile` and `drift`)",
                _rule("unique: {columns: [payment_id], where: status = 'paid'}"),
            ),
            "quarantine": Key(
                "rows that break it are kept, up to 10,000, as JSON with the slice and the rule, in a Delta table that "
                "the check names; of rules about single rows",
                _rule("range: {column: gmv, min: 0, quarantine: true}"),
            ),
        },
    ),
    Section(
        "The rule `not_null`",
        "An entry of `quality`.",
        NotNull,
        {"columns": Key("no row has NULL in them", _rule("not_null: [course_id, gmv]"))},
    ),
    Section(
        "The rule `unique`",
        "An entry of `quality`.",
        Unique,
        {"columns": Key("no two rows of a slice have the same values", _rule("unique: [course_id]"))},
    ),
    Section(
        "The rule `row_count`",
        "An entry of `quality`.",
        RowCount,
        {
            "min": Key("a slice has at least so many rows", _rule("row_count: {min: 1}")),
            "max": Key("and at most so many", _rule("row_count: {min: 1, max: 5000}")),
            "growth": Key(
                "how far from the number of the slice before, as a share", _rule("row_count: {min: 1, growth: 0.5}")
            ),
            "same_weekday": Key(
                "how far from the median of the same time one to four weeks before, as a share (of days and shorter); "
                "slices that are not there are not compared with",
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
            "values": Key("what it may hold", _rule("accepted_values: {column: status, values: [paid, open]}")),
        },
    ),
    Section(
        "The rule `range`",
        "An entry of `quality`. NULL passes.",
        WithinRange,
        {
            "column": Key("the column", _rule("range: {column: gmv, min: 0}")),
            "min": Key(
                "the least value, or a date or time as text", _rule('range: {column: paid_on, min: "2020-01-01"}')
            ),
            "max": Key("the greatest value", _rule("range: {column: rate, min: 0, max: 1}")),
        },
    ),
    Section(
        "The rule `pattern`",
        "An entry of `quality`. NULL passes.",
        Pattern,
        {
            "column": Key("the column", _rule("pattern: {column: email, matches: '^[^@]+@[^@]+$'}")),
            "matches": Key(
                "a regular expression (Java's), found anywhere in the text",
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
                "a condition in SQL that holds for each row; NULL passes, as in a CHECK constraint",
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
                "the columns of a row that point at the other entity",
                _rule("referential: {columns: [course_id], entity: dwd_course}"),
            ),
            "entity": Key(
                "the other entity, in the slices that this one reads of it",
                _rule("referential: {columns: [course_id], entity: dwd_course}"),
            ),
            "key": Key(
                "its columns (default: of the same names)",
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
                "its newest value is not longer before the slice's end",
                _rule("freshness: {column: paid_at, within: 2h}"),
            ),
        },
    ),
    Section(
        "The rule `drift`",
        "An entry of `quality`, about a slice's profile: cumulative shares of a number or time (Kolmogorov-Smirnov), "
        "the shares of a text or flag (total variation, of at most 48 values), against those of the same weekday of "
        "four weeks before (of weeks and longer, of the four slices before), where their sketches are kept; the median "
        "counts. What chance gives with so many rows is taken off; a holiday is compared with nothing.",
        Drift,
        {
            "column": Key("a column that is profiled", _rule("drift: {column: amount, severity: warn}")),
            "at_most": Key(
                "how far its distribution may be from theirs: 0 is the same, 1 no value in common (default 0.1)",
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
                "a query that gives no row; `slice_rows` are the rows of the slice, beside them what the entity reads",
                _rule('query: {no_rows: "SELECT city FROM slice_rows GROUP BY city HAVING sum(gmv) < 0"}'),
            )
        },
    ),
    Section(
        "The rule `reconcile`",
        "An entry of `quality`: two ways to one figure.",
        Reconcile,
        {
            "value": Key(
                "an expression over the slice's rows",
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
                "how far they may differ, as a share (default 0)",
                _rule('reconcile: {value: sum(gmv), equals: "SELECT 1", tolerance: 0.001}'),
            ),
        },
    ),
)

OFFSETS: Final = (
    ("Set 0", "the upstream slice of the same time; of a shorter period, the first one in the window"),
    ("Set -1", "the one before: T-1"),
    ("Set -7,-1", "the seventh before and the one before, and none between them"),
    ("Range -6..0", "seven slices, the last one of the same time"),
    ("Range 0-23", "the first 24 slices of a shorter period: the hours of a day (of 23 or 25 hours all of them)"),
    (
        "Set 2 once",
        "without what the clock shows for the second time: `hour = '02'` reads no `02+01:00`, which `Set 2` names too",
    ),
    ("all", "every upstream slice in the window: the days of a month"),
    ("all week", "every upstream slice in the week that the window lies in"),
    ("to_date", "from the start of the entity's granularity to the window's end"),
    ("to_date month", "from the start of the month to the window's end"),
    (
        "all day -1",
        "every upstream slice of the day before: its hours, be they 23, 24 or 25 (`hours of day -1` reads too)",
    ),
    ("all day -6..0", "of seven days; `all month -1`: of the month before; `all week -2,-1`: of the two weeks before"),
    ("first of month", "the first upstream slice of the month; `last of month -1`: the last one of the month before"),
    ("Set 14 of month", "counted from the first upstream slice of the month: the fifteenth of daily ones"),
    (
        "date -1 year",
        "the same date a year ago (of 29 February, the 28th); of hours also the same hour: `date -7 day`, a week ago",
    ),
    (
        "to_date month -1",
        "of the month before, up to the same date; `to_date year -1,0`: this year and last year, each to date",
    ),
    (
        "workday -1",
        "the last workday before the slice's date, by the entity's `holidays`; 0 is that date, if it is one",
    ),
    ("last workday of month", "`first workday of month -1`: of the month before; of hours all of that day"),
    ("date -12,-1,0 month", "the same date a year and a month ago, and the slice's own"),
    ("since start", "from the upstream's `start` to the window's end; `since 2024-01-01`: from that day on"),
    ("last_available", "the newest one that ended by the window's end and is there"),
    ("static", "the one slice of an entity without periods"),
)
"""Offsets count in the upstream's periods, from the first upstream slice of the downstream's window."""

PARAMETERS: Final = (
    ("biz_date", "every period", "the local date on which the slice begins, a DATE"),
    ("biz_hour", "`hour` and shorter", "the hour as in the column `hour`, a text: `07`"),
    ("biz_minute", "`5min`, `10min`", "the minute as in the column `minute`, a text: `05`"),
    ("period_start", "every period", "the instant at which the slice begins, a TIMESTAMP"),
    ("period_end", "every period", "the instant at which it ends, not included"),
)
