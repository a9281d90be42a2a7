"""The declaration of files that others write, a folder a slice: its columns and first slice, from what lies there."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final, NamedTuple

import yaml

from tidemark.dependency_model.time.period import Period
from tidemark.errors import EntityError

_KEY: Final = "{key}"
_PERIODS: Final = {
    re.compile(r"\d{4}-\d{2}-\d{2}"): Period.DAY,
    re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}"): Period.HOUR,
    re.compile(r"\d{4}-\d{2}"): Period.MONTH,
    re.compile(r"\d{4}"): Period.YEAR,
}
_EXAMPLE: Final = "a folder a slice with {key} for the slice's key, such as 'exports/orders/dt={key}'"


class FilesOfOthers(NamedTuple):
    """`path` is where a slice's folder is, `keys` the slices that lie there, in order, `columns` those of the first."""

    path: str
    period: Period
    keys: tuple[str, ...]
    columns: tuple[str, ...]

    @classmethod
    def found(cls, path: str) -> FilesOfOthers:
        """What lies at a path of this machine with `{key}` in it. Raises EntityError."""
        if path.count(_KEY) != 1:
            raise EntityError("no slices can be told apart", expected=_EXAMPLE, found=path)
        whole = os.path.abspath(Path(path).expanduser())  # noqa: PTH100 - without the dots of a relative path
        keys = _keys(whole)
        periods = {period for key in keys for form, period in _PERIODS.items() if form.fullmatch(key)}
        if len(periods) != 1:
            raise EntityError(
                "no folders of slices lie there",
                expected="names such as 2026-03-29, 2026-03-29T07 (hours), 2026-03 (months) or 2026, all of one form",
                found=", ".join(keys[:3]) or "no such folder",
                where=whole,
                hint="write {key} where the slice's day, hour, month or year stands",
            )
        columns = _columns(whole.replace(_KEY, keys[0]))
        return cls(whole, periods.pop(), tuple(keys), columns)

    def declaration(self, name: str) -> str:
        """The YAML of an entity of them."""
        lines = {
            "description": f"{name.replace('_', ' ').capitalize()}, as files of another system.",
            "kind": "Virtual",
            "period": str(self.period),
            "start": self.keys[0],
            "columns": list(self.columns),
            "probe": {"files": {"path": self.path}},
        }
        return "".join(f"{key}: {_flow(value)}\n" for key, value in lines.items())


def _flow(value: object) -> str:
    return yaml.safe_dump(value, default_flow_style=True, width=100_000).removesuffix("...\n").strip()


def _keys(path: str) -> list[str]:
    """What stands for `{key}` in the folders that are there."""
    before, _, after = path.partition(_KEY)
    parent, prefix = before.rpartition("/")[::2]
    suffix, _, rest = after.partition("/")
    names = [entry.name for entry in Path(parent).iterdir() if entry.is_dir()] if Path(parent).is_dir() else []
    fitting = (name for name in names if name.startswith(prefix) and name.endswith(suffix) and len(name) > len(prefix))
    keys = (name[len(prefix) : len(name) - len(suffix)] for name in fitting)
    return sorted(key for key in keys if not rest or Path(path.replace(_KEY, key)).is_dir())


def _columns(folder: str) -> tuple[str, ...]:
    from tidemark.crawl.errors import ProbeError  # noqa: PLC0415
    from tidemark.crawl.folders import Folder  # noqa: PLC0415 - keeps --help fast
    from tidemark.crawl.outside_rows import OutsideRows  # noqa: PLC0415

    there = Folder.at(folder)
    data = there.data(there.files())
    try:
        columns = tuple(OutsideRows(there, data).schema.names) if data else ()
    except ProbeError as error:
        told = error.expected, error.found
        raise EntityError("the first folder cannot be read", expected=told[0], found=told[1], where=folder) from error
    if not columns:
        raise EntityError(
            "the first folder holds no columns",
            expected="Parquet, ORC, CSV with a header, or JSON lines, by the end of their names",
            found="no file" if not data else "files without a byte",
            where=folder,
        )
    return columns
