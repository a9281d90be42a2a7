"""The recorder's own error; those of servers are in `tidemark.console.servers.errors`."""

from __future__ import annotations

from tidemark.console.servers.errors import ComponentError


class RecordingError(ComponentError):
    """What was recorded is not what the workload did."""
