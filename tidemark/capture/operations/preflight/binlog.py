"""Checks a server's binlog settings: whether changes can be captured, and how long they are kept."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from tidemark.system.check_finding import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

SETTINGS: Final = (
    "log_bin",
    "binlog_format",
    "binlog_row_image",
    "binlog_row_value_options",
    "binlog_expire_logs_seconds",
    "expire_logs_days",
)
# A connector or reader that stops on Friday evening is noticed on Monday.
SHORTEST: Final = timedelta(days=3)

_WANTED: Final = {
    "log_bin": ("ON", "changes are not recorded", "start the server with log_bin"),
    "binlog_format": ("ROW", "statements do not contain rows", "SET GLOBAL binlog_format = ROW"),
    "binlog_row_image": ("FULL", "the full row before a change is needed", "SET GLOBAL binlog_row_image = FULL"),
    # A setting of MySQL only.
    "binlog_row_value_options": ("", "JSON values arrive in parts", "SET GLOBAL binlog_row_value_options = ''"),
}
_KEEP: Final = "also in the server's configuration, then reconnect all writers"


def binlog(instance: str, settings: Mapping[str, str]) -> list[Finding]:
    """Whether the binlog holds every change as whole rows; `settings` are the server's values for SETTINGS."""
    wrong = [
        _wrong(f"database {instance}: {name}", settings[name], *wanted)
        for name, wanted in _WANTED.items()
        if name in settings and settings[name].upper() != wanted[0]
    ]
    return wrong or [_retention_finding(f"database {instance}: binlog", kept_for(settings))]


def kept_for(settings: Mapping[str, str]) -> timedelta | None:
    """How long the server keeps its binlog; None for unlimited.

    The newer setting is in seconds, the older in days (possibly a fraction in MariaDB); 0 means unlimited.
    """
    seconds = float(settings.get("binlog_expire_logs_seconds", 0))
    seconds = seconds or float(settings.get("expire_logs_days", 0)) * timedelta(days=1).total_seconds()
    return timedelta(seconds=seconds) if seconds else None


def _wrong(subject: str, problem: str, wanted: str, why: str, to_do: str) -> Finding:
    return Finding(subject, "problem", f"{problem or 'empty'}, not {wanted or 'empty'}: {why}", f"{to_do}, {_KEEP}")


def _retention_finding(subject: str, kept: timedelta | None) -> Finding:
    if kept is None:
        return Finding(subject, "ok", "full rows, never removed by the server")
    if kept >= SHORTEST:
        return Finding(subject, "ok", f"full rows, kept for {kept}")
    problem = f"kept for {kept}: changes are lost if the connector is stopped for longer"
    days = f"{SHORTEST.days} days"
    return Finding(subject, "warning", problem, f"keep it for {days} or more (binlog_expire_logs_seconds)")
