"""Measured task times of a build, and how long it would take on more slots than this machine has."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.delta.internals.scala_json import python_of
from tidemark.spark.internals import Jvm, status_store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

SLOTS = 32


@dataclass(frozen=True)
class Tasks:
    """`stages`: each stage's tasks in processor seconds, in the order of their start."""

    stages: tuple[tuple[float, ...], ...]

    @property
    def makespan(self) -> float:
        """Stage after stage, each task on the slot that is free first."""
        return sum(makespan(stage, SLOTS) for stage in self.stages)

    @property
    def longest_to_mean(self) -> float:
        """Of the stage with the most work after the first: the one that writes."""
        stage = max(self.stages, key=sum)
        return max(stage) / (sum(stage) / len(stage))


def makespan(tasks: Sequence[float], slots: int) -> float:
    free = [0.0] * slots
    for task in tasks:
        heapq.heapreplace(free, free[0] + task)
    return max(free)


def tasks_of(spark: SparkSession, group: str) -> Tasks:
    """The tasks of all jobs of a job group."""
    context = spark.sparkContext
    tracker = context.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    stages = sorted({stage for job in jobs if job for stage in job.stageIds})
    return Tasks(tuple(task for stage in stages if (task := _of_stage(spark, stage))))


def rows_read(spark: SparkSession, group: str) -> int:
    """Rows that the tasks of all jobs of a job group read from files."""
    tracker = spark.sparkContext.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    stages = sorted({stage for job in jobs if job for stage in job.stageIds})
    listed = [
        task for stage in stages for task in python_of(Jvm(spark), status_store(spark).taskList(stage, 0, 100_000))
    ]
    return sum(int(task["taskMetrics"]["inputMetrics"]["recordsRead"]) for task in listed if task.get("taskMetrics"))


def _of_stage(spark: SparkSession, stage: int) -> tuple[float, ...]:
    listed = python_of(Jvm(spark), status_store(spark).taskList(stage, 0, 100_000))
    tasks = sorted(listed, key=lambda task: int(task["taskId"]))
    return tuple(float(task["taskMetrics"]["executorCpuTime"]) / 1e9 for task in tasks if task.get("taskMetrics"))
