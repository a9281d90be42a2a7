"""The ends of slices, at which a table's changes are cut into commits."""

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class SliceEnd:
    """The end (epoch ms) of a slice that gets a snapshot. Its waiting for late changes ends `late_ms` later."""

    end_ms: int
    entity: str
    period: str
    slice: str
    late_ms: int = 0

    @property
    def of_slice(self) -> tuple[str, str, str]:
        """Entity, period and slice: the name of the tag."""
        return self.entity, self.period, self.slice
