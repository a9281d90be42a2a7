"""Files that `tidemark init` writes: the package's template, and the declarations of its sample.

`project_template/shared` holds the files that this repository shares with new projects: links in the checkout, copies
in the wheel. `project_template/own` holds the other files of a new project, and `project_template/tiny` three tables
over two days of CSV.
"""

from __future__ import annotations

import re
import shutil
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tidemark.console.errors import ProjectFolderError
from tidemark.dependency_model.time.zone import zone_info
from tidemark.system.project_root import DECLARATIONS, PROJECT_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import date

SAMPLE: Final = Path(__file__).parent / "sample"
"""The recording of a school's databases, and the expected figures."""
_TEMPLATE: Final = Path(__file__).parent / "project_template"
TEMPLATE_OF_DAGSTER: Final = _TEMPLATE / "shared" / "dagster_home" / "dagster.yaml"
_HIDDEN: Final = {"gitignore": ".gitignore"}
"""Files that `init` renames. Git would apply a file with the name .gitignore inside the template."""
_DATA: Final = "data"
_PLACEHOLDER: Final = "my_warehouse"
_DAYS: Final = {"TODAY": 0, "YESTERDAY": 1, "DAY_BEFORE": 2}
"""The words in the template that become dates, with the number of days before today."""
_TIME_ZONE: Final = re.compile(r"^time_zone: \S+", re.MULTILINE)
_DERIVED: Final = ("__pycache__",)


def sample_files() -> dict[Path, Path]:
    """Files of a project with the sample's declarations: target path and source."""
    return {_place(path, root): path for root in _roots() for path in _files(root)}


def empty_files() -> dict[Path, Path]:
    """Files of a project without tables."""
    own, shared = ({_place(path, root): path for path in _files(root)} for root in _roots())
    return {**{place: path for place, path in shared.items() if not _is_declaration(place)}, **own}


def tiny_files() -> dict[Path, Path]:
    """The files of a project with three tables and two days of CSV."""
    root = _TEMPLATE / "tiny"
    return {**empty_files(), **{_place(path, root): path for path in _files(root)}}


def write_project(folder: Path, files: dict[Path, Path], time_zone: str | None) -> list[Path]:
    """Write the files into a new or empty folder; returns their paths. Raises ProjectFolderError.

    Also create the data folder, which caches the results of query analysis.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ProjectFolderError.of(folder)
    (folder / _DATA).mkdir(parents=True)
    today = datetime.now(zone_info(time_zone or "UTC")).date()
    changes, written = _changes(folder.absolute().name, time_zone, today), list[Path]()
    for place, path in files.items():
        written.append(Path(_dated(str(place), today)))
        target = folder / written[-1]
        target.parent.mkdir(parents=True, exist_ok=True)
        if str(place) in changes:
            target.write_text(changes[str(place)](path.read_text(encoding="utf-8")), encoding="utf-8")
        else:
            shutil.copyfile(path, target)
    return sorted(written)


def _dated(text: str, today: date) -> str:
    """The text with these words replaced by dates."""
    for word, days in _DAYS.items():
        text = text.replace(word, (today - timedelta(days=days)).isoformat())
    return text


def _changes(name: str, time_zone: str | None, today: date) -> dict[str, Callable[[str], str]]:
    """By file, the function that adapts its text to the project."""

    def named(text: str) -> str:
        return text.replace(_PLACEHOLDER, re.sub(r"[^A-Za-z0-9_-]", "_", name))

    def in_zone(text: str) -> str:
        return text if time_zone is None else _TIME_ZONE.sub(f"time_zone: {time_zone}", text)

    def dated(text: str) -> str:
        return _dated(text, today)

    defaults = f"{DECLARATIONS}/project.yaml"
    return {"pyproject.toml": named, "README.md": named, PROJECT_FILE: in_zone, defaults: dated}


def _roots() -> tuple[Path, Path]:
    return _TEMPLATE / "own", _TEMPLATE / "shared"


def _files(folder: Path) -> Iterator[Path]:
    """Files below a folder, following links."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name not in _DERIVED:
            yield from _files(path)
        elif path.is_file():
            yield path


def _place(path: Path, root: Path) -> Path:
    place = path.relative_to(root)
    return place.with_name(_HIDDEN.get(place.name, place.name))


def _is_declaration(place: Path) -> bool:
    return place.parts[0] == DECLARATIONS and place.suffix != ".py"
