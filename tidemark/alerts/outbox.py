"""Messages to send to channels, with their attempts. They are stored with the alerts and sent by a courier."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import and_, exists, select

from tidemark.alerts.alert import Alert, AlertEvent, AlertMessage
from tidemark.alerts.alert_book import alert_of
from tidemark.dependency_model.retry_wait import retry_wait
from tidemark.state_store.held_lease import require_lease
from tidemark.state_store.schema import ALERT_DELIVERIES, ALERTS, IS_TO_DELIVER
from tidemark.state_store.transition import microseconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from tidemark.state_store.database import Database
    from tidemark.state_store.fence import Fence

ATTEMPTS: Final = 20
"""The most attempts to send a message, over about three hours."""
_OF: Final = ALERT_DELIVERIES.c


class DeliveryState(Enum):
    """The state of one message on one channel."""

    PENDING = "pending"
    SENT = "sent"
    GIVEN_UP = "given up"


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message on one channel; `problem` is why its last attempt failed."""

    alert: Alert
    event: AlertEvent
    channel: str
    state: DeliveryState
    attempts: int
    problem: str

    @property
    def message(self) -> AlertMessage:
        """The text to send."""
        return AlertMessage.of(self.alert, self.event)


class Outbox:
    """Writes only while `fence` holds its lease. All methods raise StateStoreDownError, writers also FencedError."""

    def __init__(self, database: Database, fence: Callable[[], Fence | None] = lambda: None) -> None:
        self._database, self._fence = database, fence

    def channels(self, now: datetime) -> list[str]:
        """The channels with due messages."""
        query = select(_OF.channel).where(IS_TO_DELIVER, _OF.due_at <= microseconds(now)).distinct()
        with self._database.reading() as connection:
            return sorted(connection.execute(query).scalars())

    def next(self, channel: str, now: datetime) -> Delivery | None:
        """The oldest due message of a channel. The end of an alert is sent after its first message."""
        raised = ALERT_DELIVERIES.alias("raised")
        is_before = exists().where(
            raised.c.alert == _OF.alert,
            raised.c.channel == _OF.channel,
            raised.c.state == DeliveryState.PENDING.value,
            raised.c.event == AlertEvent.RAISED.value,
        )
        in_order = (_OF.event == AlertEvent.RAISED.value) | ~is_before
        due = and_(IS_TO_DELIVER, _OF.due_at <= microseconds(now), _OF.channel == channel)
        query = _deliveries().where(due, in_order).order_by(_OF.alert, _OF.event).limit(1)
        with self._database.reading() as connection:
            row = connection.execute(query).one_or_none()
            return None if row is None else _delivery(row)

    def of(self, alerts: Iterable[Alert]) -> list[Delivery]:
        """All deliveries of these alerts."""
        query = _deliveries().where(_OF.alert.in_([alert.number for alert in alerts]))
        with self._database.reading() as connection:
            return [_delivery(row) for row in connection.execute(query.order_by(_OF.alert, _OF.event, _OF.channel))]

    def begin(self, delivery: Delivery, now: datetime) -> None:
        """Records an attempt before it is made: if the process dies, the message is sent again after a wait."""
        due_at = microseconds(now + retry_wait(delivery.attempts))
        self._set(delivery, attempts=delivery.attempts + 1, due_at=due_at)

    def end(self, delivery: Delivery) -> None:
        """Records that it was sent."""
        self._set(delivery, state=DeliveryState.SENT.value, problem="")

    def fail(self, delivery: Delivery, problem: str) -> None:
        """Records a failure. It is tried again later, at most `ATTEMPTS` times."""
        given_up = {"state": DeliveryState.GIVEN_UP.value} if delivery.attempts + 1 >= ATTEMPTS else {}
        self._set(delivery, problem=problem, **given_up)

    def _set(self, delivery: Delivery, **values: object) -> None:
        is_it = and_(
            _OF.alert == delivery.alert.number,
            _OF.event == delivery.event.value,
            _OF.channel == delivery.channel,
        )
        with self._database.writing() as connection:
            require_lease(connection, self._fence())
            connection.execute(ALERT_DELIVERIES.update().where(is_it).values(values))


def _deliveries() -> Any:
    own = (_OF.event, _OF.channel, _OF.state, _OF.attempts, _OF.problem)
    return select(ALERTS, *own).join(ALERTS, ALERTS.c.number == _OF.alert)


def _delivery(row: Any) -> Delivery:
    event, state = AlertEvent(row.event), DeliveryState(row.state)
    return Delivery(alert_of(row), event, row.channel, state, row.attempts, row.problem)
