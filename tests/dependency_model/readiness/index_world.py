"""A world with one entity of each kind of waiting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.dependency_model.world import entity, graph

if TYPE_CHECKING:
    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.graph import DependencyGraph

_BY_HOURS = "period: day\ndepends_on: [{entity: clicks, offset: Range 0-23"

WORLD = {
    "clicks": "{period: hour, kind: Virtual, states: [{entity_state: estimated}, {entity_state: completed}]}",
    "rates": "{period: month, kind: Virtual, start: 2024-03-01}",
    "codes": "{kind: Static}",
    "strong": _BY_HOURS + "}]",
    "most": _BY_HOURS + ", weak: {at_least: 90%}}]",
    "some": _BY_HOURS + ", weak: {any_of: true}}]",
    "patient": _BY_HOURS + ", weak: {at_least: 20, timeout: 3h}}]",
    "careless": _BY_HOURS + ", quality: ignore, states: [estimated, completed]}]",
    "running": "{period: day, depends_on: [strong, {entity: running, offset: Set -1}]}",
    "priced": "{period: day, depends_on: [{entity: rates, offset: last_available}, codes]}",
    "recent": "{period: hour, depends_on: [{entity: strong, offset: last_available}]}",
    "late": '{period: day, earliest: "30 2 * * *", depends_on: [most, some]}',
    "alone": "{period: day}",
    "over": "{period: day, end: 2024-06-03, depends_on: [{entity: alone, offset: Set -1}]}",
    "after_over": "{period: day, depends_on: [over]}",
    "weekly": "{period: week, depends_on: [strong, patient]}",
    "regional": (
        "{period: day, sub_partitions: {region: {cn: {time_zone: Asia/Shanghai}, us: {time_zone: America/New_York}}},"
        " depends_on: [{entity: clicks, offset: Set 0, quality: ignore}]}"
    ),
    "world": "{period: day, depends_on: [regional]}",
    "partner": (
        "{period: day, kind: Virtual, quorum: 2, sub_partitions:"
        " {region: {cn: {time_zone: Asia/Shanghai}, eu: {}, us: {time_zone: America/New_York, start: 2024-06-02}}}}"
    ),
    "of_partners": '{period: day, depends_on: [{entity: partner, offset: "Set -1,0"}]}',
    "newest_parts": "{period: day, depends_on: [{entity: regional, offset: last_available}]}",
    "canvas": "{kind: Project, period: day, depends_on: [alone]}",
    "member": "{period: day, project: canvas, depends_on: [some]}",
    "steps": (
        "{period: day, states: [{entity_state: estimated, depends_on: [alone]},"
        " {entity_state: completed, depends_on: [strong]}]}"
    ),
    "reads_estimates": "{period: day, depends_on: [{entity: steps, states: [estimated], quality: ignore}]}",
}
"""Entities by name, as YAML."""

VARIANTS = {
    "added": ["{period: hour, depends_on: [{entity: clicks, offset: Set -1}]}", "{period: day, depends_on: [strong]}"],
    "alone": ["{period: day}", "{period: day, depends_on: [added]}", '{period: day, earliest: "0 6 * * *"}'],
    "priced": ["{period: day, depends_on: [codes]}", WORLD["priced"]],
    "recent": ["{period: hour, depends_on: [{entity: alone, offset: last_available}]}", WORLD["recent"]],
}
"""What entities may be changed to."""


def index_world() -> DependencyGraph:
    return graph(**WORLD)


def variant(name: str, number: int) -> Entity:
    return entity(name, VARIANTS[name][number % len(VARIANTS[name])])
