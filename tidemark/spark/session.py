"""The Spark session of the process."""

import atexit
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pyspark import SparkConf
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from tidemark.dependency_model.time.spark_time_zone import SPARK_TIME_ZONE
from tidemark.errors import TidemarkError
from tidemark.spark.class_archive import class_archive, sharing_options
from tidemark.spark.internals import is_started, start_context
from tidemark.spark.jars import resolved_jars
from tidemark.spark.java import java_problem
from tidemark.spark.object_store.azure_jars import azure_jars
from tidemark.spark.object_store.azure_settings import azure_settings
from tidemark.spark.object_store.gcs_jars import gcs_jars
from tidemark.spark.object_store.gcs_settings import gcs_settings
from tidemark.spark.object_store.s3_jars import s3_jars
from tidemark.spark.object_store.s3_settings import s3_settings
from tidemark.spark.user_settings import user_settings
from tidemark.system.account import unknown_account
from tidemark.system.azure_access import AzureAccess
from tidemark.system.errors import JavaMissingError, SparkStartError
from tidemark.system.files import writable_directory
from tidemark.system.gcs_access import GcsAccess
from tidemark.system.run_places import APP_NAME
from tidemark.system.s3_access import S3Access
from tidemark.system.settings import Settings
from tidemark.system.table_location import HdfsLocation, ObjectLocation, TableLocation

_DRIVER_OPTIONS = "spark.driver.extraJavaOptions"
_CLASS_PATH = "spark.driver.extraClassPath"
LOGGING = Path(__file__).with_name("log4j2.properties")


def spark_session(settings: Settings, further: Mapping[str, str] = MappingProxyType({})) -> SparkSession:
    """The running session, or a new one with Delta, UTC and ANSI, and little log output.

    A local session is tuned for small jobs. `further` are additional Spark settings of a new session, by name. Raises
    JavaMissingError, JarsError, DiskPathError, SparkConfError, SparkStartError; for a remote lake also
    StorageDownError, StorageRefusedError, UnsafeStoreError.
    """
    if not is_started():
        _start(settings, further)
    return SparkSession.builder.getOrCreate()


def spark_conf(settings: Settings, scratch: Path) -> SparkConf:
    """The configuration of a new session; `scratch` is for Spark's temporary files."""
    conf = SparkConf(loadDefaults=False).setMaster(settings.spark_master).setAppName(APP_NAME)
    is_local = runs_here(settings)
    place = {**_LOCAL, **_scratch(scratch)} if is_local else _on_cluster(settings.spark_master)
    lake = settings.warehouse
    required = {**_REQUIRED, **_lake_settings(lake)}
    given = user_settings(settings, required, is_local=is_local)
    here = settings.place_here
    of_place = here.spark_settings if here else {}
    for key, value in {**_TUNING, **_KAFKA, **place, **given, **of_place, **required}.items():
        conf.set(key, value)
    conf.set("spark.driver.memory", settings.spark_memory)
    # Java's home of an account that is not in the password file is "?", and spark-submit would set up Ivy there.
    conf.set("spark.jars.ivy", str(settings.data / "tmp" / "ivy"))
    conf.set("spark.sql.warehouse.dir", str(settings.data / "spark-warehouse"))
    # The archived classes are those of files at exactly these paths, so links are resolved.
    jars = [str(jar.resolve()) for jar in (*resolved_jars(), *_lake_jars(lake))]
    # On a local JVM's class path from the start: nothing is copied or served to executors.
    of_jars, separator = (_CLASS_PATH, os.pathsep) if is_local else ("spark.jars", ",")
    for key, between, ours in ((_DRIVER_OPTIONS, " ", java_options(settings)), (of_jars, separator, jars)):
        conf.set(key, between.join([*ours, given[key]] if given.get(key) else ours))
    return conf


