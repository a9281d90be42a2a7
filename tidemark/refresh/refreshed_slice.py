"""The input of an adapter: a slice in its present state, and what its declaration says was derived from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tidemark.dependency_model.entity.slice_text import slice_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.entity.refresh import Refresh
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.refresh.delivery import SliceStanding
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.time.window import Window
    from tidemark.system.table_location import TableLocation


@dataclass(frozen=True)
class RefreshedSlice:
    """`table` holds its rows. A static slice has no `window`. `time_zone` is that of the slice's part."""

    slice: Slice
    standing: SliceStanding
    entity: Entity
    table: TableLocation
    window: Window | None
    time_zone: str
    made: tuple[Refresh, ...]

    @classmethod
    def of(
        cls,
        graph: DependencyGraph,
        slice_: Slice,
        standing: SliceStanding,
        table: TableLocation,
        target: str,
    ) -> RefreshedSlice:
        """Collect what the target derives from the slice.

        Raises NoSuchSliceError and ParseError if the slice no longer exists.
        """
        node = graph.node(slice_.entity)
        window = None if node.grid is None else graph.window(slice_)
        made = tuple(told for told in node.entity.refresh if told.target == target)
        return cls(slice_, standing, node.entity, table, window, node.calendar_of(slice_.sub).time_zone, made)

    def texts(self, templates: Iterable[str], escape: Callable[[str], str] = str) -> list[str]:
        """Fill the templates for this slice, without duplicates; `escape` is applied to each value."""
        sub = dict(self.slice.sub)
        filled = (
            slice_text(template, self.slice.key, self.window, self.time_zone, sub, escape) for template in templates
        )
        return list(dict.fromkeys(filled))


class RefreshAdapter(Protocol):
    """Refreshes a target. Delivering the same slice again changes nothing."""

    def deliver(self, refreshed: RefreshedSlice) -> None:
        """Return once the target has accepted the slice.

        Raises TargetDownError if the target does not answer, TargetRefusedError if it refuses this slice but accepts
        others, and TargetSettingError. Other errors of Tidemark count as refusals.
        """
