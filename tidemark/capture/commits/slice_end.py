"""The ends of slices, at which a table's changes are cut into commits."""

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class SliceEnd:
    """The end (epoch ms) of one slice for which a snapshot is tagged, or `late_ms` after it the end of its waiting."""

    end_ms: int
    entity: str
    period: str
    slice: str
    late_ms: int = 0

    @property
    def of_slice(self) -> tuple[str, str, str]:
        """Entity, period, slice: what the tag is of."""
        return self.entity, self.period, self.slice
