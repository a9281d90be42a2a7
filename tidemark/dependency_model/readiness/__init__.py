"""When a slice may start: its earliest time, and what its declaration asks of its inputs."""

from tidemark.dependency_model.readiness.known import KnownSlices, Statuses
from tidemark.dependency_model.readiness.release import Release, Verdict, release
from tidemark.dependency_model.readiness.times import earliest, ready_by

__all__ = ["KnownSlices", "Release", "Statuses", "Verdict", "earliest", "ready_by", "release"]
