"""Checks events of Dagster's log: any user of Dagster can write one, with any key and metadata.

The limits are those of reports over HTTP and topics (`storable_json`): numbers that fit databases, Unicode texts, keys
of existing slices in Dagster's spelling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tidemark.center.detectors.storable_json import INT64, is_storable
from tidemark.center.errors import RequestError
from tidemark.center.fact import SECONDS, SIZE_BYTES
from tidemark.dependency_model.entity.dependency import COMPLETED
from tidemark.dependency_model.suggestion import quote_value
from tidemark.warehouse.dagster_partition_keys import partition_of, slice_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import dagster as dg

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice

STATE_KEY: Final = "tidemark/state"
MISSING_KEY: Final = "tidemark/missing"
FORCED_KEY: Final = "tidemark/forced"
UNCHANGED_KEY: Final = "tidemark/unchanged"
VERSION_KEY: Final = "delta_version"
ROWS_KEY: Final = "dagster/row_count"
BYTES_KEY: Final = "bytes"
SECONDS_KEY: Final = "seconds"
PROBE_KEY: Final = "tidemark/probe"
CODE_KEY: Final = "tidemark/code"
CODE_CONTENT_KEY: Final = "tidemark/code_content"
READS_KEY: Final = "tidemark/reads"
"""Metadata of a materialization that the center reads."""
_LONGEST: Final = {STATE_KEY: 256, MISSING_KEY: 1 << 16, CODE_KEY: 256, CODE_CONTENT_KEY: 1 << 20, READS_KEY: 1 << 22}


class ToldSlice(NamedTuple):
    """Facts of a materialization about its slice; `missing` are the missing inputs, as text.

    `code` is the id of the computing code, `code_content` its content; both empty if not reported. `reads` is the
    manifest of a run that the center did not launch, as text.
    """

    state: str
    missing: str
    version: str | None
    rows: int | None
    code: str = ""
    code_content: str = ""
    changed: bool = True
    reads: str = ""
    size_bytes: float | None = None
    seconds: float | None = None

    @property
    def figures(self) -> dict[str, float]:
        """Figures that a slice's transition keeps beside rows and version."""
        told = {SIZE_BYTES: self.size_bytes, SECONDS: self.seconds}
        return {name: value for name, value in told.items() if value is not None}


def facts_from_metadata(materialization: dg.AssetMaterialization) -> ToldSlice:
    """Facts in the metadata; mostly none for other assets, which means that the slice is completed.

    Raises RequestError for values that no store can keep.
    """
    values = {name: value.value for name, value in materialization.metadata.items()}
    version, rows = _number(values, VERSION_KEY), _number(values, ROWS_KEY)
    return ToldSlice(
        state=_text(values, STATE_KEY, COMPLETED),
        missing=_text(values, MISSING_KEY),
        version=None if version is None else str(version),
        rows=rows if rows is not None and rows >= 0 else None,
        changed=values.get(UNCHANGED_KEY) is not True,
        code=_text(values, CODE_KEY),
        code_content=_text(values, CODE_CONTENT_KEY),
        reads=_text(values, READS_KEY),
        size_bytes=_figure(values, BYTES_KEY),
        seconds=_figure(values, SECONDS_KEY),
    )


def told_slice(graph: DependencyGraph, entity: str, partition: str | None) -> Slice:
    """The slice of an entity's partition in the graph. Raises RequestError and ParseError for an invalid key."""
    declared = graph.entity(entity)
    try:
        slice_ = slice_of(declared, partition)
        is_spelled_so = declared.is_static or partition is None or partition_of(declared, slice_) == partition
    except ValueError as error:
        raise _no_partition(graph, entity, partition) from error
    if not is_spelled_so or (partition is not None and not is_storable(partition)):
        raise _no_partition(graph, entity, partition)
    graph.window(slice_)
    return slice_


def _no_partition(graph: DependencyGraph, entity: str, partition: str | None) -> RequestError:
    declared = graph.entity(entity)
    example = partition_of(declared, next(iter(_first(graph, entity))))
    return RequestError(
        f"{entity} has no partition with this key",
        expected=f"a key as Dagster's pages show it, such as {example}",
        found=quote_value(partition or "")[:200],
    )


def _first(graph: DependencyGraph, entity: str) -> list[Slice]:
    node = graph.node(entity)
    return [node.slice(node.existing.start, node.subs[0])]


def _number(values: Mapping[str, object], name: str) -> int | None:
    value = values.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    if value not in INT64:
        raise RequestError("the number is too large", expected="64 bits", where=name)
    return value


def _figure(values: Mapping[str, object], name: str) -> float | None:
    """A number in the metadata; None for other values, because other assets may use the name."""
    value = values.get(name)
    is_figure = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < INT64.stop
    return value if is_figure else None  # type: ignore[return-value]


def _text(values: Mapping[str, object], name: str, default: str = "") -> str:
    value = values.get(name, default)
    if not isinstance(value, str) or len(value) > _LONGEST[name] or not is_storable(value):
        expected = f"at most {_LONGEST[name]:,} characters of Unicode, without NUL"
        raise RequestError("the text cannot be kept", expected=expected, where=name)
    return value
