"""A cause of trouble that people are told of, from when it came up until it is over."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


class AlertKind(Enum):
    """What finds the trouble out."""

    BASELINE = "baseline"
    RULE = "rule"
    ANOMALY = "anomaly"
    REFUSED = "refused"
    FAILED_RUN = "failed run"


class AlertEvent(Enum):
    """What is told of an alert, each once."""

    RAISED = "raised"
    RECOVERED = "recovered"


@dataclass(frozen=True, slots=True)
class Trouble:
    """Trouble that there is now. `cause` tells it from other trouble, and holds nothing that moves while it lasts.

    `message` is for people, with figures; `slices` are touched by it, `channels` are to be told.
    """

    cause: str
    message: str
    slices: tuple[str, ...]
    channels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Alert:
    """`slices` are all that it ever named; instants are in UTC, `recovered_at` is None while it is open."""

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
    """What a channel is told: `id` is the same however often it is sent."""

    id: str
    event: AlertEvent
    alert: Alert

    @classmethod
    def of(cls, alert: Alert, event: AlertEvent) -> AlertMessage:
        """Of one alert."""
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
        return f"it is over; {', '.join(self.alert.slices)}"

    def as_data(self) -> dict[str, object]:
        """The same for programs: what a webhook gets. Instants are in UTC."""
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