def java_options(settings: Settings) -> list[str]:
    """The options of the driver's JVM besides Spark's own."""
    options = [*_JVM, f"-Dlog4j2.configurationFile={LOGGING.as_uri()}"]
    if not runs_here(settings):
        return options
    options += [*_LOCAL_JVM[settings.spark_tuning], *sharing_options(class_archive())]
    if settings.spark_tuning == "throughput":
        options.append(f"-Xms{settings.spark_memory}")
    return options


def runs_here(settings: Settings) -> bool:
    """Whether a single JVM runs all of Spark. `local-cluster` starts separate executors."""
    return settings.spark_master.startswith("local[") or settings.spark_master == "local"


def _start(settings: Settings, further: Mapping[str, str]) -> None:
    problem = java_problem()
    if problem:
        raise JavaMissingError.of(problem)
    if (account := unknown_account()) is not None:
        raise SparkStartError.of_unknown_account(account)
    if not isinstance(settings.warehouse, Path):
        # A lake on disk does not need the library of object stores.
        from tidemark.storage.conditional_put import require_conditional_put  # noqa: PLC0415

        require_conditional_put(settings.warehouse)
    scratch = tempfile.TemporaryDirectory(dir=writable_directory(settings.data / "tmp"), prefix="spark-")
    conf = spark_conf(settings, Path(scratch.name))
    for key, value in further.items():
        conf.set(key, value)
    # The JVM's own warnings at start (incubator module, native library) cannot be switched off, so they go to a file.
    log = Path(scratch.name) / "jvm.log"
    try:
        with log.open("w") as stderr:
            start_context(conf, stderr)
    except PySparkRuntimeError as error:
        raise SparkStartError.of(settings.spark_master, _tail(log)) from error
    atexit.register(scratch.cleanup)
    if isinstance(settings.warehouse, ObjectLocation) and isinstance(settings.warehouse.access, AzureAccess):
        _require_folders(settings.warehouse)


def _require_folders(lake: ObjectLocation) -> None:
    """Check Azure's account with the new session, which is stopped if commits would not be safe."""
    from tidemark.spark.object_store.hierarchical_namespace import require_hierarchical_namespace  # noqa: PLC0415

    spark = SparkSession.builder.getOrCreate()
    try:
        require_hierarchical_namespace(spark, lake)
    except TidemarkError:
        spark.stop()
        raise


def _lake_settings(lake: TableLocation) -> Mapping[str, str]:
    if isinstance(lake, HdfsLocation):
        return HDFS_SETTINGS
    if not isinstance(lake, ObjectLocation):
        return {}
    match lake.access:
        case GcsAccess() as google:
            return gcs_settings(google)
        case AzureAccess() as azure:
            return azure_settings(azure)
        case S3Access() as amazon:
            return s3_settings(amazon)


def _lake_jars(lake: TableLocation) -> tuple[Path, ...]:
    if not isinstance(lake, ObjectLocation):
        return ()
    match lake.access:
        case GcsAccess():
            return gcs_jars()
        case AzureAccess():
            return azure_jars()
        case S3Access():
            return s3_jars()


def _tail(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-15:])


def _on_cluster(master: str) -> dict[str, str]:
    """Settings with which executors reach the driver: loopback if they are here, else the user's or Spark's own."""
    is_here = master.startswith("local-cluster") or any(f"//{host}" in master for host in _LOOPBACK)
    return _LOOPBACK_DRIVER if is_here else {}


def _scratch(folder: Path) -> dict[str, str]:
    """The folders of a local session's temporary files, including buffers of uploads to an object store."""
    buffers = {"s3a": folder / "s3a", "azure": folder / "abfs"}
    return {
        "spark.local.dir": str(folder),
        **{f"spark.hadoop.fs.{system}.buffer.dir": str(of_it) for system, of_it in buffers.items()},
    }


