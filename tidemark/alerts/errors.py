"""What goes wrong with channels; no text here holds an address, which may be a secret as a whole.

TransientError
`-- ChannelError          a receiver did not take a message: it is sent again, later
TerminalError
`-- ChannelSettingError   a channel without an address, or with one that nobody understands
"""

from __future__ import annotations

from tidemark.errors import TerminalError, TransientError


class ChannelError(TransientError):
    """A receiver did not take a message."""


class ChannelSettingError(TerminalError):
    """A channel without an address, or with one that nobody understands."""
