"""Cascading backfills: what is rebuilt after some slices, in which order, and how far that is (seed capability D5)."""

from tidemark.dependency_model.backfill.backfill import Backfill, TurnVerdict
from tidemark.dependency_model.backfill.plan import BackfillPlan, Member, plan_backfill, plan_on
from tidemark.dependency_model.backfill.progress import BackfillPhase, SliceProgress

__all__ = [
    "Backfill",
    "BackfillPhase",
    "BackfillPlan",
    "Member",
    "SliceProgress",
    "TurnVerdict",
    "plan_backfill",
    "plan_on",
]
