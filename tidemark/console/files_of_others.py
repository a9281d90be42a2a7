"""Declares files that another system writes: a table with the columns of the first slice that exists."""

from __future__ import annotations

import os
import re
from glob import glob
from pathlib import Path
from typing import Final, NamedTuple

import yaml

from tidemark.dependency_model.time.period import Period
from tidemark.errors import EntityError

_KEY: Final = re.compile(r"\{(?:key|dt)\}")
_PARTS: Final = re.compile(r"(\{(?:key|dt)\}|[*?])")
_KEYS: Final = dict.fromkeys(("{key}", "{dt}"), "(?P<key>[^/]+)")
_WILD: Final = {"*": "[^/]*", "?": "[^/]"}
_PERIODS: Final = {
    re.compile(r"\d{4}-\d{2}-\d{2}"): Period.DAY,
    re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}"): Period.HOUR,
    re.compile(r"\d{4}-\d{2}"): Period.MONTH,
    re.compile(r"\d{4}"): Period.YEAR,
}
_EXAMPLE: Final = "a path with {key} for the slice's key, such as 'exports/dt={key}' or 'exports/{key}.csv'"


class FilesOfOthers(NamedTuple):
    """`path` is a pattern with `{key}`, `keys` are the existing slices in order, `columns` those of the first slice."""

    path: str
    period: Period
    keys: tuple[str, ...]
    columns: tuple[str, ...]

    @classmethod
    def found(cls, path: str) -> FilesOfOthers:
        """Look for the files of a local path that contains `{key}` or `{dt}`. Raises EntityError."""
        if len(_KEY.findall(path)) != 1:
            raise EntityError("the path does not name a slice", expected=_EXAMPLE, found=path)
        whole = os.path.abspath(Path(path).expanduser())  # noqa: PTH100 - also removes `..`
        keys = _keys(whole)
        known = {key: period for key in keys for form, period in _PERIODS.items() if form.fullmatch(key)}
        periods = set(known.values())
        if len(periods) != 1:
            raise EntityError(
                "there are no slices at this path",
                expected="names such as 2026-03-29, 2026-03-29T07 (hours), 2026-03 (months) or 2026, all in one format",
                found=", ".join(keys[:3]) or "the path does not exist",
                where=whole,
                hint="write {key} in place of the slice's day, hour, month or year",
            )
        return cls(whole, periods.pop(), tuple(known), _columns(_KEY.sub(next(iter(known)), whole)))

    def declaration(self, name: str, root: Path) -> str:
        """The YAML declaration of a table of these files, for a project in the folder `root`."""
        below = Path(self.path).is_relative_to(root.resolve())
        lines = {
            "description": f"{name.replace('_', ' ').capitalize()}, from files of another system.",
            "period": str(self.period),
            "start": self.keys[0],
            "source": str(Path(self.path).relative_to(root.resolve())) if below else self.path,
            "columns": list(self.columns),
        }
        return "".join(f"{key}: {_flow(value)}\n" for key, value in lines.items())


def _flow(value: object) -> str:
    return yaml.safe_dump(value, default_flow_style=True, width=100_000).removesuffix("...\n").strip()


def _keys(path: str) -> list[str]:
    """The keys of slices in the names of existing folders and files."""
    parts = (_WILD.get(part) or _KEYS.get(part) or re.escape(part) for part in _PARTS.split(path))
    form = re.compile("".join(parts))
    matches = (form.fullmatch(place) for place in glob(_KEY.sub("*", path)))  # noqa: PTH207 - `path` is a text
    return sorted({match["key"] for match in matches if match is not None})


def _columns(place: str) -> tuple[str, ...]:
    from tidemark.crawl.connection_secrets import ConnectionSecrets  # noqa: PLC0415 - keeps --help fast
    from tidemark.crawl.errors import ProbeError  # noqa: PLC0415
    from tidemark.crawl.outside_rows import OutsideRows  # noqa: PLC0415
    from tidemark.crawl.probed_slice import ProbedSlice  # noqa: PLC0415
    from tidemark.crawl.probes.files import slice_files  # noqa: PLC0415
    from tidemark.dependency_model.entity.probe import FilesProbe  # noqa: PLC0415
    from tidemark.dependency_model.slice import Slice  # noqa: PLC0415

    of_first = ProbedSlice(Slice("first", ""), None, "UTC")
    try:
        folder, data = slice_files(FilesProbe(path=place), of_first, ConnectionSecrets({}))
        columns = tuple(OutsideRows(folder, data).schema.names) if data else ()
    except ProbeError as error:
        told = error.expected, error.found
        raise EntityError("the first slice cannot be read", expected=told[0], found=told[1], where=place) from error
    if not columns:
        raise EntityError(
            "the first slice has no columns",
            expected="Parquet, ORC, CSV with a header, or JSON lines, with the matching ending of the name",
            found="no file" if not data else "empty files",
            where=place,
        )
    return columns
