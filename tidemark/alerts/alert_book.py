"""The alerts in the state store: open ones, past ones, and messages still to send."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import delete, func, select

from tidemark.alerts.alert import Alert, AlertEvent, AlertKind
from tidemark.state_store.held_lease import require_lease
from tidemark.state_store.positions import set_position
from tidemark.state_store.schema import ALERT_DELIVERIES, ALERTS, CURSORS
from tidemark.state_store.transition import instant_of, microseconds
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from sqlalchemy import Connection

    from tidemark.alerts.alert import Trouble
    from tidemark.state_store.database import Database
    from tidemark.state_store.fence import Fence

NAMED: Final = 1_000
"""The most slices that an alert names."""
_OPEN: Final = 0


class AlertBook:
    """Writes only while `fence` holds its lease (None: without a lease), else it raises FencedError.

    All methods raise StateStoreDownError.
    """

    def __init__(self, database: Database, fence: Callable[[], Fence | None] = lambda: None) -> None:
        self._database, self._fence = database, fence

    def open(self, kind: AlertKind | None = None) -> list[Alert]:
        """Open alerts, oldest first."""
        query = select(ALERTS).where(ALERTS.c.recovered_at == _OPEN).order_by(ALERTS.c.number)
        if kind is not None:
            query = query.where(ALERTS.c.kind == kind.value)
        with self._database.reading() as connection:
            return [alert_of(row) for row in connection.execute(query)]

    def recent(self, most: int) -> list[Alert]:
        """The newest alerts that are over, newest first."""
        query = select(ALERTS).where(ALERTS.c.recovered_at != _OPEN).order_by(ALERTS.c.number.desc()).limit(most)
        with self._database.reading() as connection:
            return [alert_of(row) for row in connection.execute(query)]

    def cursor(self, name: str) -> str | None:
        """The position that was stored by the last `reconcile`."""
        with self._database.reading() as connection:
            return connection.execute(select(CURSORS.c.position).where(CURSORS.c.name == name)).scalar()

    def reconcile(
        self, kind: AlertKind, troubles: Sequence[Trouble], now: datetime, cursors: dict[str, str] | None = None
    ) -> None:
        """Compares `troubles`, all present causes of a kind, with the open alerts, in one transaction.

        A new cause raises an alert, a cause that is gone has recovered, and messages to their channels are stored.
        `cursors` are the positions up to which the source has read.
        """
        if not troubles and not cursors and not self.open(kind):
            return
        with self._database.writing() as connection:
            require_lease(connection, self._fence())
            query = select(ALERTS).where(ALERTS.c.recovered_at == _OPEN, ALERTS.c.kind == kind.value)
            gone = {row.cause: alert_of(row) for row in connection.execute(query)}
            for trouble in troubles:
                alert = gone.pop(trouble.cause, None)
                number = alert.number if alert else _raise(connection, kind, trouble, now)
                if alert is not None:
                    _update(connection, alert, trouble)
                _note_deliveries(connection, number, AlertEvent.RAISED, trouble.channels, now)
            for alert in gone.values():
                _recover(connection, alert, now)
            for name, position in (cursors or {}).items():
                set_position(connection, name, position)

    def note(self, name: str, position: str) -> None:
        """Stores a position by name."""
        with self._database.writing() as connection:
            require_lease(connection, self._fence())
            set_position(connection, name, position)

    def forget(self, before: datetime) -> None:
        """Deletes alerts that ended before an instant."""
        over = (ALERTS.c.recovered_at != _OPEN) & (ALERTS.c.recovered_at < microseconds(before))
        with self._database.writing() as connection:
            require_lease(connection, self._fence())
            numbers = select(ALERTS.c.number).where(over)
            connection.execute(delete(ALERT_DELIVERIES).where(ALERT_DELIVERIES.c.alert.in_(numbers)))
            connection.execute(delete(ALERTS).where(over))


def alert_of(row: Any) -> Alert:
    """An alert from its row."""
    return Alert(
        row.number,
        AlertKind(row.kind),
        row.cause,
        row.message,
        tuple(json.loads(row.slices)),
        instant_of(row.raised_at),
        instant_of(row.recovered_at) if row.recovered_at else None,
    )


def _raise(connection: Connection, kind: AlertKind, trouble: Trouble, now: datetime) -> int:
    number = (connection.execute(select(func.max(ALERTS.c.number))).scalar() or 0) + 1
    connection.execute(
        ALERTS.insert().values(
            number=number,
            kind=kind.value,
            cause=trouble.cause,
            message=trouble.message,
            slices=json_text(trouble.slices[:NAMED]),
            raised_at=microseconds(now),
            recovered_at=_OPEN,
        )
    )
    return number


def _update(connection: Connection, alert: Alert, trouble: Trouble) -> None:
    slices = tuple(dict.fromkeys((*alert.slices, *trouble.slices)))[:NAMED]
    if (slices, trouble.message) != (alert.slices, alert.message):
        values = {"slices": json_text(slices), "message": trouble.message}
        connection.execute(ALERTS.update().where(ALERTS.c.number == alert.number).values(values))


def _recover(connection: Connection, alert: Alert, now: datetime) -> None:
    """Ends an alert, with a message to each channel that got, or will get, its first message."""
    connection.execute(
        ALERTS.update().where(ALERTS.c.number == alert.number).values(recovered_at=max(microseconds(now), 1))
    )
    told = select(ALERT_DELIVERIES.c.channel).where(
        ALERT_DELIVERIES.c.alert == alert.number, ALERT_DELIVERIES.c.event == AlertEvent.RAISED.value
    )
    _note_deliveries(connection, alert.number, AlertEvent.RECOVERED, list(connection.execute(told).scalars()), now)


def _note_deliveries(
    connection: Connection, number: int, event: AlertEvent, channels: Iterable[str], now: datetime
) -> None:
    """Stores one message for each channel that has none yet."""
    is_it = (ALERT_DELIVERIES.c.alert == number) & (ALERT_DELIVERIES.c.event == event.value)
    noted = set(connection.execute(select(ALERT_DELIVERIES.c.channel).where(is_it)).scalars())
    rows = [
        {
            "alert": number,
            "event": event.value,
            "channel": channel,
            "state": "pending",
            "attempts": 0,
            "due_at": microseconds(now),
            "problem": "",
        }
        for channel in dict.fromkeys(channels)
        if channel not in noted
    ]
    if rows:
        connection.execute(ALERT_DELIVERIES.insert(), rows)
