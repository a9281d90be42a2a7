"""The module of each kind of source, and the system's name, by which probes share limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast
from urllib.parse import urlsplit

from tidemark.crawl.errors import ProbeError
from tidemark.crawl.probes import (
    counted_records,
    dagster_asset,
    delta_table,
    files,
    hive_partitions,
    http_json,
    kafka_offsets,
    own_probe,
    sql_table,
)
from tidemark.errors import TidemarkError
from tidemark.system.one_line import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.crawl.probed_slice import ProbeContext, ProbedSlice, SliceProbe
    from tidemark.dependency_model.arrival.sighting import Sight
    from tidemark.dependency_model.entity.probe import Probe

_LONGEST: Final = 2_000
_LOOKS: Final[Mapping[str, SliceProbe]] = {
    name: cast("SliceProbe", look)
    for name, look in {
        "delta": delta_table.look,
        "files": files.look,
        "partitions": hive_partitions.look,
        "sql": sql_table.look,
        "http": http_json.look,
        "kafka": kafka_offsets.look,
        "dagster": dagster_asset.look,
        "counts": counted_records.look,
        "own": own_probe.look,
    }.items()
}


def look_at(probe: Probe, probed: ProbedSlice, context: ProbeContext) -> Sight:
    """The result of a probe of a slice. Raises only TidemarkError, with masked secrets."""
    try:
        return _LOOKS[probe.kind](probe.source, probed, context)
    except TidemarkError as error:
        raise _masked(error, context) from None
    except Exception as error:  # noqa: BLE001 - libraries of others; a probe that fails is asked again
        words = context.secrets.mask(f"{type(error).__name__}: {error}")
        raise ProbeError("the probe failed", found=" ".join(words.split())[:300]) from None


def system_of(probe: Probe) -> str:
    """The name of a probe's system: as declared, or its address, without the values of variables."""
    if probe.system is not None:
        return probe.system
    address = _address(probe)
    return f"{probe.kind}:{address}" if address else probe.kind


def _address(probe: Probe) -> str:
    if probe.sql is not None:
        return probe.sql.url
    if probe.kafka is not None:
        return probe.kafka.servers
    if probe.own is not None:
        return probe.own.entry_point
    if probe.dagster is not None or probe.counts is not None:
        return ""
    given: str = getattr(probe.source, "url", None) or getattr(probe.source, "table", None) or probe.source.path
    return urlsplit(given).netloc if "://" in given else ""


def _masked(error: TidemarkError, context: ProbeContext) -> TidemarkError:
    """The error without secrets, on one line: its texts may quote another system."""
    for name in ("message", "expected", "found", "where", "hint"):
        value = getattr(error, name)
        setattr(error, name, one_line(context.secrets.mask(value), _LONGEST) if value else value)
    error.args = (error.message,)
    return error
