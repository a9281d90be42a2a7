"""Records out of landed change files."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pyspark.sql import SparkSession

from tidemark.capture.source.file_scan import scan_files
from tidemark.capture.source.intake import Due
from tidemark.capture.source.landing import ChangeFile, landed_files, within
from tidemark.capture.source.scan import Scan
from tidemark.capture.source_table import SourceTable

# Compressed bytes of change files of one instance that a pass caches and parses; they shrink about twentyfold.
PASS_BYTES = 64_000_000


class FileIntake:
    """The files in a landing folder."""

    def __init__(self, landing: Path) -> None:
        self._landing = landing

    def due(self, next_offsets: Mapping[str, int], refused: Mapping[str, int], scale: int) -> Due:
        """The next files, together no bigger than a pass takes."""
        files = [
            file
            for instance, offset in next_offsets.items()
            for file in landed_files(self._landing, instance, offset)
            if file.first_offset < refused.get(instance, file.first_offset + 1)
        ]
        chosen = within(files, PASS_BYTES * scale)
        return Due(chosen, len(chosen) < len(files))

    def scan(self, spark: SparkSession, due: Due, tables: Sequence[SourceTable], reached: Mapping[str, int]) -> Scan:
        """Read and check the files. Raises CorruptFileError or MalformedLineError when one of them cannot be used."""
        files = [piece for piece in due.pieces if isinstance(piece, ChangeFile)]
        return scan_files(spark, files, tables, reached)
