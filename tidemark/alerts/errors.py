"""Errors of channels. No text here contains an address, because a whole address may be a secret.

TransientError
`-- ChannelError           a receiver did not take a message: it is sent again, later
TerminalError
`-- ChannelSettingError    a channel has no address, or an unknown form of address
"""

from __future__ import annotations

from tidemark.errors import TerminalError, TransientError


class ChannelError(TransientError):
    """A receiver did not take a message."""


class ChannelSettingError(TerminalError):
    """A channel has no address, or an address of an unknown form."""
