"""Tables named with their schema: `dwd.dwd_orders` is the entity `dwd_orders`, a view of that name in Spark.

The text that runs has no qualifiers. They are found in the text alone, because every process does so at its start. The
analysis, which has the query's tree, then checks that each such name is a table's (`table_names`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage.sql_text import code_and_names_of, leave_out

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_NAME: Final = r"(?:\w+|`[^`\n]+`)"
_CHAIN: Final = re.compile(rf"(?<![\w.`:$@{{]){_NAME}(?:\s*\.\s*{_NAME})+")
_PART: Final = re.compile(_NAME)
_CATALOG: Final = "spark_catalog"


@dataclass(frozen=True)
class Naming:
    """The names that a table may have:

    an entity after its layer or after one of the project's schemas, in lower case.
    """

    layer_by_entity: Mapping[str, str]
    schemas: frozenset[str] = frozenset()

    def may_qualify(self, text: str) -> bool:
        """Whether the text may contain a qualifier: a fast check that never misses one.

        A schema or a layer, perhaps in back quotes, comes before a dot. With comments in the text, any dot counts.
        """
        if "--" in text or "/*" in text:
            return "." in text
        return any(part.rstrip().endswith(self._endings) for part in text.lower().split(".")[:-1])

    @cached_property
    def _endings(self) -> tuple[str, ...]:
        return (*self.schemas, *filter(None, set(self.layer_by_entity.values())), "`")

    def is_qualifier(self, qualifiers: Sequence[str], entity: str) -> bool:
        """Whether these words qualify an entity, and no other entity can be meant."""
        *catalogs, schema = qualifiers
        if any(catalog != _CATALOG and catalog not in self.schemas for catalog in catalogs):
            return False
        if schema in self.schemas:
            return True
        return schema == self.layer_by_entity.get(entity) and f"{schema}_{entity}" not in self.layer_by_entity


def leave_out_qualifiers(text: str, naming: Naming) -> tuple[str, tuple[int, ...]]:
    """The text without qualifiers, and the positions where the entities' names begin."""
    names: list[int] = []
    if not naming.may_qualify(text):
        return text, ()
    for start, end in _qualifiers(code_and_names_of(text), naming):
        text = leave_out(text, start, end)
        names.append(end)
    return text, tuple(names)


def _qualifiers(code: str, naming: Naming) -> Iterator[tuple[int, int]]:
    """The start of each qualifier, and the start of the entity's name after it."""
    for chain in _CHAIN.finditer(code):
        parts = list(_PART.finditer(code, chain.start(), chain.end()))
        for at in (1, 2):
            lowered = [part[0].strip("`").lower() for part in parts[: at + 1]]
            if len(lowered) > at and lowered[at] in naming.layer_by_entity:
                if naming.is_qualifier(lowered[:at], lowered[at]):
                    yield chain.start(), parts[at].start()
                break
