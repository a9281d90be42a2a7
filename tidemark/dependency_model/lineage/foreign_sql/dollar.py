"""`${bizdate}`, `$[yyyymmdd-1]`, `$cyctime`: DataWorks and DolphinScheduler; `${hivevar:x}`: Hive.

Source: "Supported formats of scheduling parameters" of DataWorks (`${..}` counts from the business date, the day before
the run; `$[..]` from the planned time of the run), "Built-in parameter" of DolphinScheduler.
"""

from __future__ import annotations

import re
from typing import Final

from tidemark.dependency_model.lineage.foreign_sql.date_pattern import has_clock, spark_pattern
from tidemark.dependency_model.lineage.foreign_sql.meaning import Meaning
from tidemark.dependency_model.lineage.foreign_sql.moment import Moment

_DATAWORKS: Final = "DataWorks"
_DOLPHIN: Final = "DolphinScheduler"
_BOTH: Final = "DataWorks and DolphinScheduler"
_DAY: Final = "yyyyMMdd"
_SECOND: Final = "yyyyMMddHHmmss"
_BIZDATE: Final = Meaning(
    _DATAWORKS, "the business date, the day before the run, as yyyymmdd", Moment("business date", _DAY)
)
_CYCTIME: Final = Meaning(_DATAWORKS, "the planned time of the run, as yyyymmddhh24miss", Moment("run", _SECOND))
_RUN_DAY: Final = Meaning(
    _DATAWORKS, "the day of the run, a day after the business date, as yyyymmdd", Moment("run", _DAY)
)
_BIZMONTH: Final = Meaning(
    _DATAWORKS, "the month before that of the run, as yyyymm", Moment("run", "yyyyMM", months=-1)
)
_NAMES: Final = {
    "bizdate": _BIZDATE,
    "bdp.system.bizdate": _BIZDATE,
    "cyctime": _CYCTIME,
    "bdp.system.cyctime": _CYCTIME,
    "gmtdate": _RUN_DAY,
    "bizmonth": _BIZMONTH,
    "system.biz.date": Meaning(_DOLPHIN, "the day before the planned time, as yyyyMMdd", Moment("business date", _DAY)),
    "system.biz.curdate": Meaning(_DOLPHIN, "the day of the planned time, as yyyyMMdd", Moment("run", _DAY)),
    "system.datetime": Meaning(_DOLPHIN, "the planned time, as yyyyMMddHHmmss", Moment("run", _SECOND)),
}
_SHIFT: Final = r"(?P<sign>[+-])(?P<factor>\d+)(?:\*(?P<times>\d+))?(?P<parts>/24(?:/60)?)?"
_PATTERN: Final = r"(?P<pattern>y[-/: _.A-Za-z0-9]*?[A-Za-z](?:24)?|(?:hh24|HH|hh|mi|mm|MM|dd)[-: A-Za-z0-9]*?)"
_SHIFTED: Final = re.compile(rf"{_PATTERN}(?:{_SHIFT})?")
_MONTHS: Final = re.compile(
    r"add_months\(\s*(?P<pattern>[^,]+?)\s*,\s*(?P<sign>[+-]?)(?P<factor>\d+)(?:\*(?P<times>\d+))?\)"
)
_ASSIGNED: Final = "what the scheduler puts there: {about}; `tidemark new --parameter {name}=..` says it"


def of_braces(inner: str) -> Meaning:
    """`${...}`."""
    if inner in _NAMES:
        return _NAMES[inner]
    kind, _, name = inner.rpartition(":")
    if kind in ("hivevar", "hiveconf", "env", "system"):
        return Meaning(
            "Hive", f"a variable that hive was called with (--{kind})", advice=_assigned(name), parameter=name
        )
    return _of_business_date(inner) or Meaning(
        "DataWorks, DolphinScheduler or Hive",
        "a parameter that the scheduler sets",
        advice=_assigned(inner),
        parameter=inner,
    )


def of_brackets(inner: str) -> Meaning:
    """`$[...]`."""
    words = f"the planned time of the run ({inner}): its day is the one after the business date"
    moment = _of_months(inner) or _of_run(inner)
    advice = "" if moment else "a time of the slice: :biz_date, date_sub(:biz_date, 1), add_months(:biz_date, -1)"
    return Meaning(_BOTH, words, moment, advice=advice)


def of_name(name: str) -> Meaning:
    """`$bizdate`."""
    return _NAMES.get(name) or Meaning(
        "DataWorks", "a parameter that the scheduler sets", advice=_assigned(name), parameter=name
    )


def is_known(name: str) -> bool:
    """Whether a system defines `$name`."""
    return name in _NAMES


def _assigned(name: str) -> str:
    return _ASSIGNED.format(about=":biz_date, date_sub(:biz_date, 1), a constant", name=name)


def _of_business_date(inner: str) -> Meaning | None:
    """`${yyyymmdd-1}`: moved by days, months or years, by the end of the pattern."""
    match = _SHIFTED.fullmatch(inner)
    pattern = spark_pattern(match["pattern"]) if match else None
    if match is None or pattern is None or "MM" in match["pattern"] or has_clock(pattern) or match["parts"]:
        return None
    count = _count(match)
    moment = Moment("business date", pattern)
    words = f"the business date, the day before the run ({inner})"
    if pattern.endswith("dd"):
        return Meaning(_DATAWORKS, words, moment.moved(days=count))
    return Meaning(_DATAWORKS, words, moment.moved(months=count * (1 if pattern.endswith("MM") else 12)))


def _of_months(inner: str) -> Moment | None:
    match = _MONTHS.fullmatch(inner)
    pattern = spark_pattern(match["pattern"]) if match else None
    return Moment("run", pattern, months=_count(match)) if match and pattern else None


def _of_run(inner: str) -> Moment | None:
    """`$[yyyymmdd-1]` in days, `$[hh24-1/24]` in hours; for a month alone the unit is ambiguous."""
    match = _SHIFTED.fullmatch(inner)
    pattern = spark_pattern(match["pattern"]) if match else None
    if match is None or pattern is None:
        return None
    count = _count(match)
    if match["parts"] == "/24":
        return Moment("run", pattern).moved(hours=count)
    is_of_day = "dd" in pattern or has_clock(pattern)
    return Moment("run", pattern).moved(days=count) if not match["parts"] and (is_of_day or not count) else None


def _count(match: re.Match[str]) -> int:
    """The number of units; 0 without a shift."""
    if match["factor"] is None:
        return 0
    return int(match["factor"]) * int(match["times"] or 1) * (-1 if match["sign"] == "-" else 1)
