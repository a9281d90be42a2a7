"""Whether events are enabled, by the variables of OpenLineage's client, which name the transport."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.lineage_events.emitter import LineageEmitter
    from tidemark.state_store.store import StateStore
    from tidemark.warehouse.warehouse import Warehouse

_TRANSPORTS: Final = ("OPENLINEAGE_URL", "OPENLINEAGE_CONFIG", "OPENLINEAGE__TRANSPORT")


def is_wanted(env: Mapping[str, str]) -> bool:
    """Whether a transport is named and not disabled."""
    if env.get("OPENLINEAGE_DISABLED", "").strip().lower() == "true":
        return False
    return any(name.startswith(_TRANSPORTS) and value for name, value in env.items())


def emitter_of_environment(warehouse: Warehouse, store: StateStore) -> LineageEmitter | None:
    """The emitter of a center by this process's environment; None if events are not enabled."""
    if not is_wanted(os.environ):
        return None
    from openlineage.client import OpenLineageClient  # noqa: PLC0415 - without events the client is not loaded

    from tidemark.lineage_events.confirmed_kafka import with_confirmation  # noqa: PLC0415
    from tidemark.lineage_events.emitter import LineageEmitter  # noqa: PLC0415

    return LineageEmitter(warehouse, store, os.environ, lambda: with_confirmation(OpenLineageClient()))
