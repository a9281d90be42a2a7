"""Spark as a Dagster resource, built on dagster-pyspark's."""

from pathlib import Path
from typing import Any, Literal, Self

from dagster_pyspark import LazyPySparkResource
from pydantic import Field
from pyspark.sql import SparkSession

from tidemark.dagster_internals.fixed_resource import FixedResource
from tidemark.spark.session import spark_session
from tidemark.system.settings import Settings


class SparkResource(FixedResource, LazyPySparkResource):
    """The process's Spark session: started when it is first asked for, shared by all steps of a run.

    It is dagster-pyspark's lazy resource with a session of our own underneath: its own would lack
    Delta, its jars and the settings for small jobs.
    """

    master: str = Field(description="Spark's master, such as local[*] or spark://host:7077.")
    memory: str = Field(description="Memory of the driver's JVM, such as 2g.")
    tuning: Literal["latency", "throughput"] = Field(
        default="latency",
        description="Whether a local JVM is for runs of seconds, or for a process that runs for days.",
    )
    data: str = Field(description="The folder for temporary files.")
    spark_config: dict[str, Any] = Field(
        default={}, description="More Spark settings by name; they override the others."
    )

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The resource with the project's settings."""
        return cls(
            master=settings.spark_master,
            memory=settings.spark_memory,
            tuning=settings.spark_tuning,
            data=str(settings.data),
        )

    def as_settings(self) -> dict[str, Any]:
        """The fields of Settings that this resource decides."""
        return {"spark_master": self.master, "spark_memory": self.memory, "spark_tuning": self.tuning}

    def start(self, settings: Settings) -> SparkSession:
        """The running session, or a new one with these settings. Raises the errors of tidemark.spark.session."""
        return spark_session(settings.model_copy(update=self.as_settings()), self.spark_config)

    def _init_session(self) -> None:
        self._spark_session = self.start(Settings.at(Path(self.data)))
