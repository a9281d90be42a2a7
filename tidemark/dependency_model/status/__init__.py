"""A slice's status, the table of transitions, and how faults spread and are cleared."""

from tidemark.dependency_model.status.consequence import consequences
from tidemark.dependency_model.status.slice_status import Quality, RunState, SliceStatus
from tidemark.dependency_model.status.transition import TRANSITIONS, Event, apply

__all__ = ["TRANSITIONS", "Event", "Quality", "RunState", "SliceStatus", "apply", "consequences"]
