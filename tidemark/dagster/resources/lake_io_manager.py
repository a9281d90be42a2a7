"""Tables of the lake as inputs and outputs of assets that users write, by `dagster-deltalake`.

The package's I/O manager opens the newest version of a table. Here an input that is an entity is read slice by slice,
and a captured table at its tagged version. All other tables are read and written as in the package.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Self

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
from dagster_deltalake import DeltaLakeIOManager, DeltaLakePyArrowTypeHandler, LocalConfig
from dagster_deltalake.handler import DeltalakeBaseArrowTypeHandler
from dagster_deltalake.io_manager import DeltaLakeDbClient, TableConnection

# Dagster reads the annotations of a resource's fields.
from tidemark.dagster.resources.lake import LakeResource  # noqa: TC001
from tidemark.dagster_internals.db_io_manager import DbIOManager
from tidemark.delta.open_table import delta_rs_options
from tidemark.errors import TerminalError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import dagster as dg

    from tidemark.system.settings import Settings

_NO_PREFIX: Final = "public"
"""The schema that Dagster gives an asset without a key prefix."""
_TYPES: Final = "pyarrow.Table, pyarrow.RecordBatchReader, pyarrow.dataset.Dataset or pandas.DataFrame"


class LakeIOError(TerminalError):
    """An asset requests a slice as an unsupported type."""


class LakeIOManager(DeltaLakeIOManager):
    """`dg.AssetIn(input_manager_key="lake_io_manager")` reads slices; `io_manager_key="lake_io_manager"` writes tables.

    An asset writes `<warehouse>/<schema>/<asset>`; the schema is its key prefix, or `public`. An asset that stands for
    an entity of the same name writes the entity's table, `<warehouse>/<entity>`.
    """

    lake: LakeResource

    @classmethod
    def of(cls, settings: Settings, lake: LakeResource) -> Self:
        """The I/O manager of the warehouse in the project's settings."""
        return cls(root_uri=str(settings.warehouse), storage_options=LocalConfig(), lake=lake)

    @staticmethod
    def type_handlers() -> list[DeltalakeBaseArrowTypeHandler[Any]]:
        return [DeltaLakePyArrowTypeHandler(), _PandasHandler()]

    @staticmethod
    def default_load_type() -> type[Any]:
        table: type[Any] = pa.Table
        return table

    def create_io_manager(self, context: object) -> DbIOManager:  # noqa: ARG002 - Dagster's signature
        return _SliceIOManager(self.lake, self.schema_)


class _SliceIOManager(DbIOManager):
    def __init__(self, lake: LakeResource, schema: str | None) -> None:
        self._lake = lake
        super().__init__(
            db_client=_Client(lake),
            database="deltalake",
            schema=schema,
            type_handlers=LakeIOManager.type_handlers(),
            default_load_type=LakeIOManager.default_load_type(),
            io_manager_name=LakeIOManager.__name__,
        )

    def load_input(self, context: dg.InputContext) -> object:
        """All slices of the input's partitions, with their partition columns last; or another table.

        Raises the errors of `LakeResource.read`, and LakeIOError for an unsupported type of the parameter.
        """
        if not self._is_entity(context):
            return super().load_input(context)
        name = context.asset_key.path[-1]
        keys = context.asset_partition_keys if context.has_asset_partitions else [None]
        rows = pa.concat_tables([self._lake.read_whole(name, key) for key in keys], promote_options="default")
        return _converted(rows, context.dagster_type.typing_type, name)

    def _is_entity(self, context: dg.InputContext) -> bool:
        return context.has_asset_key and len(context.asset_key.path) == 1 and self._lake.has(context.asset_key.path[0])


class _Client(DeltaLakeDbClient):
    """Opens tables with the storage options of the lake, like all of Tidemark."""

    def __init__(self, lake: LakeResource) -> None:
        self._lake = lake

    @contextmanager
    def connect(self, context: object, table_slice: Any) -> Iterator[TableConnection]:  # type: ignore[override]  # noqa: ARG002 - Dagster's signature
        warehouse, is_own = self._lake.as_settings()["warehouse"], table_slice.schema == _NO_PREFIX
        is_entity = is_own and self._lake.has(table_slice.table)
        path = warehouse / table_slice.table if is_entity else warehouse / table_slice.schema / table_slice.table
        yield TableConnection(str(path), delta_rs_options(path) or {}, None)


class _PandasHandler(DeltalakeBaseArrowTypeHandler[pd.DataFrame]):
    def from_arrow(self, obj: pa.RecordBatchReader, target_type: type) -> pd.DataFrame:  # noqa: ARG002 - the package's
        rows: pd.DataFrame = obj.read_pandas()
        return rows

    def to_arrow(self, obj: pd.DataFrame) -> tuple[pa.RecordBatchReader, dict[str, Any]]:
        return pa.Table.from_pandas(obj, preserve_index=False).to_reader(), {}

    @property
    def supported_types(self) -> Sequence[type[object]]:
        return [pd.DataFrame]


def _converted(rows: pa.Table, wanted: object, name: str) -> object:
    """The rows in the type of the parameter's annotation; a table without one."""
    if wanted in (Any, pa.Table, type(None), object):
        return rows
    if wanted is pa.RecordBatchReader:
        return rows.to_reader()
    if wanted is ds.Dataset:
        return ds.dataset(rows)
    if wanted is pd.DataFrame:
        return rows.to_pandas()
    raise LakeIOError(f"a slice of {name} cannot be loaded as this type", expected=_TYPES, found=str(wanted))
