"""An asset's metadata before its first run: columns, their lineage, and the declaring files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dagster as dg

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tidemark.dependency_model.entity import Entity
    from tidemark.warehouse.column_graph import ColumnGraph


def column_metadata(columns: ColumnGraph, entity: Entity) -> dict[str, Any]:
    """The column schema, with direct and indirect lineage, if the columns' names are known.

    Types come from Spark: each materialization shows them with its preview.
    """
    lineage = columns.entities.get(entity.name)
    if lineage is None or not lineage.is_known:
        return {}
    deps = {column: [_dep(source) for source in sources] for column, sources in lineage.direct.items()}
    return {
        "dagster/column_schema": dg.TableSchema(
            columns=[dg.TableColumn(column, type="any") for column in lineage.direct]
        ),
        "dagster/column_lineage": dg.TableColumnLineage(
            {column: sources for column, sources in deps.items() if sources}
        ),
        "indirect_lineage": ", ".join(lineage.indirect),
    }


def _dep(source: str) -> dg.TableColumnDep:
    entity, _, column = source.partition(".")
    return dg.TableColumnDep(asset_key=dg.AssetKey([entity]), column_name=column)


def code_references(files: Iterable[Path]) -> dict[str, Any]:
    """Links from the asset to its files, the query first."""
    references: list[dg.LocalFileCodeReference | dg.UrlCodeReference] = [
        dg.LocalFileCodeReference(file_path=str(path), line_number=1, label=path.name) for path in files
    ]
    return {"dagster/code_references": dg.CodeReferencesMetadataValue(code_references=references)} if references else {}
