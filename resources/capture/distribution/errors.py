"""Errors of the distribution.

CaptureError
└── SharedPhysicalTableError   two logical tables for one physical

TransientError
├── SessionLostError           the group went on without us, or the broker did
└── TopicsMissingError         topics that are not there yet
"""

from collections.abc import Iterable
from typing import Self

from dependency_model.errors import TransientError
from resources.errors import CaptureError


class SharedPhysicalTableError(CaptureError):
    """Two logical tables for one physical."""

    @classmethod
    def of(cls, physical: str, instance: str, tables: tuple[str, str]) -> Self:
        return cls(
            "a physical table belongs to two logical ones",
            expected="one",
            found=" and ".join(tables),
            where=f"{physical} of instance {instance}",
            hint="correct `table` and `instances` in the source of one of the two entities",
        )


class SessionLostError(TransientError):
    """The group went on without us, or the broker did; nothing of the last batch was sent."""

    @classmethod
    def of(cls, said: str) -> Self:
        return cls("the distribution begins again where its last transaction ended", found=said)


class TopicsMissingError(TransientError):
    """Topics that are not there yet."""

    @classmethod
    def of(cls, servers: str, missing: Iterable[str]) -> Self:
        return cls(
            "captured instances have no topics",
            expected=", ".join(sorted(missing)),
            where=f"Kafka at {servers}",
            hint="start the instances' connectors, or correct `instances` in the entities' sources",
        )
