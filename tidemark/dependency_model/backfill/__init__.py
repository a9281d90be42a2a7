"""Cascading backfills: which slices are rebuilt, in which order, and their progress (seed capability D5)."""

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
