"""`{{ ds }}`, `{{ ref('x') }}`, `{% if is_incremental() %}`: Airflow and dbt, by a closed set of expressions.

Source: "Templates reference" of Airflow (`ds` is the logical date, in UTC: with data intervals, the day on which the
interval starts), "Jinja functions" of dbt.
"""

from __future__ import annotations

import re
from typing import Final

from tidemark.dependency_model.lineage.foreign_sql.date_pattern import pattern_of_python
from tidemark.dependency_model.lineage.foreign_sql.meaning import Meaning
from tidemark.dependency_model.lineage.foreign_sql.moment import Moment

_AIRFLOW: Final = "Airflow"
_DBT: Final = "dbt"
_DAY: Final = "yyyy-MM-dd"
_NO_DASH: Final = "yyyyMMdd"
_NOTE: Final = "with data intervals; of a DAG without them (Airflow 3's default for cron) it is the time of the run"
_START: Final = f"the start of the data interval ({_NOTE})"
_END: Final = f"the end of the data interval ({_NOTE})"
_STARTS: Final = ("data_interval_start", "logical_date", "execution_date", "dag_run.logical_date", "ts")
_INSTANTS: Final = {
    **dict.fromkeys(_STARTS, Moment("start")),
    "data_interval_end": Moment("end"),
    "next_execution_date": Moment("end"),
}
_TEXTS: Final = {
    "ds": Moment("start", _DAY),
    "ds_nodash": Moment("start", _NO_DASH),
    "yesterday_ds": Moment("start", _DAY, days=-1),
    "yesterday_ds_nodash": Moment("start", _NO_DASH, days=-1),
    "tomorrow_ds": Moment("start", _DAY, days=1),
    "tomorrow_ds_nodash": Moment("start", _NO_DASH, days=1),
    "next_ds": Moment("end", _DAY),
    "next_ds_nodash": Moment("end", _NO_DASH),
}
_ZONE: Final = re.compile(r"\.(?:in_timezone|in_tz|astimezone)\([^()]*\)")
_MOVE: Final = re.compile(r"\.(?P<verb>add|subtract)\((?P<unit>months|weeks|days|hours)=(?P<count>-?\d+)\)")
_DELTA: Final = re.compile(r"(?P<sign>[+-])macros\.timedelta\((?:(?P<unit>weeks|days|hours)=)?(?P<count>-?\d+)\)")
_FORMATTED: Final = re.compile(r"(?P<value>.+?)\.strftime\((?P<quote>['\"])(?P<pattern>.+?)(?P=quote)\)")
_DS_ADD: Final = re.compile(r"macros\.ds_add\((?P<text>.+),(?P<count>-?\d+)\)")
_DS_FORMAT: Final = re.compile(
    r"macros\.ds_format\((?P<text>.+),['\"](?P<was>[^'\"]+)['\"],['\"](?P<becomes>[^'\"]+)['\"]\)"
)
_REF: Final = re.compile(r"ref\((?:['\"]\w+['\"],)?['\"](?P<name>\w+)['\"](?:,v(?:ersion)?=\d+)?\)")
_SOURCE: Final = re.compile(r"source\(['\"](?P<schema>\w+)['\"],['\"](?P<name>\w+)['\"]\)")
_VAR: Final = re.compile(r"var\(['\"](?P<name>\w+)['\"](?:,.*)?\)")
_PARAMS: Final = re.compile(r"(?:params|var\.value|var\.json|dag_run\.conf)(?:\.|\[['\"])(?P<name>\w+).*")
_ASSIGNED: Final = "its value: `tidemark new --parameter {name}=..` says it, or write it"
_IN_QUOTES: Final = re.compile(r"('[^']*'|\"[^\"]*\")|\s+")


def of_expression(inner: str) -> Meaning | None:
    """`{{ ... }}`; None for an unknown one."""
    text = _IN_QUOTES.sub(lambda match: match[1] or "", inner.strip().strip("-"))
    return _of_dbt(text) or _of_airflow(text) or _of_variable(text)


