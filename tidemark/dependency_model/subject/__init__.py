"""Subjects: slices named by conditions, as schedulers and catalogs do (seed capability A4)."""

from tidemark.dependency_model.subject.request_limit import MAX_SLICES, Allowance
from tidemark.dependency_model.subject.resolution import no_slice_then, resolve, slices_of
from tidemark.dependency_model.subject.subject import DependencySubject, Instance, SubjectKind
from tidemark.dependency_model.subject.subject_id import ConditionValues, DependencySubjectId

__all__ = [
    "MAX_SLICES",
    "Allowance",
    "ConditionValues",
    "DependencySubject",
    "DependencySubjectId",
    "Instance",
    "SubjectKind",
    "no_slice_then",
    "resolve",
    "slices_of",
]
