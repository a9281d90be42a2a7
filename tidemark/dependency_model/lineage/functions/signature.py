"""The signature of a function: the session's conversions, then the values of its arguments."""

from __future__ import annotations

from collections.abc import Callable

from tidemark.dependency_model.lineage.value_range import Value

Function = Callable[..., Value]
