"""A slice's status, the table of what may happen to it, and how trouble spreads and is cleared."""

from tidemark.dependency_model.status.consequence import consequences
from tidemark.dependency_model.status.slice_status import Quality, RunState, SliceStatus
from tidemark.dependency_model.status.transition import TRANSITIONS, Event, apply

__all__ = ["TRANSITIONS", "Event", "Quality", "RunState", "SliceStatus", "apply", "consequences"]
