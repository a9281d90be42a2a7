"""What each setting is for; where the default is not a constant, what it is in words."""

from __future__ import annotations

from typing import Final

_FUNCTIONS: Final = (
    "what queries may call: `{days_before: {arguments: [d, n], sql: 'date_sub(d, n)'}}` is put in place of each call; "
    "with `equals` for `sql` it says what a function of Spark's session does with dates; `returns` is a type; in the "
    "environment it is JSON"
)
SETTINGS: Final[dict[str, tuple[str, str]]] = {
    "root": ("found upwards", "the project's folder, as `--root`"),
    "data": ("`data` in the project", "where everything is kept"),
    "landing": ("`landing` in the data folder", "change files that are captured where there is no Kafka"),
    "warehouse": (
        "`warehouse` in the data folder",
        (
            "the tables: a folder, `s3://bucket/prefix`, `gs://...` or `abfss://...` (docs/object-store.md), "
            "or `hdfs://host:port/prefix` (docs/hdfs.md)"
        ),
    ),
    "state_db": ("`state.db` in the data folder", "the state store, where `state` names no server"),
    "dagster_home": ("`dagster_home` in the project", "Dagster's own storage; its variable is `DAGSTER_HOME`"),
    "layers": ("", "the folders of `warehouse_assets`"),
    "schemas": ("none", "names that may stand before a table's in a query, as its layer may: `prod.dwd_orders`"),
    "replicas": (
        "none",
        (
            "other lakes, to which `replicate` of a declaration has its slices copied: `{center_b: {lake: "
            "s3://other/warehouse, mb_per_second: 50}}`, in the environment as JSON (docs/replication.md)"
        ),
    ),
    "refresh_targets": (
        "none",
        (
            "databases, caches and receivers, at which `refresh` of a declaration has what was made of its slices "
            "refreshed: `{cache: {kind: redis}}`, in the environment as JSON; addresses stand in "
            "`TIDEMARK_TARGET_<NAME>` (docs/refresh.md)"
        ),
    ),
    "channels": (
        "none",
        "where people read alerts, beside `log`; addresses stand in `TIDEMARK_CHANNEL_<NAME>` (docs/alerts.md)",
    ),
    "forecast_seconds": ("", "promises are forecast at most so often by the center, and alerts raised by it"),
    "state": (
        "the file `state_db`",
        "`postgresql+psycopg2://user:password@host/database`: what happened to every slice",
    ),
    "kafka": ("none", "bootstrap servers `host:9092,...`: changes come from topics `cdc.<instance>` instead of files"),
    "reports_topic": ("none", "a topic of these servers from which `tidemark center` takes in reports"),
    "connect": (
        "none",
        "`http://host:8083`: Kafka Connect, which `capture check` and `capture status` ask about connectors",
    ),
    "canal": ("none", "instances (`a,b`) whose topics hold Canal's flat messages; the others hold Debezium's"),
    "gtids": (
        "",
        "`dense` where all transactions of the captured servers are captured: a missing number is a lost change",
    ),
    "databases": ("none", "`a=mysql://user:password@host:3306/school,...`: where a heartbeat is written each minute"),
    "pools": ("", "how much runs at once, by the pool that an entity's tag `pool` names: `default=2, heavy=1`"),
    "host": (
        "the machine's host name",
        "what this machine is called where several work together (docs/several-hosts.md)",
    ),
    "spark_master": ("", "`spark://host:7077`, `yarn`, `k8s://...`"),
    "spark_memory": ("", "memory of the driver"),
    "spark_conf": ("none", "a file of further settings of Spark, as `spark-defaults.conf` (docs/spark-cluster.md)"),
    "spark_tuning": ("", "a local JVM for runs of seconds, or `throughput` for one that takes in changes all day"),
    "history_days": ("", "how long every transition of a slice is kept; of older ones each slice's last"),
    "olap": ("", "`duckdb`, or `postgresql+psycopg2://user:password@host/database`"),
    "time_zone": ("", "days and hours of all tables begin by it"),
    "week_start": ("", "the first day of weeks"),
    "holidays": ("", "who tells workdays: a country (`FR`), a region, a market (`XNYS`), or `weekdays`"),
    "partition_columns": (
        "`dt`, `hour` and `minute`",
        "the columns that tell a row's slice where a declaration names none: `{ds: yyyyMMdd}`, or `ds=yyyyMMdd`",
    ),
    "variables": (
        "none",
        "constants that queries name as `:name`: texts, numbers, dates, true or false; `{region: eu}`, or `region=eu`",
    ),
    "functions": ("none", _FUNCTIONS),
}
