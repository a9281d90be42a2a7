"""Folders on a disk or prefixes in an object store, by one address: `/data/clicks` or `s3://bucket/clicks`."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyarrow import fs
from pyarrow import parquet as pq

from tidemark.crawl.errors import ProbeError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

MOST_FILES: Final = 100_000
MOST_COUNTED: Final = 2_000
"""If there are more Parquet files, rows are not counted, because that reads the footer of each file."""
_PATTERN: Final = re.compile(r"([\[\]{}*?\\])")
_WILD: Final = {"*": ".*", "?": "."}
_UNDER_WAY: Final = "_temporary"


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder in its file system."""

    system: fs.FileSystem
    path: str

    @classmethod
    def at(cls, address: str) -> Folder:
        """The folder at an address, which need not exist."""
        if "://" in address:
            return cls(*fs.FileSystem.from_uri(address))
        return cls(fs.LocalFileSystem(), address)

    def below(self, *names: str) -> Folder:
        """A folder in this one."""
        return Folder(self.system, "/".join((self.path.rstrip("/"), *names)))

    def spark_address(self, path: str) -> str:
        """The address of a file for Spark, which uses `s3a` for S3 and expands patterns."""
        scheme = {"s3": "s3a", "hdfs": "hdfs", "gcs": "gs", "abfs": "abfss"}.get(self.system.type_name, "file")
        plain = _PATTERN.sub(r"\\\1", path)
        return f"{scheme}://{plain}"

    def entries(self) -> list[fs.FileInfo]:
        """The direct entries; empty if the folder does not exist."""
        return list(self.system.get_file_info(fs.FileSelector(self.path, allow_not_found=True)))

    def files(self) -> list[fs.FileInfo]:
        """Every file below. Raises ProbeError for too many files, and for a link that leads out of the folder."""
        return self._listed(None)

    def named(self, names: Collection[str]) -> list[fs.FileInfo]:
        """Direct files whose names match one of these patterns (`*` and `?`). Raises ProbeError as `files`."""
        return self._listed(re.compile("|".join(map(_pattern, names)), re.DOTALL))

    def _listed(self, names: re.Pattern[str] | None) -> list[fs.FileInfo]:
        """Every file below, or direct files with such names."""
        is_local = isinstance(self.system, fs.LocalFileSystem)
        files = self._local_files(names) if is_local else self._stored_files(names)
        if len(files) > MOST_FILES:
            raise ProbeError(
                "there are too many files to check", expected=f"at most {MOST_FILES:,}", found=f"{len(files):,}"
            )
        return files

    def _stored_files(self, fitting: re.Pattern[str] | None) -> list[fs.FileInfo]:
        selector = fs.FileSelector(self.path, allow_not_found=True, recursive=fitting is None)
        infos = (info for info in self.system.get_file_info(selector) if info.type is fs.FileType.File)
        return [info for info in infos if fitting is None or fitting.fullmatch(str(info.base_name))]

    def _local_files(self, fitting: re.Pattern[str] | None) -> list[fs.FileInfo]:
        """Lists without Arrow, which follows links to folders, endlessly or out of the folder.

        The folder itself may be a link. A link below it must lead to a file in the folder.
        """
        home, paths = os.path.realpath(self.path), list[str]()
        for place, folders, names in os.walk(self.path, followlinks=False):
            if fitting is not None:
                folders.clear()
                names[:] = filter(fitting.fullmatch, names)
            for path in (os.path.join(place, name) for name in (*folders, *names)):  # noqa: PTH118 - Arrow's form
                if os.path.islink(path) and not self._stays_within(path, home):  # noqa: PTH114
                    raise ProbeError("a link leads out of the folder", expected=f"files below {home}", found=path)
            paths += [os.path.join(place, name) for name in names]  # noqa: PTH118
            if len(paths) > MOST_FILES:
                break
        return [info for info in self.system.get_file_info(paths) if info.type is fs.FileType.File]

    @staticmethod
    def _stays_within(link: str, home: str) -> bool:
        return os.path.isfile(link) and os.path.realpath(link).startswith(f"{home.rstrip('/')}/")  # noqa: PTH113

    def relative(self, info: fs.FileInfo) -> str:
        """A file's path from this folder."""
        return str(info.path).removeprefix(self.path.rstrip("/")).lstrip("/")

    def is_being_written(self, files: Sequence[fs.FileInfo]) -> bool:
        """Whether Hadoop's committer has not finished."""
        return any(_UNDER_WAY in self.relative(info).split("/") for info in files)

    def data(self, files: Sequence[fs.FileInfo]) -> list[fs.FileInfo]:
        """The files with data: no part of their path begins with `_` or `.`."""
        return [info for info in files if not any(part[:1] in ("_", ".") for part in self.relative(info).split("/"))]

    def rows(self, files: Sequence[fs.FileInfo]) -> int | None:
        """The rows of Parquet files, from their footers; None for other files. Raises ProbeError for an invalid file.

        An empty file has no rows.
        """
        if not files or len(files) > MOST_COUNTED or not all(info.path.endswith(".parquet") for info in files):
            return None
        try:
            return sum(int(pq.read_metadata(info.path, filesystem=self.system).num_rows) for info in files if info.size)
        except (OSError, ValueError) as error:
            raise ProbeError("a Parquet file cannot be read yet", found=str(error)[:200]) from error


def _pattern(name: str) -> str:
    return "".join(_WILD.get(letter) or re.escape(letter) for letter in name)


def traits(folder: Folder, files: Sequence[fs.FileInfo]) -> list[tuple[str, int, int | None]]:
    """Properties that change with a file: (path, size, time of modification in nanoseconds)."""
    return [(folder.relative(info), info.size, info.mtime_ns) for info in files]
