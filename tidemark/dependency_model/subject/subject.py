"""The meaning of a subject id: a project, a job or a table, with times, partitions and an instance."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from tidemark.dependency_model.subject.subject_id import ConditionValues, DependencySubjectId
from tidemark.dependency_model.suggestion import did_you_mean, quote_value
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.slice import Slice


class SubjectKind(Enum):
    """The kind of a subject. The value is the name of its condition."""

    PROJECT = "project"
    TASK = "taskId"
    JOB = "job"
    TABLE = "table"


class Instance(Enum):
    """The origin of a request for slices."""

    SCHEDULED = "scheduled"
    MANUAL = "manual"


_TIMES = ("bizDate", "dt", "hour")
_OWN = (*(kind.value for kind in SubjectKind), *_TIMES, "instance")


@dataclass(frozen=True, slots=True)
class DependencySubject:
    """`dates` None means all times. `partitions` has the values of each named sub-partition."""

    kind: SubjectKind
    name: str
    dates: ConditionValues | None = None
    hours: ConditionValues | None = None
    partitions: Mapping[str, ConditionValues] = field(default_factory=dict)
    instance: Instance | None = None

    @classmethod
    def of(cls, subject_id: DependencySubjectId) -> DependencySubject:
        """The subject of an id. Raises ParseError unless exactly one condition names it."""
        values = dict(subject_id.conditions)
        kinds = [kind for kind in SubjectKind if kind.value in values]
        if len(kinds) != 1:
            raise _wrong(subject_id, "a subject has exactly one of project, taskId, job and table")
        if "bizDate" in values and "dt" in values:
            raise _wrong(subject_id, "bizDate and dt mean the same: give only one")
        return cls(
            kinds[0],
            _single(values[kinds[0].value], subject_id),
            values.get("bizDate") or values.get("dt"),
            values.get("hour"),
            {name: values for name, values in values.items() if name not in _OWN},
            _instance(values.get("instance"), subject_id),
        )

    @classmethod
    def parse(cls, text: str) -> DependencySubject:
        """The subject of an id's text. Raises ParseError."""
        return cls.of(DependencySubjectId.parse(text))

    @classmethod
    def of_slice(cls, slice_: Slice, kind: SubjectKind = SubjectKind.JOB) -> DependencySubject:
        """The subject of one slice."""
        partitions = {dimension: ConditionValues.of([value]) for dimension, value in slice_.sub}
        return cls(kind, slice_.entity, ConditionValues.of([slice_.key]), None, partitions)

    @property
    def id(self) -> DependencySubjectId:
        """The id. The date is `dt` for tables and `bizDate` for other kinds."""
        conditions = {self.kind.value: ConditionValues.of([self.name]), **self.partitions}
        if self.dates:
            conditions["dt" if self.kind is SubjectKind.TABLE else "bizDate"] = self.dates
        if self.hours:
            conditions["hour"] = self.hours
        if self.instance is not None:
            conditions["instance"] = ConditionValues.of([self.instance.value])
        return DependencySubjectId.of(**conditions)

    def entity(self, tasks: Mapping[str, str]) -> str:
        """The entity of the name. `tasks` maps a scheduler's task ids; other names are entities."""
        return tasks.get(self.name, self.name) if self.kind is SubjectKind.TASK else self.name


def _single(values: ConditionValues, subject_id: DependencySubjectId) -> str:
    if values.is_range or len(values.values) != 1:
        raise _wrong(subject_id, "a subject must have one name")
    return values.values[0]


def _instance(values: ConditionValues | None, subject_id: DependencySubjectId) -> Instance | None:
    if values is None:
        return None
    given, known = _single(values, subject_id), [instance.value for instance in Instance]
    if given not in known:
        raise ParseError(
            "unknown instance", expected=" or ".join(known), found=quote_value(given), hint=did_you_mean(given, known)
        )
    return Instance(given)


def _wrong(subject_id: DependencySubjectId, message: str) -> ParseError:
    return ParseError(message, expected="such as job=dwd_orders&&bizDate=20220101", found=quote_value(str(subject_id)))
