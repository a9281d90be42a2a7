"""Types of declared fields: how a text in YAML becomes a value, and the error if it cannot."""

import re
from collections.abc import Callable
from datetime import timedelta
from functools import lru_cache
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BeforeValidator, ConfigDict, InstanceOf, StringConstraints

from tidemark.dependency_model.offset.offset import Offset
from tidemark.dependency_model.time.cron import Cron
from tidemark.dependency_model.time.local_calendar import Calendar
from tidemark.dependency_model.time.partition_columns import PartitionColumn, parse_partition_columns
from tidemark.dependency_model.time.period import Period
from tidemark.dependency_model.time.workdays import known_workdays
from tidemark.errors import TidemarkError

STRICT = ConfigDict(extra="forbid", arbitrary_types_allowed=True, str_max_length=20_000)
"""The settings of every declared value: unknown keys are refused, and texts are limited to 20,000 characters."""

_Value = TypeVar("_Value")
_Given = TypeVar("_Given")
_DURATION = re.compile(r"(\d{1,5})(s|min|m|h|d)", re.ASCII)
_TAG = re.compile(r"([\w.-]{1,63}/)?[\w.-]{1,63}", re.ASCII)
_TAG_VALUE = re.compile(r"[\w.-]{0,63}", re.ASCII)
_LISTED_TAG = "pool"
"""The tag with several names, separated by commas."""
_UNITS = {"s": "seconds", "min": "minutes", "m": "minutes", "h": "hours", "d": "days"}


def _parsed_by(parse: Callable[[_Given], _Value], text: _Given) -> _Value:
    """Runs a parser inside a validator: pydantic expects errors as ValueError."""
    try:
        return parse(text)
    except TidemarkError as error:
        raise ValueError(str(error)) from error


def _period(value: object) -> Period:
    return value if isinstance(value, Period) else _parsed_by(Period.parse, str(value))


def _offset(value: object) -> Offset:
    if isinstance(value, Offset):
        return value
    if isinstance(value, (list, int)):
        counts = value if isinstance(value, list) else [value]
        value = f"Set {','.join(str(count) for count in counts)}"
    return _parsed_by(Offset.parse, str(value))


def _time_zone(value: object) -> str:
    return _parsed_by(_known_time_zone, str(value))


@lru_cache(maxsize=1024)
def _known_time_zone(name: str) -> str:
    return Calendar(name).time_zone


def _holidays(value: object) -> str:
    return _parsed_by(known_workdays, str(value)) if value else ""


def _start(value: object) -> str:
    return _parsed_by(_known_start, str(value))


@lru_cache(maxsize=1024)
def _known_start(text: str) -> str:
    Calendar().start_of(text)
    return text


def _cron(value: object) -> str:
    return _parsed_by(Cron.parse, str(value)).text


def _partition_columns(value: object) -> tuple[PartitionColumn, ...]:
    if isinstance(value, tuple):
        return value
    if not isinstance(value, dict):
        raise ValueError(f"expected columns and their forms, such as {{ds: yyyyMMdd}}, found {value!r}")  # noqa: TRY004 - pydantic's
    return _parsed_by(_known_partition_columns, tuple((str(name), str(form)) for name, form in value.items()))


@lru_cache(maxsize=1024)
def _known_partition_columns(declared: tuple[tuple[str, str], ...]) -> tuple[PartitionColumn, ...]:
    return parse_partition_columns(dict(declared))


def _duration(value: object) -> timedelta:
    if isinstance(value, timedelta):
        return value
    match = _DURATION.fullmatch(str(value))
    if not match:
        raise ValueError(f"expected a duration such as 30min, 2h, 1d or 30s, found {value!r}")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


PeriodField = Annotated[InstanceOf[Period], BeforeValidator(_period)]
OffsetField = Annotated[InstanceOf[Offset], BeforeValidator(_offset)]
HolidaysField = Annotated[str, BeforeValidator(_holidays)]
"""A calendar of workdays: `FR`, `FR-57`, `XNYS` or `weekdays`."""
TimeZoneField = Annotated[str, BeforeValidator(_time_zone)]
DurationField = Annotated[timedelta, BeforeValidator(_duration)]
NameField = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.]{0,127}$")]
TaskIdField = Annotated[
    str,
    BeforeValidator(lambda value: str(value) if type(value) is int else value),
    StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,128}$"),
]
"""The id of a task in another scheduler."""
ColumnField = Annotated[str, StringConstraints(min_length=1, max_length=128)]
LOG_CHANNEL = "log"
"""The channel that needs no address."""
ChannelField = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
"""A channel for alerts: `log`, or a name whose address is in `TIDEMARK_CHANNEL_<NAME>`."""
ReplicaField = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
"""Another lake, by its name in the setting `replicas`."""
RefreshTargetField = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
"""A database, cache or receiver, by its name in the setting `refresh_targets`."""
CronField = Annotated[str, BeforeValidator(_cron)]
"""A cron expression of five fields, on the entity's local clock."""
TimeOfDayField = Annotated[str, StringConstraints(pattern=r"^([01]\d|2[0-3]):[0-5]\d$")]
"""`00:30`: half an hour after the window's end, on the local clock."""
PartitionColumnsField = Annotated[tuple[InstanceOf[PartitionColumn], ...], BeforeValidator(_partition_columns)]
StartField = Annotated[str, BeforeValidator(_start)]
"""A date, or an hour such as `2026-03-30T00`."""


def _tags(tags: dict[str, str]) -> dict[str, str]:
    for name, value in tags.items():
        values = [part.strip() for part in value.split(",")] if name == _LISTED_TAG else [value]
        if not (_TAG.fullmatch(name) and all(map(_TAG_VALUE.fullmatch, values))):
            raise ValueError(f"Dagster's tags have letters, digits, '_', '-' and '.' only, found {name}: {value!r}")
    return tags


TagsField = Annotated[dict[str, str], AfterValidator(_tags)]
