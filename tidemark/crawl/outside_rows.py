"""The rows of files of other systems: one reader for probes, rules and queries.

Nothing is inferred from texts. A CSV file has only texts, as in Spark: an unquoted empty value is NULL, and no word is.
JSON has the types of the values in all lines of all files. Writers leave empty files for partitions without rows.
"""

from __future__ import annotations

import csv as text_csv
import io
import sys
from collections import Counter
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final, Literal

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv
from pyarrow import parquet as pq

from tidemark.crawl.errors import ProbeError
from tidemark.crawl.json_lines import JsonLines
from tidemark.crawl.orc_files import Moved, orc_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow.dataset as ds
    from pyarrow.fs import FileInfo

    from tidemark.crawl.folders import Folder

_BLOCK: Final = 1 << 20
FileForm = Literal["parquet", "orc", "csv", "json"]
_ENDS: Final[dict[str, FileForm]] = {
    "parquet": "parquet",
    "orc": "orc",
    "csv": "csv",
    "csv.gz": "csv",
    "csv.bz2": "csv",
    **dict.fromkeys(("json", "jsonl", "json.gz", "jsonl.gz", "json.bz2", "jsonl.bz2"), "json"),
}


class OutsideRows:
    """Rows of data files of one format, which the ends of their names show. Raises ProbeError for other files."""

    def __init__(self, folder: Folder, files: Sequence[FileInfo]) -> None:
        self.form = _form_of(files)
        self._folder = folder
        self.paths = [str(info.path) for info in files if info.size]
        self._local: Moved = {}

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns of all files together; empty without files. Raises ProbeError if two columns have one name."""
        return _with_own_names(self.arrow.schema) if self.paths else pa.schema([])

    @cached_property
    def arrow(self) -> ds.Dataset | JsonLines | FileByFile:
        """The rows for a reader of Arrow. Raises ProbeError for an unreadable file, with its name."""
        if self.form == "json":
            return JsonLines(self._folder, self.paths)
        try:
            columns = _of_all(list(self.alike))
            return FileByFile(self, columns) if self._local else self._dataset(self.paths, columns)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise ProbeError.of_rows(error) from error

    @cached_property
    def alike(self) -> dict[pa.Schema, list[str]]:
        """The files by their columns; all JSON files together.

        Raises ProbeError for an unreadable file, with its name.
        """
        if self.form == "json":
            return {self.schema: self.paths} if self.paths else {}
        apart: dict[pa.Schema, list[str]] = {}
        for path in self.paths:
            apart.setdefault(self._columns_of(path), []).append(path)
        return apart

    def table(self) -> pa.Table:
        """All rows, in memory. Raises ProbeError for an unreadable file, with its name."""
        if isinstance(self.arrow, JsonLines):
            return pa.RecordBatchReader.from_stream(self.arrow).read_all()
        return pa.concat_tables([self._read(path) for path in self.paths])

    def _read(self, path: str) -> pa.Table:
        try:
            return self.scanner(path, self.schema).to_table()
        except (pa.ArrowException, OSError, ValueError) as error:
            raise ProbeError.of_rows(error, path) from error

    def scanner(self, path: str, columns: pa.Schema) -> ds.Scanner:
        """A scan of one file with these columns. Raises what Arrow raises."""
        zone, moved = self._local.get(path, ("UTC", frozenset()))
        stored = [field.with_type(pa.timestamp("us")) if field.name in moved else field for field in columns]
        values = {
            field.name: _instant(field, zone) if field.name in moved else pc.field(field.name) for field in stored
        }
        return self._dataset([path], pa.schema(stored)).scanner(columns=values)

    def _columns_of(self, path: str) -> pa.Schema:
        try:
            columns = self._dataset([path], None).schema
            if self.form == "orc":
                columns, moved = orc_columns(path, self._folder, columns)
                self._local.update(moved)
            instants = _instants(path, self._folder) if self.form == "parquet" else set()
        except (pa.ArrowException, OSError, ValueError) as error:
            raise ProbeError.of_rows(error, path) from error
        return pa.schema([_plain(field, self.form, is_instant=field.name in instants) for field in columns])

    def _dataset(self, paths: Sequence[str], columns: pa.Schema | None) -> ds.Dataset:
        from pyarrow import dataset as ds  # noqa: PLC0415 - it loads pandas

        return ds.dataset(paths, columns, filesystem=self._folder.system, format=_formats()[self.form])

    def require_quotes(self) -> None:
        """Raises ProbeError for a CSV file with a quote that readers understand in different ways, as in `"a"b`.

        In a quoted value quotes are doubled.
        """
        for path in self.paths if self.form == "csv" else ():
            if self._has_quote(path):
                with self._folder.system.open_input_stream(path) as stream:
                    _require_quotes(io.TextIOWrapper(stream, "utf-8-sig", newline=""), path)

    def _has_quote(self, path: str) -> bool:
        try:
            with self._folder.system.open_input_stream(path) as stream:
                return any(b'"' in block for block in iter(lambda: stream.read(_BLOCK), b""))
        except OSError as error:
            raise ProbeError.of_rows(error, path) from error

    def count(self) -> int:
        """The number of rows. Raises ProbeError."""
        try:
            return self.arrow.count_rows() if self.paths else 0
        except (pa.ArrowException, OSError, ValueError) as error:
            raise ProbeError.of_rows(error) from error


def _of_all(alike: list[pa.Schema]) -> pa.Schema:
    """The columns of all files. Raises ProbeError for a column that has no type for all of them."""
    try:
        return pa.unify_schemas(alike, promote_options="permissive")
    except pa.ArrowTypeError as error:
        raise ProbeError(
            "the files have a column with types that do not fit together",
            expected="one type for each column",
            found=str(error).partition(": ")[2] or None,
        ) from error


class FileByFile:
    """The rows of files of which each has a clock, for a reader of Arrow streams such as DuckDB."""

    def __init__(self, rows: OutsideRows, columns: pa.Schema) -> None:
        self.schema, self._rows = columns, rows

    def count_rows(self) -> int:
        return sum(scanner.count_rows() for scanner in self._scanners())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        batches = (batch for scanner in self._scanners() for batch in scanner.to_batches())
        return pa.RecordBatchReader.from_batches(self.schema, batches).__arrow_c_stream__(requested_schema)

    def _scanners(self) -> Iterator[ds.Scanner]:
        return (self._rows.scanner(path, self.schema) for path in self._rows.paths)


def _instant(column: pa.Field, zone: str) -> ds.Expression:
    """A column of local times as instants. A time that the clock has twice, or never, is an error of Arrow."""
    return pc.assume_timezone(pc.field(column.name), zone).cast(pa.timestamp("us", "UTC"))


def _require_quotes(text: io.TextIOWrapper, path: str) -> None:
    text_csv.field_size_limit(sys.maxsize)
    last = ""

    def read() -> Iterator[str]:
        nonlocal last
        for last in text:  # noqa: UP028 - the last line is looked at below
            yield last

    lines = text_csv.reader(read(), strict=True)
    try:
        for _ in lines:
            pass
    except (text_csv.Error, UnicodeError, OSError) as error:
        raise ProbeError(
            "a line is not CSV",
            expected="UTF-8, with doubled quotes inside quoted values",
            where=f"{path.rpartition('/')[2]}:{lines.line_num}",
        ) from error
    if last.endswith(",") and '"' in last:
        # Arrow takes the empty value for a text, as it does not see the end of the value.
        raise ProbeError(
            "the last line has no line end, and its last value is empty",
            expected="a line end after the last line of a file with quotes",
            where=f"{path.rpartition('/')[2]}:{lines.line_num}",
        )


def _with_own_names(columns: pa.Schema) -> pa.Schema:
    """The columns. Raises ProbeError for names that Spark and DuckDB do not tell apart."""
    twice = [name for name, times in Counter(map(str.lower, columns.names)).items() if times > 1]
    if twice:
        raise ProbeError("columns share a name", expected="names that differ by more than case", found=", ".join(twice))
    return columns


def _form_of(files: Sequence[FileInfo]) -> FileForm:
    names = [str(info.base_name) for info in files]
    forms = {_form(name) for name in names}
    form = next(iter(forms), None)
    if form is None or len(forms) > 1:
        expected = f"files of one format: .{', .'.join(_ENDS)}"
        raise ProbeError(
            "rules cannot be counted in these files", expected=expected, found=", ".join(sorted(set(names))[:3])
        )
    return form


def _form(name: str) -> FileForm | None:
    return next((form for end, form in _ENDS.items() if name.lower().endswith(f".{end}")), None)


@lru_cache(maxsize=1)
def _formats() -> dict[str, ds.FileFormat]:
    from pyarrow import dataset as ds  # noqa: PLC0415 - it loads pandas

    texts = csv.ConvertOptions(null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False)
    return {
        # INT96 in nanoseconds does not reach back to the year 1.
        "parquet": ds.ParquetFileFormat(coerce_int96_timestamp_unit="us"),
        "orc": ds.OrcFileFormat(),
        "csv": ds.CsvFileFormat(csv.ParseOptions(newlines_in_values=True), convert_options=texts),
    }


def _instants(path: str, folder: Folder) -> set[str]:
    """The columns of a Parquet file with INT96, which Spark, Hive and Impala use for instants."""
    with pq.ParquetFile(path, filesystem=folder.system) as file:
        leaves = [file.schema.column(number) for number in range(len(file.schema))]
        old = [str(leaf.path) for leaf in leaves if leaf.physical_type == "INT96"]
        return {name for name in file.schema_arrow.names if any(f"{way}.".startswith(f"{name}.") for way in old)}


def _plain(field: pa.Field, form: FileForm, *, is_instant: bool) -> pa.Field:
    """A column without properties of its writer; in a CSV file a text."""
    if form == "csv":
        return pa.field(field.name, pa.string())
    return pa.field(field.name, plain_type(field.type, "UTC" if is_instant else None))


_SAME: Final = (
    ((pa.types.is_large_string, pa.types.is_string_view), pa.string()),
    ((pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_fixed_size_binary), pa.binary()),
    ((pa.types.is_uint8,), pa.int16()),
    ((pa.types.is_uint16,), pa.int32()),
    ((pa.types.is_uint32,), pa.int64()),
    ((pa.types.is_uint64,), pa.decimal128(20, 0)),
    ((pa.types.is_date64,), pa.date32()),
)
_LISTS: Final = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)


def plain_type(kind: pa.DataType, zone: str | None = None) -> pa.DataType:
    """A type in Spark's form: without dictionaries, views, long offsets and unsigned numbers, which only Arrow has.

    Times without a zone get this one. An instant is in UTC: its zone is a property of the writer.
    """
    if isinstance(kind, (pa.BaseExtensionType, pa.DictionaryType)):
        return plain_type(kind.value_type if pa.types.is_dictionary(kind) else kind.storage_type, zone)
    if any(is_list(kind) for is_list in _LISTS):
        return pa.list_(plain_type(kind.value_type, zone))
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, plain_type(field.type, zone)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(plain_type(kind.key_type, zone), plain_type(kind.item_type, zone))
    if pa.types.is_timestamp(kind):
        return pa.timestamp(kind.unit, "UTC" if kind.tz else zone)
    return next((plain for tests, plain in _SAME if any(is_kind(kind) for is_kind in tests)), kind)
