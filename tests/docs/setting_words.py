"""What each setting is for; where the default is not a constant, what it is in words."""

from __future__ import annotations

from typing import Final

_FUNCTIONS: Final = (
    "functions for queries: `{days_before: {arguments: [d, n], sql: 'date_sub(d, n)'}}` replaces "
    "each call. `equals` instead of `sql` describes how a function of Spark treats dates; "
    "`returns` is a type; JSON in the environment"
)
SETTINGS: Final[dict[str, tuple[str, str]]] = {
    "root": ("found upwards", "the project's folder, as `--root`"),
    "data": ("`data` in the project", "the folder of logs, caches and the embedded stores"),
    "landing": ("`landing` in the data folder", "the folder of change files that are captured without Kafka"),
    "warehouse": (
        "`warehouse` in the data folder",
        (
            "the folder of the tables: a path, `s3://bucket/prefix`, `gs://...` or `abfss://...` "
            "(docs/object-store.md), or `hdfs://host:port/prefix` (docs/hdfs.md)"
        ),
    ),
    "state_db": ("`state.db` in the data folder", "the file of the state store, if `state` does not name a server"),
    "dagster_home": ("`dagster_home` in the project", "Dagster's own storage; the variable is `DAGSTER_HOME`"),
    "layers": ("", "the folders of `warehouse_assets`"),
    "schemas": (
        "none",
        ("names that may stand before the name of a table in a query, as its layer may: `prod.dwd_orders`"),
    ),
    "center": (
        "none",
        "the name of this center, as others call its lake in `replicas`, for `center` in a declaration",
    ),
    "replicas": (
        "none",
        (
            "other lakes for `replicate` in a declaration: `{center_b: {lake: s3://other/warehouse, "
            "mb_per_second: 50}}`; JSON in the environment (docs/replication.md)"
        ),
    ),
    "refresh_targets": (
        "none",
        (
            "databases, caches and receivers for `refresh` in a declaration: `{cache: {kind: redis}}`; "
            "JSON in the environment. Their addresses are in `TIDEMARK_TARGET_<NAME>` (docs/refresh.md)"
        ),
    ),
    "channels": (
        "none",
        (
            "channels for alerts, in addition to `log`. Their addresses are in `TIDEMARK_CHANNEL_<NAME>` "
            "(docs/alerts.md)"
        ),
    ),
    "forecast_seconds": ("", "the shortest time between two forecasts of promises, and between two checks for alerts"),
    "state": (
        "the file `state_db`",
        "the state store on a server: `postgresql+psycopg2://user:password@host/database`",
    ),
    "kafka": (
        "none",
        ("bootstrap servers `host:9092,...`: changes are read from topics `cdc.<instance>` instead of files"),
    ),
    "reports_topic": ("none", "a topic on these servers from which `tidemark center` reads reports"),
    "connect": (
        "none",
        ("the address of Kafka Connect, `http://host:8083`; `capture check` and `capture status` show its connectors"),
    ),
    "canal": ("none", "instances (`a,b`) whose topics hold Canal's flat messages; the others hold Debezium's"),
    "gtids": (
        "",
        ("`dense` if all transactions of the captured servers are captured: a missing number is then a lost change"),
    ),
    "databases": (
        "none",
        ("`a=mysql://user:password@host:3306/school,...`: the captured servers, for heartbeats, loads and audits"),
    ),
    "pools": (
        "",
        ("how many runs each pool executes at a time: `default=2, heavy=1`. An entity's tag `pool` names its pool"),
    ),
    "places": (
        "none",
        (
            "pools whose runs compute on another Spark master, YARN queue or Kubernetes namespace: `{east: "
            "{spark_master: 'spark://east:7077', probe: 'http://east:8080'}}`; JSON in the environment "
            "(docs/spark-cluster.md)"
        ),
    ),
    "place": ("none", "the place of this process; the host of warm workers sets it for each worker"),
    "host": (
        "the machine's host name",
        "the name of this machine if several work together (docs/several-hosts.md)",
    ),
    "spark_master": ("", "`spark://host:7077`, `yarn`, `k8s://...`"),
    "spark_memory": ("", "the memory of the driver"),
    "spark_conf": ("none", "a file with further settings of Spark, as `spark-defaults.conf` (docs/spark-cluster.md)"),
    "spark_tuning": (
        "",
        "the JVM on this machine: for short runs, or `throughput` for a process that captures changes all day",
    ),
    "history_days": (
        "",
        "how long every transition of a slice is kept. After that, only the last transition of each slice is kept",
    ),
    "runs_days": (
        "",
        "how long Dagster keeps ended runs with their events and printed output; 0: for ever (docs/operations.md)",
    ),
    "audit_days": ("", "how long the audit log is kept (docs/access.md)"),
    "proxy": (
        "none",
        (
            "a reverse proxy that logs people in and names them in a header: `{addresses: [10.0.0.5], user: "
            "X-Forwarded-User, scopes: {everyone: [read]}}`, in the environment as JSON (docs/access.md)"
        ),
    ),
    "olap": ("", "`duckdb`, or `postgresql+psycopg2://user:password@host/database`"),
    "time_zone": ("", "the time zone of the days and hours of all tables"),
    "week_start": ("", "the first day of the week"),
    "holidays": ("", "the calendar of workdays: a country (`FR`), a region, a market (`XNYS`), or `weekdays`"),
    "partition_columns": (
        "`dt`, `hour` and `minute`",
        (
            "the columns that name the slice of a row, unless a declaration has its own: `{ds: "
            "yyyyMMdd}`, or `ds=yyyyMMdd`"
        ),
    ),
    "variables": (
        "none",
        "constants that queries name as `:name`: texts, numbers, dates, true or false; `{region: eu}`, or `region=eu`",
    ),
    "functions": ("none", _FUNCTIONS),
}
