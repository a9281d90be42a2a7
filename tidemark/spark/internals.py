"""All uses of Spark's private interfaces: its JVM, and the objects behind Python's."""

from typing import Any, TextIO

from py4j.java_gateway import JavaClass, JavaMember, JVMView
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.logger import PySparkLogger
from pyspark.sql import DataFrame, SparkSession


class Jvm:
    """`jvm("java.util.ArrayList")` is that class, with its static methods and its constructor.

    For `jvm.java.util...`, py4j would search all jars for a class `java`, then `java.util`, and so on, each time. That
    takes milliseconds of CPU for each name.
    """

    def __init__(self, spark: SparkSession) -> None:
        self.view: Any = spark._jvm  # noqa: SLF001 - py4j's entry point has no public name

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
    """The names of a JVM, each looked up once.

    PySpark looks up the class and the method for every call, thousands of times for a merge. Each look-up is a call
    that searches all jars for a short name. Together they take a fifth of a small job's CPU time.
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
    """The configuration with which the session opens file systems."""
    return spark.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001 - it has no public name


def java_frame(frame: DataFrame) -> Any:
    """The frame's object in the JVM, the only way to its plan."""
    return frame._jdf  # noqa: SLF001 - it has no public name


def status_store(spark: SparkSession) -> Any:
    """The store behind Spark's web interface, which also exists without the interface."""
    return spark.sparkContext._jsc.sc().statusStore()  # noqa: SLF001 - it has no public name


def is_started() -> bool:
    """Whether this process has a Spark context."""
    return SparkContext._active_spark_context is not None  # noqa: SLF001 - there is no public way to find out


def is_jvm_gone() -> bool:
    """Whether this process's JVM has ended. PySpark cannot start another one (SPARK-48711)."""
    gateway: Any = SparkContext._gateway  # noqa: SLF001 - the JVM's process has no public name
    process = getattr(gateway, "proc", None)
    return process is not None and process.poll() is not None


# PySpark's loggers for exceptions that a line of SQL, or a call on a frame, causes.
_EXCEPTION_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


def start_context(conf: SparkConf, stderr: TextIO) -> None:
    """Start the JVM with its standard error in a file, and create the process's context."""
    make_exception_loggers()
    gateway = launch_gateway(conf, popen_kwargs={"stderr": stderr})  # type: ignore[no-untyped-call]
    gateway.jvm.__class__ = _KnownClasses
    SparkContext(conf=conf, gateway=gateway)


def make_exception_loggers() -> None:
    """Create PySpark's exception loggers before there are threads.

    PySpark sets the class of new loggers and resets it, without a lock. If two threads have their first exceptions at
    the same time, a logger may keep the standard class. That class does not know PySpark's arguments, so every later
    AnalysisException becomes a TypeError.
    """
    for name in _EXCEPTION_LOGGERS:
        PySparkLogger.getLogger(name)


def end_jvm(seconds: float) -> None:
    """End the JVM of a process with a stopped context, and wait for its end. Raises TimeoutExpired."""
    gateway: Any = SparkContext._gateway  # noqa: SLF001 - the JVM's process has no public name
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(timeout=seconds)
