"""Sends run events in a thread beside the tick, in the order of transitions, each at least once.

A cursor in the state store has the position. After a restart it goes on from there: an event that was sent but not
recorded is sent again, with the same run id, type and time. A slow or dead receiver delays nothing else.
"""

from __future__ import annotations

import logging
from threading import Event as Signal
from threading import Thread
from typing import TYPE_CHECKING, Final

from tidemark.catalog.notes import CatalogNotes
from tidemark.lineage_events.datasets import Datasets
from tidemark.lineage_events.run_events import NAMESPACE, RunEvents
from tidemark.state_store.positions import note_position
from tidemark.state_store.slice_profiles import SliceProfiles

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from openlineage.client import OpenLineageClient
    from openlineage.client.event_v2 import RunEvent

    from tidemark.state_store.store import StateStore
    from tidemark.state_store.transition import Transition
    from tidemark.warehouse.warehouse import Warehouse

CURSOR: Final = "openlineage"
_AT_ONCE: Final = 200
_SECONDS: Final = 2.0
_LONGEST_WAIT: Final = 300.0
_IDLE_SECONDS: Final = 60.0
_JOIN_SECONDS: Final = 5.0
_ATTEMPTS: Final = 5
_REFUSALS: Final = frozenset({400, 413, 415, 422})
"""Answers with which a receiver permanently refuses an event."""
_LOGGER: Final = logging.getLogger("tidemark.openlineage")


class LineageEmitter:
    """Sends the events of a center. `client` makes the client from the environment, when there is something to send."""

    def __init__(
        self, warehouse: Warehouse, store: StateStore, env: Mapping[str, str], client: Callable[[], OpenLineageClient]
    ) -> None:
        self._store, self._make_client = store, client
        self._client: OpenLineageClient | None = None
        self._refused = (0, 0)
        """The last transition whose event was refused, and the number of attempts."""
        notes = CatalogNotes(store.database)
        self._profiles = SliceProfiles(store.database)
        self._events = RunEvents(
            warehouse,
            Datasets(warehouse, lambda name: _newest_types(notes, name)),
            env.get("OPENLINEAGE_NAMESPACE") or NAMESPACE,
        )
        self._asked, self._closed, self._wait = Signal(), Signal(), _SECONDS
        self._thread: Thread | None = None

    def poll(self) -> None:
        """Start to send new events in the background. Call it while the lease is held."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = Thread(target=self._serve, name="openlineage", daemon=True)
            self._thread.start()
        self._asked.set()

    def close(self) -> None:
        """Let active work end, for some seconds."""
        self._closed.set()
        self._asked.set()
        if self._thread is not None:
            self._thread.join(_JOIN_SECONDS)

    def send_due(self) -> int:
        """Send the events since the last call; the first call sends nothing. Returns their number.

        Raises StateStoreDownError, FencedError and the transport's errors; the next call goes on from there.
        """
        stored = self._store.read.cursor(CURSOR)
        if stored is None:
            self._note(self._store.read.last())
            return 0
        sent, reached = 0, int(stored)
        try:
            for transition in self._store.read.after(reached, _AT_ONCE):
                sent += self._send(transition)
                reached = transition.seq
        finally:
            if reached > int(stored):
                self._note(reached)
        return sent

    def _send(self, transition: Transition) -> bool:
        """Send an event.

        Returns whether there was one. An event that is refused permanently is left out after some attempts.
        """
        try:
            event = self._event_of(transition)
            if event is not None:
                self._emit(event)
        except Exception as error:
            seq, times = self._refused
            self._refused = transition.seq, times + 1 if seq == transition.seq else 1
            if not _is_refusal(error) or self._refused[1] < _ATTEMPTS:
                raise
            _LOGGER.error(  # noqa: TRY400 - a trace may hold an address
                "an OpenLineage event of %s is left out, %s: %s", transition.slice, transition.event.value, _told(error)
            )
            return True
        return event is not None

    def _event_of(self, transition: Transition) -> RunEvent | None:
        if not self._events.is_told(transition):
            return None
        profile = self._profiles.of([transition.slice]).get(transition.slice)
        figures = profile.figures if profile and str(profile.version) == transition.facts.snapshot_id else None
        return self._events.of(transition, self._store.read.history(transition.slice), figures)

    def _emit(self, event: RunEvent) -> None:
        if self._client is None:
            self._client = self._make_client()
        self._client.emit(event)

    def _note(self, seq: int) -> None:
        note_position(self._store, CURSOR, str(seq))

    def _serve(self) -> None:
        while self._asked.wait(_IDLE_SECONDS) and not self._closed.is_set():
            self._asked.clear()
            try:
                while self.send_due() and not self._closed.is_set():
                    pass
                self._wait = _SECONDS
            except Exception as error:  # noqa: BLE001 - the tick goes on, and the event is sent later
                self._wait = min(2 * self._wait, _LONGEST_WAIT)
                _LOGGER.warning("OpenLineage events wait %.0f s: %s", self._wait, _told(error))
            self._closed.wait(self._wait)


def _newest_types(notes: CatalogNotes, entity: str) -> Mapping[str, str]:
    schemas = notes.schemas(entity)
    return schemas[-1].columns if schemas else {}


def _is_refusal(error: Exception) -> bool:
    """Whether the event itself is at fault: the receiver says so, or it could not be built."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status in _REFUSALS if status else isinstance(error, (ValueError, TypeError, LookupError, AttributeError))


def _told(error: Exception) -> str:
    """The kind of error and the receiver's status, without the address, which may hold a password."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    return f"{type(error).__name__}{f', the receiver answered {status}' if status else ''}"
