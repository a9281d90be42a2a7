"""Rules of an external slice whose rows lie in files: DuckDB counts what breaks them, in one query (A5)."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from threading import Timer
from typing import TYPE_CHECKING, Final

import duckdb
import pyarrow as pa
from deltalake.exceptions import DeltaError
from pyarrow import csv

from tidemark.crawl.errors import ProbeError
from tidemark.crawl.rule_query import SourceRows, columns_of, condition, figures_of, measured
from tidemark.delta.rows_without_spark import QueriedRows

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import pyarrow.dataset as ds
    from pyarrow.fs import FileInfo

    from tidemark.crawl.folders import Folder
    from tidemark.crawl.probed_slice import ProbeContext, ProbedSlice
    from tidemark.dependency_model.arrival.sighting import Sight

DUCKDB: Final = "duckdb"
_RELATION: Final = "slice_of_table"
_CONFINED: Final[dict[str, str | bool | int | float | list[str]]] = {"threads": "2", "memory_limit": "1GB"}

_QUOTING: Final = re.compile(r": |, got |\bgot \d|'")
"""Behind it a message quotes values or lines."""

Measured = dict[str, float | None]


def measure(
    rows: ds.Dataset | QueriedRows, partition: Mapping[str, object], probed: ProbedSlice, seconds: int
) -> Measured:
    """What breaks the slice's rules among the rows with these values, within so many seconds. Raises ProbeError."""
    bound: list[tuple[str, object]] = [("1 = ?", 1)]
    bound += [(condition(name, "=", DUCKDB), value) for name, value in partition.items()]
    mine = SourceRows(DUCKDB, _RELATION, " AND ".join(text for text, _ in bound), tuple(value for _, value in bound))
    if not isinstance(rows, QueriedRows):  # of those the columns are asked for by name
        _require_columns(rows, columns_of(probed.rules) | partition.keys())
    figures = figures_of(probed.rules, mine)
    query, values = mine.query(list(figures.values()))
    try:
        with duckdb.connect(config=_CONFINED) as session:
            session.execute("SET TimeZone = 'UTC'")
            session.register(_RELATION, rows)
            timer = Timer(seconds, session.interrupt)
            timer.start()
            try:
                answer = session.execute(query, values).fetchone() or ()
            finally:
                timer.cancel()
    except (DeltaError, duckdb.Error, pa.ArrowException, OSError) as error:
        raise _unreadable(error) from error
    return measured(probed.rules, figures, answer, probed)


def _require_columns(rows: ds.Dataset, needed: Collection[str]) -> None:
    """DuckDB takes a quoted name that is no column for a function of that name, such as `user`. Raises ProbeError."""
    there = {name.lower() for name in rows.schema.names}
    missing = sorted(name for name in needed if name.lower() not in there)
    if missing:
        raise ProbeError(
            "the rules are about columns that the rows do not have",
            expected=", ".join(missing),
            found=", ".join(sorted(there))[:300] or "no column",
        )


def with_rules(
    seen: Sight, folder: Folder, data: Sequence[FileInfo], probed: ProbedSlice, context: ProbeContext
) -> Sight:
    """The sight, with what breaks the slice's rules in its data files. Raises ProbeError."""
    if not probed.rules or not data:
        return seen
    rows = rows_of_files(folder, data)
    broken = measure(rows, {}, probed, context.timeout_seconds)
    return replace(seen, rows=rows.count_rows() if seen.rows is None else seen.rows, measured=tuple(broken.items()))


def rows_of_files(folder: Folder, files: Sequence[FileInfo]) -> ds.Dataset:
    """The rows of data files of one format, which the ends of their names tell. Raises ProbeError."""
    forms = [_format(str(info.base_name)) for info in files]
    if forms[0] is None or any(form is not forms[0] for form in forms):
        names = ", ".join(sorted({str(info.base_name) for info in files})[:3])
        expected = f"all of one form: .{', .'.join(_formats())}"
        raise ProbeError("no rule can be counted in these files", expected=expected, found=names)
    from pyarrow import dataset as ds  # noqa: PLC0415 - it loads pandas

    try:
        rows = ds.dataset([info.path for info in files], filesystem=folder.system, format=forms[0])
        schemas = [fragment.physical_schema for fragment in rows.get_fragments()]
        return rows.replace_schema(pa.unify_schemas(schemas, promote_options="permissive"))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _unreadable(error) from error


@lru_cache(maxsize=1)
def _formats() -> dict[str, ds.FileFormat]:
    """How rows are written, by the end of a file's name; JSON is an object a line."""
    from pyarrow import dataset as ds  # noqa: PLC0415 - it loads pandas

    texts = csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False)
    of_csv = ds.CsvFileFormat(convert_options=texts)
    return {
        "parquet": ds.ParquetFileFormat(coerce_int96_timestamp_unit="us"),
        "orc": ds.OrcFileFormat(),
        "csv": of_csv,
        "csv.gz": of_csv,
        **dict.fromkeys(("json", "jsonl", "json.gz", "jsonl.gz"), ds.JsonFileFormat()),
    }


def _format(name: str) -> ds.FileFormat | None:
    return next((form for end, form in _formats().items() if name.lower().endswith(f".{end}")), None)


def _unreadable(error: Exception) -> ProbeError:
    """A message of a reader may quote what it read: no more of it is told than its kind."""
    return ProbeError("the rows could not be read for the rules", found=_reason(error))


def _reason(error: Exception) -> str:
    first = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {_QUOTING.split(first)[0]}"[:300]
