"""A file of another system as the query of an entity."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark.dependency_model.lineage.dynamic_partition import rows_of_slice, without_dynamic_partition
from tidemark.dependency_model.lineage.foreign_sql.model_header import without_model_header
from tidemark.dependency_model.lineage.foreign_sql.rewriting import QueryOrigin, RewrittenQuery, rewrite
from tidemark.dependency_model.lineage.select_text import select_text

if TYPE_CHECKING:
    from tidemark.dependency_model.lineage.computed_table import ComputedTable
    from tidemark.errors import QueryError


def rewrite_file(
    text: str, file: str, table: ComputedTable, origin: QueryOrigin
) -> tuple[RewrittenQuery, tuple[QueryError, ...]]:
    """The SELECT of a file, with parameters for placeholders, and notices of left out parts. Raises QueryError."""
    headless, of_header = without_model_header(text)
    static, is_dynamic = without_dynamic_partition(headless)
    selected = select_text(static, file=file, written=table)
    rewritten = rewrite(selected.text, origin)
    if is_dynamic and not rewritten.left:
        rewritten = replace(rewritten, text=rows_of_slice(rewritten.text, file))
    return rewritten, (*of_header, *selected.notices)
