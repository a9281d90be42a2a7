"""Spark's private interfaces, the only place that knows them: its JVM, and the objects behind its Python ones."""

from typing import Any, TextIO

from py4j.java_gateway import JavaClass, JavaMember, JVMView
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.logger import PySparkLogger
from pyspark.sql import DataFrame, SparkSession


class Jvm:
    """`jvm("java.util.ArrayList")` is that class: its static methods, and its constructor when called.

    Written `jvm.java.util...`, py4j would search all jars for a class `java`, then for `java.util`, and so on, every
    time: milliseconds of CPU a name.
    """

    def __init__(self, spark: SparkSession) -> None:
        self.view: Any = spark._jvm  # noqa: SLF001 - py4j's entrance has no public name

    def __call__(self, name: str) -> Any:
        return getattr(self.view, name)

    def scala_object(self, name: str) -> Any:
        """The one instance of a Scala object."""
        return getattr(self(f"{name}$"), "MODULE$")


class _KnownMethods(JavaClass):  # type: ignore[misc]
    """A class whose methods are looked up once."""

    def __getattr__(self, name: str) -> Any:
        member = super().__getattr__(name)
        if isinstance(member, JavaMember):
            self.__dict__[name] = member
        return member


class _KnownClasses(JVMView):  # type: ignore[misc]
    """The names of a JVM, each of which is looked up once.

    PySpark looks up the class and the method whenever it calls one, some thousands of times for a merge. Each look-up
    is a call of its own, which searches all jars for a short name: a fifth of the CPU time of a small job.
    """

    def __getattr__(self, name: str) -> Any:
        named = super().__getattr__(name)
        if isinstance(named, JavaClass):
            named.__class__ = _KnownMethods
            self.__dict__[name] = named
        return named


def java_session(spark: SparkSession) -> Any:
    """The session's object in the JVM."""
    return spark._jsparkSession  # noqa: SLF001 - it has no public name


def hadoop_configuration(spark: SparkSession) -> Any:
    """What the session's file systems are opened with."""
    return spark.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001 - it has no public name


def java_frame(frame: DataFrame) -> Any:
    """The frame's object in the JVM: the only way to a plan."""
    return frame._jdf  # noqa: SLF001 - it has no public name


def status_store(spark: SparkSession) -> Any:
    """What Spark's web interface shows, without it."""
    return spark.sparkContext._jsc.sc().statusStore()  # noqa: SLF001 - it has no public name


def is_started() -> bool:
    """Whether this process has a Spark context."""
    return SparkContext._active_spark_context is not None  # noqa: SLF001 - there is no public way to ask


def is_jvm_gone() -> bool:
    """Whether this process had a JVM that has ended: PySpark starts no other one in it (SPARK-48711)."""
    gateway: Any = SparkContext._gateway  # noqa: SLF001 - the JVM's process has no public name
    process = getattr(gateway, "proc", None)
    return process is not None and process.poll() is not None


# What PySpark logs each exception by that a line of SQL, or a call on a frame, is the cause of.
_EXCEPTION_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


def start_context(conf: SparkConf, stderr: TextIO) -> None:
    """Start the JVM with its standard error in a file, and the process's context in it."""
    make_exception_loggers()
    gateway = launch_gateway(conf, popen_kwargs={"stderr": stderr})  # type: ignore[no-untyped-call]
    gateway.jvm.__class__ = _KnownClasses
    SparkContext(conf=conf, gateway=gateway)


def make_exception_loggers() -> None:
    """Make the loggers that PySpark makes at the first exception, while there are no threads yet.

    It sets the class of new loggers and sets it back, without a lock: where the first exceptions of two threads are at
    the same time, a logger can get the standard class for the rest of the process. That class does not know PySpark's
    arguments, and from then on each AnalysisException is a TypeError.
    """
    for name in _EXCEPTION_LOGGERS:
        PySparkLogger.getLogger(name)


def end_jvm(seconds: float) -> None:
    """End the JVM of a process whose context is stopped, and wait until it has ended. Raises TimeoutExpired."""
    gateway: Any = SparkContext._gateway  # noqa: SLF001 - the JVM's process has no public name
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(timeout=seconds)
