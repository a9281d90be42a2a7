"""An entity's quality rules as Dagster's check specs, with the partitions of their asset."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg

from tidemark.dagster.metadata.rules_in_words import rule_in_words
from tidemark.dagster.partitions import slice_partitions
from tidemark.dependency_model.entity.quality_rules import check_names

if TYPE_CHECKING:
    from tidemark.dependency_model.entity import Entity
    from tidemark.warehouse.warehouse import Warehouse


def rule_specs(warehouse: Warehouse, entity: Entity) -> list[dg.AssetCheckSpec]:
    """A check for each rule, with a result for each slice. Rules that only warn do not block."""
    partitions = slice_partitions(entity, warehouse.graph)
    return [
        dg.AssetCheckSpec(
            name,
            asset=entity.name,
            blocking=rule.severity == "block",
            description=rule_in_words(rule),
            partitions_def=partitions,
        )
        for name, rule in zip(check_names(entity.quality), entity.quality, strict=True)
    ]
