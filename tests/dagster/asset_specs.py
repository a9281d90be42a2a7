"""Every generated asset of the main job as text.

`python -m tests.dagster.asset_specs` writes the snapshot anew.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import dagster as dg

from tidemark.dagster.assets import build_assets
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

SNAPSHOT = Path(__file__).parent / "asset_specs.json"
_REPOSITORY = Path(__file__).resolve().parents[2]


def asset_specs() -> str:
    """One JSON object, an entry an asset, in the order of computation."""
    with tempfile.TemporaryDirectory() as folder:
        warehouse = load_warehouse(Settings.at(Path(folder) / "data"))
    assets = build_assets(warehouse)
    return json.dumps({asset.key.to_user_string(): _spec(asset) for asset in assets}, indent=1) + "\n"


def _spec(asset: dg.AssetsDefinition) -> dict[str, Any]:
    (spec,) = asset.specs
    return {
        "group": spec.group_name,
        "owners": list(spec.owners),
        "tags": dict(sorted(spec.tags.items())),
        "kinds": sorted(spec.kinds),
        "description": (spec.description or "").splitlines()[0],
        "partitions": _partitions(spec.partitions_def),
        "deps": {dep.asset_key.to_user_string(): _mapping(dep.partition_mapping) for dep in spec.deps},
        "checks": [f"{check.name} {'blocking' if check.blocking else ''}".strip() for check in asset.check_specs],
        "metadata": {name: _plain(value) for name, value in sorted(spec.metadata.items())},
    }


def _partitions(definition: dg.PartitionsDefinition[str] | None) -> str:
    if isinstance(definition, dg.MultiPartitionsDefinition):
        return " x ".join(_partitions(part.partitions_def) for part in definition.partitions_defs)
    if isinstance(definition, dg.StaticPartitionsDefinition):
        return ", ".join(definition.get_partition_keys())
    assert isinstance(definition, dg.TimeWindowPartitionsDefinition)
    return f"{definition.cron_schedule} {definition.timezone} from {definition.start.isoformat()} {definition.fmt}"


def _mapping(mapping: dg.PartitionMapping | None) -> str:
    if isinstance(mapping, dg.TimeWindowPartitionMapping):
        return f"windows {mapping.start_offset}..{mapping.end_offset}"
    return type(mapping).__name__


def _plain(value: object) -> object:
    match value:
        case dg.TableColumnLineage():
            return {column: [str(_name(dep)) for dep in deps] for column, deps in value.deps_by_column.items()}
        case dg.TableSchema():
            return [column.name for column in value.columns]
        case dg.CodeReferencesMetadataValue():
            paths = [
                Path(reference.file_path)
                for reference in value.code_references
                if isinstance(reference, dg.LocalFileCodeReference)
            ]
            return [path.relative_to(_REPOSITORY).as_posix() for path in paths]
        case dg.MetadataValue():
            return _plain(value.value)
    return value


def _name(dep: dg.TableColumnDep) -> str:
    return f"{dep.asset_key.to_user_string()}.{dep.column_name}"


if __name__ == "__main__":
    SNAPSHOT.write_text(asset_specs())
