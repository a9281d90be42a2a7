"""The slices that a wrong slice affected, and the slices that may have made it wrong (seed capabilities D4 and D5)."""

from tidemark.dependency_model.impact.bounded_closure import bounded_closure
from tidemark.dependency_model.impact.closure import Closure, downstream_closure
from tidemark.dependency_model.impact.impact import ImpactedSlice, Need, impacts_of
from tidemark.dependency_model.impact.suspects import Evidence, Ground, Suspect, suspects_of

__all__ = [
    "Closure",
    "Evidence",
    "Ground",
    "ImpactedSlice",
    "Need",
    "Suspect",
    "bounded_closure",
    "downstream_closure",
    "impacts_of",
    "suspects_of",
]
