"""`@start_ds`, `@end_ds`: SQLMesh's time variables, both ends included. Source: "Macro variables" of SQLMesh."""

from __future__ import annotations

from typing import Final

from tidemark.dependency_model.lineage.foreign_sql.meaning import Meaning
from tidemark.dependency_model.lineage.foreign_sql.moment import Moment

_SYSTEM: Final = "SQLMesh"
_START: Final = "the start of the interval, in UTC"
_END: Final = "the end of the interval, included, in UTC"
_DAY: Final = "yyyy-MM-dd"
_BEFORE_END: Final = ":period_end, which is not included: < :period_end"
_NOW: Final = "a time of the slice: :period_end (when the run was planned is not known)"
_OWN: Final = ("biz_date", "biz_hour", "biz_minute", "period_start", "period_end")
_NAMES: Final = {
    "start_ds": Meaning(_SYSTEM, _START, Moment("start", _DAY)),
    "start_date": Meaning(_SYSTEM, _START, Moment("start", _DAY)),
    "start_dt": Meaning(_SYSTEM, _START, Moment("start")),
    "start_dtntz": Meaning(_SYSTEM, _START, Moment("start")),
    "start_ts": Meaning(_SYSTEM, _START, Moment("start")),
    "start_tstz": Meaning(_SYSTEM, _START, Moment("start")),
    "end_ds": Meaning(_SYSTEM, _END, Moment("last day", _DAY)),
    "end_date": Meaning(_SYSTEM, _END, Moment("last day", _DAY)),
    "end_dt": Meaning(_SYSTEM, _END, advice=_BEFORE_END),
    "end_dtntz": Meaning(_SYSTEM, _END, advice=_BEFORE_END),
    "end_ts": Meaning(_SYSTEM, _END, advice=_BEFORE_END),
    "end_tstz": Meaning(_SYSTEM, _END, advice=_BEFORE_END),
    "execution_ds": Meaning(_SYSTEM, "the day of the run", advice=_NOW),
    "execution_date": Meaning(_SYSTEM, "the day of the run", advice=_NOW),
    "execution_ts": Meaning(_SYSTEM, "the time of the run", advice=_NOW),
}


def of_at(name: str) -> Meaning:
    """`@name`."""
    if name.lower() in _OWN:
        return Meaning(
            "SQLMesh or SQL Server", "a variable; a parameter begins with a colon", advice=f":{name.lower()}"
        )
    unknown = Meaning("SQLMesh or SQL Server", "a macro or a variable", advice="its value: no macros are run here")
    return _NAMES.get(name.lower(), unknown)


def is_known(name: str) -> bool:
    """Whether it is a variable of SQLMesh, or one of our own parameters."""
    return name.lower() in _NAMES or name.lower() in _OWN
