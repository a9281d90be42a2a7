"""Checks of programs, disk and memory."""

from __future__ import annotations

import platform
import shutil
import sys
from typing import TYPE_CHECKING, Final

import psutil

from tidemark.system.account import account_name, unknown_account
from tidemark.system.check_finding import Finding
from tidemark.system.errors import DiskPathError, add_account
from tidemark.system.files import is_open_to_others, writable_directory

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_PYTHON: Final = ((3, 11), (3, 14))
_GIB: Final = 1 << 30
_DISK_BYTES: Final = 2 * _GIB
_MEMORY_BYTES: Final = 3 * _GIB


def python(version: tuple[int, int] = sys.version_info[:2]) -> Finding:
    """Whether the locked dependencies support this Python."""
    lowest, above = _PYTHON
    version_text = f"Python {version[0]}.{version[1]} ({platform.python_implementation()})"
    if lowest <= version < above:
        return Finding("Python", "ok", version_text)
    return Finding(
        "Python", "problem", version_text, "run `make PYTHON=/path/to/python3.11 setup` with Python 3.11 to 3.13"
    )


def java(env: Mapping[str, str]) -> Finding:
    """Whether there is a Java that can run Spark."""
    from tidemark.spark.java import java_problem  # noqa: PLC0415 - next to `jars`, which loads pyspark

    problem = java_problem(env)
    if problem is None:
        return Finding("Java", "ok", "Java 17 or newer")
    cause, _, to_do = problem.partition(": ")
    return Finding("Java", "problem", cause, to_do)


def account() -> Finding:
    """Whether the account has a name: without one, Spark does not start."""
    number = unknown_account()
    if number is None:
        return Finding("Account", "ok", account_name())
    return Finding("Account", "problem", f"the account {number} has no entry in the password file", add_account(number))


def jars(base: Path | None = None) -> Finding:
    """Whether Spark's jars are on this machine, so that a session starts without a network."""
    from tidemark.spark.jars import jars_directory  # noqa: PLC0415 - loads pyspark

    folder = jars_directory(base)
    if not folder.is_dir():
        return Finding(
            "Spark's jars",
            "warning",
            f"missing in {folder}",
            "run `python -m tidemark.spark.jars` (needs a Maven repository once)",
        )
    return Finding("Spark's jars", "ok", f"{len(list(folder.glob('*.jar')))} in {folder}")


def class_archive(base: Path | None = None) -> Finding:
    """Whether Spark's JVM shares a class archive, which saves seconds at each start."""
    from tidemark.spark.class_archive import class_archive as archive_of_machine  # noqa: PLC0415 - loads pyspark

    archive = archive_of_machine(base)
    if archive.is_file():
        return Finding("Spark's classes", "ok", f"stored in {archive}")
    return Finding(
        "Spark's classes",
        "warning",
        "missing: each start of Spark takes some seconds longer",
        "run `python -m tidemark.spark.write_class_archive` (a minute, once)",
    )


def writable(subject: str, folder: Path, setting: str) -> Finding:
    """Whether files can be written in `folder` (created if missing), which the variable `setting` chooses."""
    try:
        writable_directory(folder)
    except DiskPathError as error:
        to_do = f"free disk space, grant write access, or choose another folder with {setting}"
        return Finding(subject, "problem", f"{folder} cannot be written ({error.found})", to_do)
    return Finding(subject, "ok", f"{folder} is writable")


def private(subject: str, folder: Path) -> Finding:
    """Whether other accounts of this machine cannot read a folder."""
    if is_open_to_others(folder):
        readable = f"other accounts of this machine can read {folder}"
        return Finding(subject, "warning", readable, f"remove their access: chmod 700 {folder}")
    return Finding(subject, "ok", f"only its owner can read {folder}")


def disk_space(folder: Path) -> Finding:
    """Whether there is disk space for the sample's tables."""
    while not folder.is_dir():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    free_text = f"{free / _GIB:.1f} GiB free in {folder}"
    if free >= _DISK_BYTES:
        return Finding("Disk space", "ok", free_text)
    return Finding(
        "Disk space",
        "warning",
        free_text,
        "free some space, or choose another disk with TIDEMARK_DATA (2 GiB is enough)",
    )


def memory(available_bytes: int | None = None) -> Finding:
    """Whether there is memory for a JVM in addition to Python."""
    available = psutil.virtual_memory().available if available_bytes is None else available_bytes
    memory_text = f"{available / _GIB:.1f} GiB available"
    if available >= _MEMORY_BYTES:
        return Finding("Memory", "ok", memory_text)
    return Finding(
        "Memory",
        "warning",
        memory_text,
        "close programs (3 GiB is enough), or give Spark less memory with TIDEMARK_SPARK_MEMORY=1g",
    )
