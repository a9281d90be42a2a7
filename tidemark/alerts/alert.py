"""Alerts: causes of trouble from their start to their end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


class AlertKind(Enum):
    """The source of the trouble."""

    BASELINE = "baseline"
    RULE = "rule"
    ANOMALY = "anomaly"
    REFUSED = "refused"
    FAILED_RUN = "failed run"


class AlertEvent(Enum):
    """The two messages of an alert, each sent once."""

    RAISED = "raised"
    RECOVERED = "recovered"


@dataclass(frozen=True, slots=True)
class Trouble:
    """Present trouble. `cause` identifies it and must not change while the trouble lasts.

    `message` is for people, with figures. `slices` are affected, `channels` get the messages.
    """

    cause: str
    message: str
    slices: tuple[str, ...]
    channels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Alert:
    """`slices` are all slices that it ever named. Times are in UTC; `recovered_at` is None while it is open."""

    number: int
    kind: AlertKind
    cause: str
    message: str
    slices: tuple[str, ...]
    raised_at: datetime
    recovered_at: datetime | None = None

    @property
    def is_open(self) -> bool:
        """Whether the trouble is still there."""
        return self.recovered_at is None


@dataclass(frozen=True, slots=True)
class AlertMessage:
    """A message to a channel. Its `id` is the same for each attempt to send it."""

    id: str
    event: AlertEvent
    alert: Alert

    @classmethod
    def of(cls, alert: Alert, event: AlertEvent) -> AlertMessage:
        """The message for an event of an alert."""
        return cls(f"{alert.number}-{event.value}", event, alert)

    @property
    def title(self) -> str:
        """One line."""
        return f"{self.event.value}: {self.alert.cause}"

    @property
    def text(self) -> str:
        """Some lines."""
        if self.event is AlertEvent.RAISED:
            return self.alert.message
        return f"recovered; {', '.join(self.alert.slices)}"

    def as_data(self) -> dict[str, object]:
        """The message as data for a webhook. Times are in UTC."""
        alert = self.alert
        return {
            "id": self.id,
            "event": self.event.value,
            "kind": alert.kind.value,
            "cause": alert.cause,
            "message": self.text,
            "slices": list(alert.slices),
            "raised_at": alert.raised_at.isoformat(),
            "recovered_at": alert.recovered_at.isoformat() if alert.recovered_at else None,
        }
