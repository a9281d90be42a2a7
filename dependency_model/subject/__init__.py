"""Subjects: slices named by conditions, the way that schedulers and catalogs speak of them (seed capability A4)."""

from dependency_model.subject.resolution import resolve
from dependency_model.subject.subject import DependencySubject, Instance, SubjectKind
from dependency_model.subject.subject_id import DependencySubjectId, Values

__all__ = ["DependencySubject", "DependencySubjectId", "Instance", "SubjectKind", "Values", "resolve"]
