"""Date patterns of other systems in Spark's letters."""

from __future__ import annotations

import re
from typing import Final

_MAXCOMPUTE: Final = {
    "yyyy": "yyyy",
    "yy": "yy",
    "mm": "MM",
    "dd": "dd",
    "hh24": "HH",
    "hh": "HH",
    "mi": "mm",
    "ss": "ss",
}
_PYTHON: Final = {"%Y": "yyyy", "%y": "yy", "%m": "MM", "%d": "dd", "%H": "HH", "%M": "mm", "%S": "ss"}
_SIGNS: Final = r"[-/: _.]"
_LOWER: Final = re.compile(rf"(?:yyyy|yy|mm|dd|hh24|hh|mi|ss|{_SIGNS})+")
_JAVA: Final = re.compile(rf"(?:yyyy|yy|MM|dd|HH|mm|ss|{_SIGNS})+")
_OF_PYTHON: Final = re.compile(rf"(?:%[YymdHMS]|{_SIGNS})+")


def spark_pattern(pattern: str) -> str | None:
    """Converts a pattern of DataWorks (`yyyymmddhh24miss`) or Java (`yyyyMMddHHmmss`); None for another one."""
    if re.search("MM|HH", pattern):
        return pattern if _JAVA.fullmatch(pattern) else None
    if not _LOWER.fullmatch(pattern):
        return None
    return re.sub(r"yyyy|yy|mm|dd|hh24|hh|mi|ss", lambda match: _MAXCOMPUTE[match[0]], pattern)


def pattern_of_python(pattern: str) -> str | None:
    """Converts a pattern of `strftime`; None if a part of it is not known."""
    if not _OF_PYTHON.fullmatch(pattern):
        return None
    return re.sub(r"%\w", lambda match: _PYTHON[match[0]], pattern)


def has_clock(pattern: str) -> bool:
    """Whether a Spark pattern has the time of day."""
    return bool(re.search("HH|mm|ss", pattern))
