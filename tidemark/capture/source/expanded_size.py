"""How big a gzip file is once it is expanded, found out without keeping what it expands to."""

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

MAX_LINE_BYTES: Final = 32_000_000
"""Of a record; MySQL's own limit of what one statement sends is 16 MB by default."""
MAX_FILE_BYTES: Final = 2_000_000_000
_CHUNK: Final = 1 << 20
_PACKED: Final = 1 << 14
"""Read at once: what is left of it is copied for every member, of which a file may have hundreds of thousands."""
_GZIP: Final = zlib.MAX_WBITS | 16


class ExpandedSize(NamedTuple):
    """Bytes in all and of the longest line, as far as the file was read: no further than to a limit or a fault."""

    total: int
    longest_line: int

    @property
    def excess(self) -> tuple[str, str] | None:
        """What a change file may have and what this one has, in words; None for one within the limits."""
        if self.longest_line > MAX_LINE_BYTES:
            return f"lines of at most {MAX_LINE_BYTES:,} bytes", f"a line of {self.longest_line:,} bytes or more"
        if self.total > MAX_FILE_BYTES:
            return f"at most {MAX_FILE_BYTES:,} expanded bytes", f"{self.total:,} or more"
        return None


def expanded_size(path: Path) -> ExpandedSize:
    """Expand the file up to a limit. A fault in it ends it: whoever reads the records finds it and names the place."""
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
    """What the members of the file expand to, a chunk at a time."""
    expander = zlib.decompressobj(_GZIP)
    try:
        with path.open("rb") as file:
            while packed := expander.unused_data or expander.unconsumed_tail or file.read(_PACKED):
                if expander.eof:
                    expander = zlib.decompressobj(_GZIP)
                yield expander.decompress(packed, _CHUNK)
    except (OSError, zlib.error):
        return