# Settings that results depend on. Users cannot change them.
_REQUIRED = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    # Spark 4.2 replaces parameters while it parses, but Delta's parser does not: every `:name` would stay unbound.
    "spark.sql.legacy.parameterSubstitution.constantsOnly": "true",
    # A name or value from a database may be `${env:HOME}`; in SQL text it must not be substituted.
    "spark.sql.variable.substitute": "false",
    # A JSON object may have a key twice: the last value counts. Spark's default would end the job.
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    # Only one of two writers commits on disk, and the commit is durable.
    "spark.delta.logStore.file.impl": "tidemark.DiskLogStore",
    "spark.sql.streaming.checkpointFileManagerClass": "tidemark.DiskFileManager",
    "spark.sql.session.timeZone": SPARK_TIME_ZONE,
    "spark.sql.ansi.enabled": "true",
}

_TUNING = {
    # The default of 50 adds seconds to every merge, because the log is rebuilt after each commit.
    "spark.databricks.delta.snapshotPartitions": "1",
    # A version whose checksum file lists its files opens without a job over the log; the default limit is 50 files.
    "spark.databricks.delta.allFilesInCrc.thresholdNumFiles": "1000",
    # PySpark asks the JVM three questions before each call, to name the caller's line in Spark's errors: a fifth of the
    # processor time of a small capture step. Python's traceback names the line as well.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Hadoop reads ranges of a local file by a thread pool. Each thread keeps a buffer outside the heap as large as its
    # largest range, about 120 MB. If there is no room, the thread dies silently; the task waits 300 s for it, and
    # fails. (Spark 4.2, Hadoop 3.5, Parquet 1.17; plain reads are as fast.)
    "spark.hadoop.parquet.hadoop.vectored.io.enabled": "false",
}

# Every read of topics has its own consumers, which Spark keeps for five minutes after their last record. Each holds
# about 20 MB of fetched records. A capture of half a million records every ten seconds would fill its heap.
_KAFKA = {
    f"spark.kafka.consumer.{pool}.{name}": "5s"
    for pool in ("cache", "fetchedData.cache")
    for name in ("timeout", "evictorThreadRunInterval")
}

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_LOOPBACK_DRIVER = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}

# Settings for small jobs on few cores. On a cluster, Spark adapts the number of partitions itself.
_LOCAL = {
    **_LOOPBACK_DRIVER,
    # Executors elsewhere do not have this class when they fetch the jars.
    "spark.hadoop.fs.file.impl": "tidemark.DiskFiles",
    # Every account of the machine can reach loopback, so each session has its own secret.
    "spark.authenticate": "true",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "4",
    # On one machine the JVM lives for minutes and every query is new. Compiling a query twice, by Catalyst and by the
    # JIT's second tier, does not pay off (CPU seconds of 7 small slices: first pass 9.97 to 4.2, fourth 2.8 to 1.9).
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
# With one tier the JVM reserves 48 MB for compiled code, which Spark fills within a minute. In a process that parses
# millions of records, the second tier and a collector on all cores pay off. Its heap is claimed at the start, since it
# would grow to that size within minutes; so a machine without the memory fails at once.
_LOCAL_JVM = {
    "latency": ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=256m"),
    "throughput": (
        "-XX:+UseParallelGC",
        "-XX:+AlwaysPreTouch",
        "-XX:ReservedCodeCacheSize=256m",
        # Memory that codecs have freed is returned to the system each minute; Java before 17.0.9 ignores the option.
        "-XX:+IgnoreUnrecognizedVMOptions",
        "-XX:TrimNativeHeapInterval=60000",
    ),
}

_JVM = ("-XX:-UsePerfData", "-Duser.timezone=UTC")


HDFS_SETTINGS: Final = {
    # A commit is written under a temporary name, and renamed unless its own name is in use, as in delta-rs. The name
    # node lets only one of two writers have the name.
    "spark.delta.logStore.hdfs.impl": "io.delta.storage.HDFSLogStore",
    # Hadoop's configuration usually has HDFS here, so paths without a scheme would be in HDFS. Ours are on disk.
    "spark.hadoop.fs.defaultFS": "file:///",
}
"""Settings for safe commits and for the meaning of paths. Users cannot change them."""
