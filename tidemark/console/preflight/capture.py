"""Checks of Kafka and databases before capture starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.errors import TerminalError

if TYPE_CHECKING:
    from tidemark.system.check_finding import Finding
    from tidemark.system.settings import Settings


def capture(settings: Settings) -> list[Finding]:
    """All findings, if Kafka or databases are set; none if the declarations cannot be read.

    Commands that load the declarations report their errors themselves.
    """
    if not (settings.kafka or settings.databases.get_secret_value()):
        return []
    from tidemark.capture.operations.preflight.all_checks import examine  # noqa: PLC0415 - only where something is captured
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    try:
        sources = load_warehouse(settings).source_tables()
    except TerminalError:
        return []
    return examine(settings, sources)
