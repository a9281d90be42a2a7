"""A data file as a manifest lists it, with the file of its hidden rows."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from tidemark.strict_json import json_text


@dataclass(frozen=True)
class ListedFile:
    """`partition` has values as in manifests; `rows` counts hidden rows, too. `deletes` lists the `hidden` rows."""

    uri: str
    partition: tuple[Any, ...]
    rows: int
    size_bytes: int
    deletes: str = ""
    hidden: int = 0
    deletes_bytes: int = 0

    @property
    def text(self) -> str:
        """A text that differs between any two files."""
        return json_text([self.uri, [str(value) for value in self.partition], self.rows, self.size_bytes, self.deletes])


def digest_of(*texts: str) -> str:
    """A name for the content that these texts describe."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:32]


def number_of(digest: str) -> int:
    """A positive number of 63 bits, as ids of snapshots are."""
    return int(digest[:16], 16) >> 1 or 1
