"""Entities as OpenLineage datasets: names by its specification, and the known columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attr
from openlineage.client.event_v2 import InputDataset, OutputDataset
from openlineage.client.generated.base import DatasetFacet
from openlineage.client.generated.column_lineage_dataset import (
    ColumnLineageDatasetFacet,
    Fields,
    InputField,
    Transformation,
)
from openlineage.client.generated.dataset_version_dataset import DatasetVersionDatasetFacet
from openlineage.client.generated.documentation_dataset import DocumentationDatasetFacet
from openlineage.client.generated.ownership_dataset import Owner, OwnershipDatasetFacet
from openlineage.client.generated.schema_dataset import SchemaDatasetFacet, SchemaDatasetFacetFields

from tidemark.system.table_location import HdfsLocation, ObjectLocation
from tidemark.warehouse.warehouse import EXPORT_LAYER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tidemark.warehouse.warehouse import Warehouse

NAMESPACE: Final = "tidemark"
"""The namespace of entities that are not tables of the lake: virtual ones, and copies in the OLAP store."""
_FILES: Final = "file"


class Datasets:
    """The entities of one warehouse. `types` gives a table's columns with types, as far as its log was read."""

    def __init__(self, warehouse: Warehouse, types: Callable[[str], Mapping[str, str]]) -> None:
        self._warehouse, self._types = warehouse, types

    def input(self, entity: str, slices: Iterable[str], versions: Iterable[str]) -> InputDataset:
        """The input of a run: these slices in these versions of the table."""
        return InputDataset(*self._name(entity), facets=self._read(entity, slices, versions))

    def output(self, entity: str, slice_: str, version: str | None) -> OutputDataset:
        """The output of a run: one slice. The version is known once it exists."""
        facets = self._read(entity, [slice_], [version] if version else [])
        lineage = self._column_lineage(entity)
        if lineage is not None:
            facets["columnLineage"] = lineage
        return OutputDataset(*self._name(entity), facets=facets)

    def _read(self, entity: str, slices: Iterable[str], versions: Iterable[str]) -> dict[str, DatasetFacet]:
        """The common facets of inputs and outputs."""
        declared, known = self._warehouse.entities[entity], list(versions)
        facets: dict[str, DatasetFacet] = {"tidemark_slices": SlicesOfDataset(entity, list(slices))}
        types = self._types(entity)
        names = list(types) or list(self._warehouse.columns.columns(entity))
        if names:
            fields = [
                SchemaDatasetFacetFields(name, types.get(name), ordinal_position=at) for at, name in enumerate(names, 1)
            ]
            facets["schema"] = SchemaDatasetFacet(fields)
        if known:
            facets["version"] = DatasetVersionDatasetFacet(known[-1])
        if declared.description:
            facets["documentation"] = DocumentationDatasetFacet(declared.description)
        if declared.owner:
            facets["ownership"] = OwnershipDatasetFacet([Owner(declared.owner)])
        return facets

    def _name(self, entity: str) -> tuple[str, str]:
        """Namespace and name; for a table in the lake they are its location."""
        warehouse = self._warehouse
        declared = warehouse.entities[entity]
        if declared.layer == EXPORT_LAYER or warehouse.is_external(entity):
            return NAMESPACE, entity
        path = warehouse.table_path(entity)
        if isinstance(path, ObjectLocation):
            return f"{path.access.namespace}://{path.bucket}", path.key
        if isinstance(path, HdfsLocation):
            return f"hdfs://{path.authority}", f"/{path.key}"
        return _FILES, str(path)

    def _column_lineage(self, entity: str) -> ColumnLineageDatasetFacet | None:
        """The column lineage; None if the columns' names are unknown."""
        columns = self._warehouse.columns.entities.get(entity)
        if columns is None or not columns.is_known:
            return None
        fields = {
            column: Fields([self._field(source, "DIRECT") for source in sources if self._is_column(source)])
            for column, sources in columns.direct.items()
        }
        decides = [self._field(source, "INDIRECT") for source in columns.indirect if self._is_column(source)]
        return ColumnLineageDatasetFacet(fields, dataset=decides)

    def _is_column(self, name: str) -> bool:
        entity, _, column = name.rpartition(".")
        return entity in self._warehouse.entities and column != "*"

    def _field(self, name: str, kind: str) -> InputField:
        entity, _, column = name.rpartition(".")
        return InputField(*self._name(entity), column, [Transformation(kind)])


@attr.define
class SlicesOfDataset(DatasetFacet):
    """The keys of an entity's slices: `2026-03-29`, `2026-03-29T03/region=cn`."""

    entity: str
    slices: list[str]

    @staticmethod
    def _get_schema() -> str:
        return "urn:tidemark:facets:1-0-0:SlicesOfDataset"
