"""The roles of entities in this center: computed here, or a replica of what another center computes (C6)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.entity import EntityKind, EntityState
from tidemark.dependency_model.entity.dependency import COMPLETED
from tidemark.dependency_model.entity.probe import DeltaProbe, Probe
from tidemark.dependency_model.failover.term import newest
from tidemark.errors import TidemarkError
from tidemark.warehouse.center_terms import CenterTerms

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tidemark.dependency_model.entity import Entity
    from tidemark.system.settings import Settings

_SETTLE: Final = timedelta(seconds=5)


def holders_of(settings: Settings, entities: Iterable[Entity]) -> dict[str, str]:
    """The center that computes the flows of each declared center, as this lake has it.

    If the lake does not answer, it is the declared center: `CenterFence` then allows nothing.
    """
    holders: dict[str, str] = {}
    for name in {entity.center for entity in entities if entity.center}:
        try:
            holders[name] = newest(CenterTerms(settings.warehouse, name).read().terms).holder
        except (TidemarkError, OSError):
            holders[name] = name
    return holders


def entity_here(entity: Entity, settings: Settings, holders: Mapping[str, str]) -> Entity:
    """The entity as this center has it."""
    if not entity.center:
        return entity
    if holders.get(entity.center, entity.center) != settings.center:
        return _replica(entity, settings)
    known = {declared.name for declared in settings.replicas}
    others = dict.fromkeys((entity.center, *entity.replicate))
    return replace(entity, replicate=tuple(name for name in others if name in known))


def _replica(entity: Entity, settings: Settings) -> Entity:
    """Data of another system: the replica in this lake. Its rules were checked before it was replicated."""
    columns = [*(column.name for column in entity.times), *entity.sub_partitions]
    source = DeltaProbe(
        table=str(settings.warehouse / entity.name),
        partition={name: f"{{{name}}}" for name in columns},
        replica_of=entity.name,
    )
    history = timedelta(days=settings.history_days)
    return replace(
        entity,
        kind=EntityKind.VIRTUAL,
        states=(EntityState(COMPLETED),),
        probe=Probe(delta=source, settle_for=_SETTLE, recheck_for=history),
        quality=(),
        quality_on_anomaly=(),
        profile=None,
        completeness=None,
        ready_by=None,
        alert_margin=timedelta(0),
        earliest=None,
        granularity=None,
        cluster_by=(),
        rule_inputs=frozenset(),
        replicate=(),
        refresh=(),
        read_by=(),
        export=False,
        own_asset=False,
    )
