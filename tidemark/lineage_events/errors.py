"""Errors of OpenLineage events.

TransientError
`-- UndeliveredEventError a broker did not confirm an event: it is sent again
"""

from __future__ import annotations

from tidemark.errors import TransientError


class UndeliveredEventError(TransientError):
    """A broker did not confirm an event in time."""
