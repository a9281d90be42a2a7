"""Decides whether a slice may start: its earliest time, and the requirements of its declaration."""

from tidemark.dependency_model.readiness.earliest_time import earliest, ready_by
from tidemark.dependency_model.readiness.known_slices import KnownSlices, Statuses
from tidemark.dependency_model.readiness.release import Release, Verdict, release

__all__ = ["KnownSlices", "Release", "Statuses", "Verdict", "earliest", "ready_by", "release"]
