"""All private names of Delta and Spark that are used: the contract with the installed version.

Each class has its methods as `name/number of parameters`; `new/n` is a constructor. A test proves that the version in
pyproject.toml has all of them, and that the adapter uses nothing else.
"""

from collections.abc import Mapping
from typing import Final

DELTA: Final = "org.apache.spark.sql.delta"
SPARK: Final = "org.apache.spark.sql"

CLASSES: Final[Mapping[str, tuple[str, ...]]] = {
    f"{DELTA}.DeltaLog": (
        "forTable/2",
        "update/3",
        "startTransaction/2",
        "dataPath/0",
        "logPath/0",
        "newDeltaHadoopConf/0",
        "getSnapshotAt/4",
        "createDataFrame/4",
    ),
    f"{DELTA}.OptimisticTransaction": (
        "snapshot/0",
        "readWholeTable/0",
        "trackReadPredicates/3",
        "txnVersion/1",
        "readTxn/0",
        "writeFiles/1",
        "writeFiles/4",
        "commit/2",
        "commitIfNeeded/3",
        "metadata/0",
        "protocol/0",
        "registerSQLMetrics/2",
    ),
    f"{DELTA}.Snapshot": (
        "schema/0",
        "version/0",
        "metadata/0",
        "protocol/0",
        "checksumOpt/0",
        "filesForScan/2",
    ),
    f"{DELTA}.DummySnapshot": ("new/5",),
    f"{DELTA}.DeltaOptions": ("new/2",),
    f"{DELTA}.commands.WriteIntoDelta": ("new/9", "writeAndReturnCommitData/4"),
    f"{DELTA}.commands.DMLUtils$TaggedCommitData": ("actions/0",),
    f"{DELTA}.VersionChecksum": ("allFiles/0", "setTransactions/0"),
    f"{DELTA}.stats.DeltaScan": ("files/0",),
    f"{DELTA}.actions.Metadata": ("partitionColumns/0", "configuration/0", "json/0", "schema/0"),
    f"{DELTA}.actions.Protocol": ("json/0",),
    f"{DELTA}.actions.SingleAction": ("add/0", "remove/0"),
    f"{DELTA}.actions.AddFile": (
        "wrap/0",
        "remove/0",
        "removeWithTimestamp/2",
        "removeRows/3",
        "deletionVector/0",
        "absolutePath/1",
        "size/0",
    ),
    f"{DELTA}.actions.SetTransaction": ("new/3", "appId/0", "version/0"),
    f"{DELTA}.actions.Action$": ("fromJson/1",),
    f"{DELTA}.actions.DeletionVectorDescriptor": (
        "onDiskWithRelativePath/6",
        "isOnDisk/0",
        "absolutePath/1",
        "cardinality/0",
    ),
    f"{DELTA}.deletionvectors.StoredBitmap": ("create/2", "load/1"),
    f"{DELTA}.deletionvectors.RoaringBitmapArray": (
        "new/0",
        "addAll/1",
        "merge/1",
        "serializeAsByteArray/1",
        "cardinality/0",
    ),
    f"{DELTA}.deletionvectors.RoaringBitmapArrayFormat": ("Portable/0",),
    f"{DELTA}.storage.dv.DeletionVectorStore$": ("createInstance/1",),
    f"{DELTA}.storage.dv.DeletionVectorStore": ("createWriter/1", "generateFileNameInTable/3"),
    f"{DELTA}.storage.dv.DeletionVectorStoreUtils$Writer": ("write/1", "close/0"),
    f"{DELTA}.util.PathWithFileSystem": ("withConf/2",),
    f"{DELTA}.util.JsonUtils$": ("mapper/0",),
    f"{DELTA}.DeltaOperations$Merge": ("new/7",),
    f"{DELTA}.DeltaOperations$Write": ("new/9",),
    f"{DELTA}.DeltaOperations$Optimize": ("new/5",),
    f"{SPARK}.classic.SparkSession": ("setActiveSession/1", "sessionState/0", "sparkContext/0"),
    f"{SPARK}.classic.Dataset": ("queryExecution/0",),
    f"{SPARK}.execution.QueryExecution": ("sparkPlan/0",),
    f"{SPARK}.execution.SparkPlan": ("collectLeaves/0",),
    f"{SPARK}.execution.FileSourceScanExec": ("metadata/0",),
    f"{SPARK}.execution.metric.SQLMetrics": ("createMetric/2",),
    f"{SPARK}.execution.metric.SQLMetric": ("set/1",),
    f"{SPARK}.internal.SessionState": ("sqlParser/0", "conf/0"),
    f"{SPARK}.catalyst.parser.ParserInterface": ("parseExpression/1",),
}

PUBLIC_CLASSES: Final = frozenset(
    {
        "com.fasterxml.jackson.databind.ObjectMapper",
        "java.lang.Class",
        "java.util.ArrayList",
        "java.util.HashMap",
        "java.util.UUID",
        "org.apache.spark.sql.SaveMode",
        "py4j.reflection.ReflectionUtil",
        "scala.$less$colon$less",
        "scala.Option",
        "scala.collection.immutable.ArraySeq",
        "scala.jdk.javaapi.CollectionConverters",
    }
)
"""Public classes that the adapter uses too: Java, Scala, and stable parts of Spark and py4j."""

SETTINGS: Final = (
    "spark.databricks.delta.allFilesInCrc.thresholdNumFiles",
    "spark.databricks.delta.commitInfo.userMetadata",
    "spark.databricks.delta.lastCommitVersionInSession",
    "spark.databricks.delta.merge.materializeSource",
    "spark.databricks.delta.snapshotPartitions",
    "spark.databricks.delta.write.txnAppId",
    "spark.databricks.delta.write.txnVersion",
    "spark.databricks.io.skipping.stringPrefixLength",
    "spark.sql.legacy.parameterSubstitution.constantsOnly",
)
"""Session settings without documentation."""

LOG_FILES: Final = ("log_files", "log_replay", "vector_path", "features", "version_content")
"""The modules that read the log's files by hand, by Delta's published protocol."""
