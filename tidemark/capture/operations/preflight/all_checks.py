"""Runs all checks that come before capture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.capture.heartbeat.errors import DatabaseAddressError
from tidemark.capture.heartbeat.source_databases import databases
from tidemark.capture.operations.preflight import declarations_and_settings as of_sources
from tidemark.capture.source_table import instances_of
from tidemark.system.check_finding import Finding, require_no_problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.capture.source_table import SourceTable
    from tidemark.system.settings import Settings

REFUSED = "nothing can be captured until this is correct"


def examine(settings: Settings, sources: Sequence[SourceTable]) -> list[Finding]:
    """All findings about the declarations, Kafka, Kafka Connect and the databases. Nothing is written."""
    return [
        *declaration_findings(settings, sources),
        *_of_kafka(settings, sources),
        *connector_findings(settings, sources),
        *_of_databases(settings, sources),
    ]


def declaration_findings(settings: Settings, sources: Sequence[SourceTable]) -> list[Finding]:
    """The findings that need no network."""
    try:
        addresses = databases(settings.databases.get_secret_value())
    except DatabaseAddressError as error:
        return [
            *of_sources.tables(sources),
            Finding("TIDEMARK_DATABASES", "problem", str(error.found), error.hint or ""),
        ]
    return [
        *of_sources.tables(sources),
        *of_sources.canal(settings.by_canal, sources),
        *(of_sources.addresses(addresses, sources) if settings.kafka or addresses else []),
    ]


def require_sound(settings: Settings, sources: Sequence[SourceTable]) -> None:
    """Raise PreflightError for a setting that would make changes wrong or missing.

    A server that does not answer is not an error: only its changes wait, the others are merged.
    """
    require_no_problem((finding for finding in examine(settings, sources) if finding.verdict == "problem"), REFUSED)


def _of_kafka(settings: Settings, sources: Sequence[SourceTable]) -> list[Finding]:
    if not settings.kafka:
        return [Finding("Kafka", "ok", f"not set: changes come from files in {settings.landing}")]
    from tidemark.capture.operations.preflight.broker import broker  # noqa: PLC0415 - loads Kafka's client

    return broker(settings.kafka, instances_of(sources))


def connector_findings(settings: Settings, sources: Sequence[SourceTable]) -> list[Finding]:
    """Kafka Connect's findings about instances that Debezium captures; empty if its address is not set."""
    if not settings.connect:
        return []
    from tidemark.capture.operations.preflight.connectors import connectors  # noqa: PLC0415 - few have its address set

    return connectors(settings.connect, [name for name in instances_of(sources) if name not in settings.by_canal])


def _of_databases(settings: Settings, sources: Sequence[SourceTable]) -> list[Finding]:
    from tidemark.capture.operations.preflight.database import database  # noqa: PLC0415 - loads the databases' client

    try:
        addresses = databases(settings.databases.get_secret_value())
    except DatabaseAddressError:
        return []
    return [finding for address in addresses for finding in database(address, sources)]
