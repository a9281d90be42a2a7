"""What is read of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidemark.dependency_model.offset.offset import Offset


@dataclass(frozen=True, slots=True)
class Read:
    """Offsets whose slices together are what is read, or why they cannot be told. `where` is `file:line:column`."""

    table: str
    where: str
    offsets: tuple[Offset, ...] = ()
    undecidable: str = ""

    def __str__(self) -> str:
        return f"undecidable: {self.undecidable}" if self.undecidable else " and ".join(map(str, self.offsets))
