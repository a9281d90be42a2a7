"""A quality rule as text. Equal rules have equal texts, because defaults are left out."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import TYPE_CHECKING

from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from tidemark.dependency_model.entity.quality_rules import QualityRule

_TOLD_ELSEWHERE = ("severity", "quarantine")


def rule_text(rule: QualityRule) -> str:
    """`range: {"column": "amount", "min": 0}`. The text leaves out severity and quarantine."""
    told = {
        field.name: getattr(rule, field.name)
        for field in fields(rule)
        if field.name not in _TOLD_ELSEWHERE and _is_told(getattr(rule, field.name), field.default)
    }
    return f"{rule.NAME}: {json_text(told, default=str, sort_keys=True)}"


def _is_told(value: object, default: object) -> bool:
    return value is not None and (default is MISSING or value != default)
