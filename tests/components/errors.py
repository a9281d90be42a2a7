"""The recorder's own error; those of servers are in `resources.servers.errors`."""

from __future__ import annotations

from resources.servers.errors import ComponentError


class RecordingError(ComponentError):
    """What was recorded is not what the workload did."""
