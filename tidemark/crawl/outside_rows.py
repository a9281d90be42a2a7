"""The rows of files that others wrote: one reader for probes, for rules and for queries.

Nothing is guessed of a text. A CSV file has texts alone, as Spark reads it: an empty one without quotes is NULL, and no
word is. JSON has the types that its values have in all lines of all files together. Files without a byte are what
writers leave for partitions without rows.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final, Literal

import pyarrow as pa
from pyarrow import csv

from tidemark.crawl.errors import ProbeError
from tidemark.crawl.json_lines import JsonLines

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow.dataset as ds
    from pyarrow.fs import FileInfo

    from tidemark.crawl.folders import Folder

FileForm = Literal["parquet", "orc", "csv", "json"]
_ENDS: Final[dict[str, FileForm]] = {
    "parquet": "parquet",
    "orc": "orc",
    "csv": "csv",
    "csv.gz": "csv",
    **dict.fromkeys(("json", "jsonl", "json.gz", "jsonl.gz"), "json"),
}


class OutsideRows:
    """Rows of data files of one form, which the ends of their names tell. Raises ProbeError where they are not."""

    def __init__(self, folder: Folder, files: Sequence[FileInfo]) -> None:
        self.form = _form_of(files)
        self._folder = folder
        self.paths = [str(info.path) for info in files if info.size]

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns of all files together; empty where no file has any."""
        return self.arrow.schema if self.paths else pa.schema([])

    @cached_property
    def arrow(self) -> ds.Dataset | JsonLines:
        """The rows for who reads Arrow. Raises ProbeError for a file that cannot be read, with its name."""
        if self.form == "json":
            return JsonLines(self._folder, self.paths)
        from pyarrow import dataset as ds  # noqa: PLC0415 - it loads pandas

        try:
            inspected = ds.dataset(self.paths, filesystem=self._folder.system, format=_formats()[self.form])
            schemas = [_plain(fragment.physical_schema, self.form) for fragment in inspected.get_fragments()]
            schema = pa.unify_schemas(schemas, promote_options="permissive")
            return ds.dataset(self.paths, schema, filesystem=self._folder.system, format=_formats()[self.form])
        except (pa.ArrowException, OSError, ValueError) as error:
            raise ProbeError.of_rows(error) from error

    def count(self) -> int:
        """How many rows there are. Raises ProbeError."""
        try:
            return self.arrow.count_rows() if self.paths else 0
        except (pa.ArrowException, OSError, ValueError) as error:
            raise ProbeError.of_rows(error) from error


def _form_of(files: Sequence[FileInfo]) -> FileForm:
    names = [str(info.base_name) for info in files]
    forms = {_form(name) for name in names}
    form = next(iter(forms), None)
    if form is None or len(forms) > 1:
        expected = f"all of one form: .{', .'.join(_ENDS)}"
        raise ProbeError(
            "no rule can be counted in these files", expected=expected, found=", ".join(sorted(set(names))[:3])
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


def _plain(schema: pa.Schema, form: FileForm) -> pa.Schema:
    """The columns of a file without what its writer alone knew; of a CSV file texts."""
    return pa.schema([(field.name, pa.string() if form == "csv" else plain_type(field.type)) for field in schema])


def plain_type(kind: pa.DataType) -> pa.DataType:
    """A type as Parquet has it: a dictionary, a view or long offsets are notes of Arrow's."""
    if pa.types.is_dictionary(kind):
        return plain_type(kind.value_type)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return pa.binary()
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(plain_type(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, plain_type(field.type)) for field in kind])
    return kind
