"""One step of the plan after a restore."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tidemark.dependency_model.slice import Slice


class StepKind(StrEnum):
    """The action of a step."""

    END = "end"
    READ_AGAIN = "read again"
    TAKE_IN = "take in"
    FORGET = "forget"
    COMPUTE = "compute again"
    TAKE_OVER = "take over"
    TAG = "tag again"
    CATCH_UP = "catch up"
    SEE_TO = "see to"


BY_CAPTURE: Final = frozenset({StepKind.TAG, StepKind.CATCH_UP})
"""Steps that the capture carries out by itself, as soon as it runs."""


@dataclass(frozen=True)
class RestoreStep:
    """One difference between two parts: the action, its reason, and the affected slices, runs or positions."""

    kind: StepKind
    why: str
    names: tuple[str, ...] = ()
    slices: tuple[Slice, ...] = ()
