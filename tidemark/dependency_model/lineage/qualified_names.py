"""Tables that are named with their schema: `dwd.dwd_orders` is the entity `dwd_orders`, a view of that name in Spark.

The qualifier is left out of the text that is run. That is told from the text alone, as every start of a process does
it; the analysis, which has the query's tree, then makes sure that each such name is a table's (`table_names`).
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
    """How tables may be named: an entity after its layer, or after one of the project's schemas; in lower case"""

    layer_by_entity: Mapping[str, str]
    schemas: frozenset[str] = frozenset()

    def may_qualify(self, text: str) -> bool:
        """Whether a qualifier can stand in a text, told quickly: where it says no, there is none.

        A schema or a layer stands before a dot, in back quotes or not; where there are comments, anything may.
        """
        if "--" in text or "/*" in text:
            return "." in text
        return any(part.rstrip().endswith(self._endings) for part in text.lower().split(".")[:-1])

    @cached_property
    def _endings(self) -> tuple[str, ...]:
        return (*self.schemas, *filter(None, set(self.layer_by_entity.values())), "`")

    def is_qualifier(self, qualifiers: Sequence[str], entity: str) -> bool:
        """Whether an entity is named after these, and no other one can be meant."""
        *catalogs, schema = qualifiers
        if any(catalog != _CATALOG and catalog not in self.schemas for catalog in catalogs):
            return False
        if schema in self.schemas:
            return True
        return schema == self.layer_by_entity.get(entity) and f"{schema}_{entity}" not in self.layer_by_entity


def leave_out_qualifiers(text: str, naming: Naming) -> tuple[str, tuple[int, ...]]:
    """The text with the names of entities alone, and where these begin."""
    names: list[int] = []
    if not naming.may_qualify(text):
        return text, ()
    for start, end in _qualifiers(code_and_names_of(text), naming):
        text = leave_out(text, start, end)
        names.append(end)
    return text, tuple(names)


def _qualifiers(code: str, naming: Naming) -> Iterator[tuple[int, int]]:
    """From the first character of each qualifier to the first of the entity's name."""
    for chain in _CHAIN.finditer(code):
        parts = list(_PART.finditer(code, chain.start(), chain.end()))
        for at in (1, 2):
            lowered = [part[0].strip("`").lower() for part in parts[: at + 1]]
            if len(lowered) > at and lowered[at] in naming.layer_by_entity:
                if naming.is_qualifier(lowered[:at], lowered[at]):
                    yield chain.start(), parts[at].start()
                break
