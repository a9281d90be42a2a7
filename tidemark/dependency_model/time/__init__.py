"""Business time: periods, time zones, and the windows of slices."""

from tidemark.dependency_model.time.local_calendar import Calendar
from tidemark.dependency_model.time.period import Period
from tidemark.dependency_model.time.window import Window

__all__ = ["Calendar", "Period", "Window"]
