"""Texts that name a slice: `{key}`, `{start:%Y-%m-%d}`, `{end:%H}` on the entity's clock, `{region}` (a sub-partition).

`{hour}`, `{day}`, `{month}`, `{quarter}` and `{year}` are the keys of the longer periods that contain it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.time.local_calendar import Calendar
from tidemark.dependency_model.time.period import Period
from tidemark.dependency_model.time.zone import zone_info

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tidemark.dependency_model.time.window import Window

_PLACEHOLDER: Final = re.compile(r"(?<!\$)\{([^{}]*)\}")
_FORM: Final = re.compile(r"(\w+)(?::(.+))?")
TIMES: Final = frozenset({"start", "end"})
KEY: Final = "key"
LEVELS: Final = {
    period.value: period for period in (Period.HOUR, Period.DAY, Period.MONTH, Period.QUARTER, Period.YEAR)
}
"""Periods that contain only whole shorter ones. Weeks are left out, because a week can be in two months."""


def placeholders(text: str) -> tuple[tuple[str, str], ...]:
    """(name, format) of each placeholder. Raises ValueError for an invalid placeholder."""
    return tuple(_read(inside) for inside in _PLACEHOLDER.findall(text))


def slice_text(
    text: str,
    key: str,
    window: Window | None,
    time_zone: str,
    sub: Mapping[str, str],
    escape: Callable[[str], str] = str,
) -> str:
    """The text for one slice. Times are in `time_zone`; `escape` is applied to each value.

    Raises ValueError for a name that the slice does not have.
    """
    zone = zone_info(time_zone)

    def value(match: re.Match[str]) -> str:
        name, form = _read(match[1])
        if name == KEY:
            return key
        if name in sub:
            return sub[name]
        if name in TIMES and window is not None:
            instant = window.start if name == "start" else window.end
            return instant.astimezone(zone).strftime(form)
        if name in LEVELS and window is not None:
            return Calendar(time_zone).key(LEVELS[name], window.start)
        raise ValueError(f"the slice has no '{name}'")

    return _PLACEHOLDER.sub(lambda match: escape(value(match)), text)


def _read(inside: str) -> tuple[str, str]:
    match = _FORM.fullmatch(inside)
    if match is None:
        raise ValueError(f"expected {{key}}, {{start:%Y-%m-%d}} or a part's name, found {{{inside}}}")
    name, form = match[1], match[2] or ""
    if (name in TIMES) != ("%" in form):
        raise ValueError(f"expected {{start:%Y-%m-%d}}: a time with its format, found {{{inside}}}")
    return name, form