def of_tag(inner: str) -> Meaning:
    """`{% ... %}`."""
    words = f"a template's statement ({' '.join(inner.strip().strip('-').split())[:60]})"
    advice = "the SQL of the case that is meant: a slice reads the rows of its time, WHERE dt = :biz_date"
    return Meaning("dbt or Airflow", words, advice=advice)


def unknown_expression() -> Meaning:
    """An unknown `{{ ... }}`."""
    return Meaning("Jinja (dbt, Airflow)", "an expression of a template", advice="its value: no templates are run here")


def _of_dbt(text: str) -> Meaning | None:
    if match := _REF.fullmatch(text):
        return Meaning(_DBT, "a model", table=match["name"])
    if match := _SOURCE.fullmatch(text):
        return Meaning(_DBT, f"a table of the source {match['schema']}", table=match["name"])
    if text.startswith("config(") and text.endswith(")"):
        return Meaning(_DBT, "how a model is built: the YAML beside the query says it", is_needless=True)
    if text == "this":
        return Meaning(
            _DBT, "the model's own table", advice="the entity's own name, at the slices before: dt < :biz_date"
        )
    if text.startswith("run_started_at"):
        return Meaning(_DBT, "the time of the run", advice="a time of the slice: :period_end (no clock is read here)")
    return None


def _of_variable(text: str) -> Meaning | None:
    if match := _VAR.fullmatch(text):
        return Meaning(_DBT, "a variable", advice=_ASSIGNED.format(name=match["name"]), parameter=match["name"])
    if match := _PARAMS.fullmatch(text):
        return Meaning(
            _AIRFLOW, "a parameter of the DAG", advice=_ASSIGNED.format(name=match["name"]), parameter=match["name"]
        )
    return None


def _of_airflow(text: str) -> Meaning | None:
    moment = _moment_as_text(text) or _instant(text)
    if moment is None:
        return None
    return Meaning(_AIRFLOW, _END if moment.base == "end" else _START, moment)


def _moment_as_text(text: str) -> Moment | None:
    if text in _TEXTS:
        return _TEXTS[text]
    if match := _DS_ADD.fullmatch(text):
        moment = _moment_as_text(match["text"])
        return moment.moved(days=int(match["count"])) if moment and moment.pattern == _DAY else None
    if match := _DS_FORMAT.fullmatch(text):
        moment = _moment_as_text(match["text"])
        becomes = pattern_of_python(match["becomes"])
        is_same = moment is not None and pattern_of_python(match["was"]) == moment.pattern
        return moment.as_text(becomes) if moment and is_same and becomes else None
    if match := _FORMATTED.fullmatch(text):
        instant, pattern = _instant(match["value"]), pattern_of_python(match["pattern"])
        return instant.as_text(pattern) if instant and pattern else None
    value, _, shape = text.rpartition("|")
    instant = _instant(value.removesuffix(".to_date_string()")) if shape in ("ds", "ds_nodash") else None
    if instant is None and text.endswith(".to_date_string()"):
        instant, shape = _instant(text.removesuffix(".to_date_string()")), "ds"
    return instant.as_text(_NO_DASH if shape == "ds_nodash" else _DAY) if instant else None


def _instant(text: str) -> Moment | None:
    """`(data_interval_start - macros.timedelta(days=1)).in_timezone(..)`."""
    text = _ZONE.sub("", text)
    while text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    if text in _INSTANTS:
        return _INSTANTS[text]
    for move in (_MOVE, _DELTA):
        matches = [match for match in move.finditer(text) if match.end() == len(text)]
        if matches:
            instant = _instant(text[: matches[0].start()])
            return _moved(instant, matches[0]) if instant else None
    return None


def _moved(instant: Moment, match: re.Match[str]) -> Moment:
    is_back = match.groupdict().get("verb") == "subtract" or match.groupdict().get("sign") == "-"
    count = int(match["count"]) * (-1 if is_back else 1)
    match match["unit"]:
        case "months":
            return instant.moved(months=count)
        case "hours":
            return instant.moved(hours=count)
        case "weeks":
            return instant.moved(days=7 * count)
        case _:
            return instant.moved(days=count)
