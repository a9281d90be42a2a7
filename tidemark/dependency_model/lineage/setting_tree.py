"""A tree over the slices that another mention can be in: one check rules out many of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.dependency_model.lineage.value_range import Range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.lineage.slice_space import Box


@dataclass(frozen=True, slots=True)
class SettingNode:
    """`box` covers the partition values of all slices below; a single slice has no halves."""

    box: Box
    halves: tuple[SettingNode, ...] = ()


def setting_tree(boxes: Sequence[Box]) -> SettingNode:
    """The tree over slices' partition values, which are in order of time; there is at least one."""
    nodes = [SettingNode(box) for box in boxes]
    while len(nodes) > 1:
        nodes = [_over(nodes[at : at + 2]) for at in range(0, len(nodes), 2)]
    return nodes[0]


def _over(halves: Sequence[SettingNode]) -> SettingNode:
    if len(halves) == 1:
        return halves[0]
    columns = zip(*(half.box for half in halves), strict=True)
    ranges = [[value for value in column if isinstance(value, Range)] for column in columns]
    box = tuple(
        Range(column[0].type, min(value.low for value in column), max(value.high for value in column))
        for column in ranges
    )
    return SettingNode(box, tuple(halves))
