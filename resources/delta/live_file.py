"""A file of a table as the log describes it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from resources.delta.optimistic import file_name


@dataclass(frozen=True)
class LiveFile:
    """One `add` of the log. `rows` are those not hidden by a deletion vector; `vector` tells two vectors apart.

    `add` is Delta's own object, for a transaction.
    """

    name: str
    rows: int
    size_bytes: int
    vector: str
    add: Any

    @classmethod
    def of(cls, add: Any, told: Mapping[str, Any]) -> Self:
        """From Delta's AddFile and what the log says of it."""
        vector = told.get("deletionVector") or {}
        rows = json.loads(told.get("stats") or "{}").get("numRecords", 0)
        return cls(
            name=file_name(told["path"]),
            rows=rows - vector.get("cardinality", 0),
            size_bytes=told["size"],
            vector=json.dumps([vector.get(name) for name in ("storageType", "pathOrInlineDv", "offset")]),
            add=add,
        )

    @property
    def has_vector(self) -> bool:
        return self.vector != _NO_VECTOR

    @property
    def identity(self) -> tuple[str, str]:
        """The same content has the same name and the same vector."""
        return self.name, self.vector


_NO_VECTOR = json.dumps([None, None, None])
