"""`PARTITION (dt)` without a value: the last column of a row names its partition.

A slice takes the rows of its own partition: the query stays unchanged, with a condition around it.
"""

from __future__ import annotations

import re
from typing import Final

from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.lineage.sql_text import code_and_names_of, leave_out

_DYNAMIC: Final = re.compile(r"\bPARTITION\s*\(\s*`?dt`?\s*\)", re.IGNORECASE)
_AROUND: Final = "SELECT * EXCEPT (dt)\nFROM (\n{query}\n)\nWHERE dt = :biz_date\n"


def without_dynamic_partition(text: str) -> tuple[str, bool]:
    """The text with spaces instead of `PARTITION (dt)`, and whether it has one."""
    clause = _DYNAMIC.search(code_and_names_of(text))
    return (leave_out(text, clause.start(), clause.end()), True) if clause else (text, False)


def rows_of_slice(text: str, file: str) -> str:
    """The rows whose last column `dt` is the slice's date, without it.

    Raises QueryError if the column has another name.
    """
    query = read_query(text, file=file)
    columns = getattr(query.tree, "selects", [])
    if not columns or columns[-1].alias_or_name.lower() != "dt":
        last = query.text_of(columns[-1]) if columns else None
        raise query.error(
            "PARTITION (dt): the last column says each row's partition, and is not named dt",
            columns[-1] if columns else None,
            expected=":biz_date, or a column that is named: .. AS dt",
            found=last,
        )
    return _AROUND.format(query=text.strip())
