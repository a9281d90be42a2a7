"""Functions of Spark SQL in predicates on partition columns, evaluated over boxes of slices.

An unlisted function is allowed, but its result is unknown and decides nothing.
"""

from tidemark.dependency_model.lineage.functions.dates import DATES
from tidemark.dependency_model.lineage.functions.instants import INSTANTS
from tidemark.dependency_model.lineage.functions.numbers import NUMBERS
from tidemark.dependency_model.lineage.functions.patterns import PATTERNS
from tidemark.dependency_model.lineage.functions.shaped_texts import SHAPED_TEXTS
from tidemark.dependency_model.lineage.functions.signature import Function
from tidemark.dependency_model.lineage.functions.texts import TEXTS

FUNCTIONS: dict[str, Function] = {**DATES, **INSTANTS, **NUMBERS, **PATTERNS, **SHAPED_TEXTS, **TEXTS}

__all__ = ["FUNCTIONS", "Function"]
