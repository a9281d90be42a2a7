"""The state store that may capture into a warehouse: the newest holder of the lease. Older holders are refused.

The state store's own leases keep its processes apart (`instance_leases`), but two state stores may reach one warehouse.
So this lease lies in the warehouse, as the one row of a Delta table. The state store remembers its fencing token. The
lease only decides which state store is refused. The chain of commits (delta.transaction_chain) prevents lost changes,
whatever happens between this check and a commit.
"""

import json
import socket
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final, Self

from deltalake.exceptions import CommitFailedError
from sqlalchemy import Connection

from tidemark.capture.errors import FencedCaptureError
from tidemark.delta.delta_rs_table import table_exists
from tidemark.delta.open_table import answer_for, delta_rs_options, open_table
from tidemark.state_store.database import Database
from tidemark.state_store.notes import Notes
from tidemark.strict_json import json_text
from tidemark.system.settings import Settings
from tidemark.system.table_location import TableLocation

TABLE = "_capture_lease"
NOTES: Final = "capture lease"
"""The kind of the note: the state store's lease, by the warehouse's location."""


@dataclass(frozen=True)
class CaptureLease:
    """The right of `holder`, a state store, to capture into a warehouse, since `taken_at` (ISO, UTC) from `host`."""

    fencing_token: int
    holder: str
    host: str
    taken_at: str

    @property
    def writer(self) -> str:
        """The holder as text, for people and for each commit."""
        return f"{self.holder} on {self.host}, fencing token {self.fencing_token}"

    @classmethod
    def obtain(cls, settings: Settings, database: Database, now: datetime) -> Self:
        """The state store's lease, taken if it never had one. Raises FencedCaptureError if there is a later one."""
        newest, known = cls.newest(settings.warehouse), _Remembered.of(settings, database)
        if known is None:
            before = newest.fencing_token if newest else 0
            taken = cls(before + 1, _holder(database), socket.gethostname(), now.isoformat())
            known = _Remembered(taken, before).add(settings, database)
        own = cls(**asdict(known.lease))
        if own == newest:
            return own
        if newest is not None and newest.holder == own.holder and newest.fencing_token > own.fencing_token:
            # The state store is an older copy of itself: its next token must be later than all that it had.
            known = known.renewed(newest.fencing_token, now)
            Notes(database, NOTES).put({str(settings.warehouse): known.text})
            own = cls(**asdict(known.lease))
        # The process died before it published the lease, or the lease was renewed, or the warehouse is new.
        if newest is None or newest.holder == own.holder or newest.fencing_token <= known.before:
            own._publish(settings.warehouse)
            return own
        raise FencedCaptureError.of(settings.warehouse, own.writer, newest.writer, database.where)

    @classmethod
    def later_holder(cls, settings: Settings, database: Database) -> str:
        """The other state store that took the lease after this one, as text; empty if this one may capture."""
        newest, known = cls.newest(settings.warehouse), _Remembered.of(settings, database)
        if newest is None or known is None or newest.holder == known.lease.holder:
            return ""
        return newest.writer if newest.fencing_token > known.before else ""

    @classmethod
    def newest(cls, warehouse: TableLocation) -> Self | None:
        """The lease that is now valid in the warehouse."""
        path = warehouse / TABLE
        if not table_exists(path):
            return None
        rows = open_table(path).to_pyarrow_table().to_pylist()
        return cls(**rows[0]) if rows else None

    def _publish(self, warehouse: TableLocation) -> None:
        """Publish the lease. Another process with this state store may do the same at this moment."""
        try:
            self.write_to(warehouse)
        except CommitFailedError:
            if type(self).newest(warehouse) != self:
                raise

    def write_to(self, warehouse: TableLocation) -> None:
        """Replace the lease in the warehouse."""
        import pyarrow as pa  # noqa: PLC0415 - a command that only reads the lease needs no Arrow
        from deltalake import write_deltalake  # noqa: PLC0415

        row, options = pa.Table.from_pylist([asdict(self)]), delta_rs_options(warehouse)
        with answer_for(warehouse):
            write_deltalake(str(warehouse / TABLE), row, mode="overwrite", storage_options=options)


@dataclass(frozen=True)
class _Remembered:
    """The note of a state store about its lease.

    `before` is the fencing token that was newest when it first took it (or 0).
    """

    lease: CaptureLease
    before: int

    @classmethod
    def of(cls, settings: Settings, database: Database) -> Self | None:
        noted = Notes(database, NOTES).get(str(settings.warehouse))
        return cls.parse(noted) if noted else None

    def add(self, settings: Settings, database: Database) -> Self:
        """Add the note. If another process with this state store was faster, both use the other's."""
        return self.parse(Notes(database, NOTES).add(str(settings.warehouse), self.text))

    @classmethod
    def parse(cls, text: str) -> Self:
        fields = json.loads(text)
        return cls(CaptureLease(**fields["lease"]), fields["before"])

    def renewed(self, after: int, now: datetime) -> Self:
        """The lease with the fencing token after an earlier one."""
        host, taken_at = socket.gethostname(), now.isoformat()
        return replace(self, lease=replace(self.lease, fencing_token=after + 1, host=host, taken_at=taken_at))

    @property
    def text(self) -> str:
        return json_text(asdict(self))


def remember_lease(settings: Settings, database: Database, fields: Mapping[str, Any]) -> None:
    """Note a lease that an earlier version kept in a file. An existing note stays."""
    lease = CaptureLease(**fields)
    _Remembered(lease, lease.fencing_token - 1).add(settings, database)


def renew_lease(settings: Settings, database: Database, connection: Connection, now: datetime) -> None:
    """Give the state store's lease the next fencing token, in a writer's transaction; valid from the next step on.

    A process that was stopped in the middle of a step, and goes on, is then refused like another state store's.
    """
    notes = Notes(database, NOTES)
    noted = notes.get_in(connection, str(settings.warehouse))
    if noted:
        known = _Remembered.parse(noted)
        notes.put_in(connection, {str(settings.warehouse): known.renewed(known.lease.fencing_token, now).text})


def forget_lease(settings: Settings, database: Database) -> None:
    """Forget the lease: the next step with this state store takes a new one, and the current holder is refused."""
    Notes(database, NOTES).remove(str(settings.warehouse))


def _holder(database: Database) -> str:
    return f"{database.where}#{uuid.uuid4().hex[:8]}"
