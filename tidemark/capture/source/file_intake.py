"""The intake of records from landed change files."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pyspark.sql import SparkSession

from tidemark.capture.errors import FileTooBigError
from tidemark.capture.source.change_files import ChangeFile, landed_files, within
from tidemark.capture.source.expanded_size import ExpandedSize, expanded_size
from tidemark.capture.source.file_scan import scan_files
from tidemark.capture.source.intake import Due
from tidemark.capture.source.scan import Scan
from tidemark.capture.source_table import SourceTable

# Expanded bytes of change files that a pass caches and parses.
PASS_BYTES = 1_280_000_000


class FileIntake:
    """The files in a landing folder."""

    def __init__(self, landing: Path) -> None:
        self._landing = landing
        self._sizes: dict[ChangeFile, ExpandedSize] = {}

    def due(self, next_offsets: Mapping[str, int], refused: Mapping[str, int], scale: float) -> Due:
        """The next files, up to the size of a pass."""
        files = [
            file
            for instance, offset in next_offsets.items()
            for file in landed_files(self._landing, instance, offset)
            if file.first_offset < refused.get(instance, file.first_offset + 1)
        ]
        self._sizes = {file: size for file, size in self._sizes.items() if file in files}
        chosen = within(files, int(PASS_BYTES * scale), lambda file: self._size(file).total)
        return Due(chosen, len(chosen) < len(files))

    def scan(self, spark: SparkSession, due: Due, tables: Sequence[SourceTable], reached: Mapping[str, int]) -> Scan:
        """Read and check the files.

        Raises FileTooBigError, CorruptFileError or MalformedLineError if one of them cannot be used.
        """
        files = [unit for unit in due.units if isinstance(unit, ChangeFile)]
        for file in files:
            excess = self._size(file).excess
            if excess:
                raise FileTooBigError.of(file.path, *excess)
        return scan_files(spark, files, tables, reached)

    def _size(self, file: ChangeFile) -> ExpandedSize:
        """The expanded size, measured once, because files never change."""
        if file not in self._sizes:
            self._sizes[file] = expanded_size(file.path)
        return self._sizes[file]
