"""The expanded size of a gzip file, measured in constant memory."""

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

MAX_LINE_BYTES: Final = 32_000_000
"""The most bytes of a record. MySQL's default limit for one statement is 16 MB."""
MAX_FILE_BYTES: Final = 2_000_000_000
_CHUNK: Final = 1 << 20
_PACKED: Final = 1 << 14
"""Bytes of each read. For every member of the file the rest is copied, and a file may have 100,000 members."""
_GZIP: Final = zlib.MAX_WBITS | 16


class ExpandedSize(NamedTuple):
    """Bytes in total and of the longest line, as far as the file was read: up to a limit or a fault."""

    total: int
    longest_line: int

    @property
    def excess(self) -> tuple[str, str] | None:
        """The exceeded limit and the measured value as text; None within the limits."""
        if self.longest_line > MAX_LINE_BYTES:
            return f"lines of at most {MAX_LINE_BYTES:,} bytes", f"a line of {self.longest_line:,} bytes or more"
        if self.total > MAX_FILE_BYTES:
            return f"at most {MAX_FILE_BYTES:,} expanded bytes", f"{self.total:,} or more"
        return None


def expanded_size(path: Path) -> ExpandedSize:
    """Expand the file up to a limit or a fault. A fault is reported later, when its records are read."""
    size = ExpandedSize(0, 0)
    line = 0
    for chunk in _chunks_of(path):
        first, last = chunk.find(b"\n"), chunk.rfind(b"\n")
        line, longest = (line + len(chunk), 0) if first < 0 else (len(chunk) - last - 1, line + first)
        size = ExpandedSize(size.total + len(chunk), max(size.longest_line, longest, line))
        if size.excess:
            break
    return size


def _chunks_of(path: Path) -> Iterator[bytes]:
    """The expanded content of the file's members, in chunks."""
    expander = zlib.decompressobj(_GZIP)
    try:
        with path.open("rb") as file:
            while packed := expander.unused_data or expander.unconsumed_tail or file.read(_PACKED):
                if expander.eof:
                    expander = zlib.decompressobj(_GZIP)
                yield expander.decompress(packed, _CHUNK)
    except (OSError, zlib.error):
        return
