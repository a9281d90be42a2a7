"""Functions of Spark SQL that predicates on partition columns are made of, evaluated over boxes of slices.

A function that is not here is not wrong, only unknown: what it says decides nothing.
"""

from tidemark.dependency_model.lineage.functions.dates import DATES
from tidemark.dependency_model.lineage.functions.instants import INSTANTS
from tidemark.dependency_model.lineage.functions.numbers import NUMBERS
from tidemark.dependency_model.lineage.functions.patterns import PATTERNS
from tidemark.dependency_model.lineage.functions.signature import Function
from tidemark.dependency_model.lineage.functions.texts import TEXTS

FUNCTIONS: dict[str, Function] = {**DATES, **INSTANTS, **NUMBERS, **PATTERNS, **TEXTS}

__all__ = ["FUNCTIONS", "Function"]
