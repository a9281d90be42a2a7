"""Spark's extra jars, resolved once by Ivy into a folder, and read from there afterwards.

`python -m tidemark.spark.jars` is part of the set-up. Later sessions need no network. Any number of processes may start
at once, because the folder appears by one rename, complete or not at all.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import pyspark

from tidemark.spark.java import java_problem
from tidemark.spark.log_store_jar import sources, write_log_store_jar
from tidemark.system.checksums import require_checksums
from tidemark.system.errors import JarsError, JavaMissingError

SCALA = "2.13"
CHECKSUMS = Path(__file__).with_name("jars.sha256")
# Kafka's delegation tokens: Spark's reader loads these classes. 4.0.0 is the last version on every mirror.
_TOKENS = f"org.apache.spark:spark-token-provider-kafka-0-10_{SCALA}"
DISK_JAR = "tidemark-disk.jar"
DISK_SOURCES = sources(
    Path(__file__).parent / "local_disk", "Commit", "DiskFileManager", "DiskFiles", "DiskLogStore", "DiskWrite"
)


def coordinates() -> tuple[str, ...]:
    """Maven coordinates: Delta and the Kafka reader for the versions of the installed Python packages."""
    spark = version("pyspark")
    spark_line = ".".join(spark.split(".")[:2])
    return (
        f"io.delta:delta-spark_{spark_line}_{SCALA}:{version('delta-spark')}",
        f"org.apache.spark:spark-sql-kafka-0-10_{SCALA}:{spark}",
        f"{_TOKENS}:4.0.0",
    )


def jars_directory(base: Path | None = None) -> Path:
    """The folder of the jars. Its name changes with the coordinates and our sources, so a stale one is never used."""
    named = "\n".join(coordinates()).encode()
    digest = hashlib.sha256(b"\n".join([named, *(source.read_bytes() for source in DISK_SOURCES)])).hexdigest()[:12]
    return (base or Path(sys.prefix) / "share" / "tidemark") / f"jars-{digest}"


def resolved_jars(base: Path | None = None) -> tuple[Path, ...]:
    """The jars on this machine, resolved first if set-up was skipped. Raises JarsError, ChecksumError."""
    target = jars_directory(base)
    if not target.is_dir():
        _resolve_into(target)
    return tuple(sorted(target.glob("*.jar")))


def _resolve_into(target: Path) -> None:
    *wanted, tokens = coordinates()
    # In two groups, because the reader requires the tokens in its own version.
    groups = [(wanted, (_TOKENS,)), ([tokens], ("org.apache.kafka:kafka-clients",))]
    fetch_into(target, groups, CHECKSUMS, _add_disk_jar)


def _add_disk_jar(folder: Path) -> None:
    write_log_store_jar(folder / DISK_JAR, DISK_SOURCES, list(folder.glob("*.jar")))


def fetch_into(
    target: Path,
    groups: Sequence[tuple[Sequence[str], Sequence[str]]],
    listing: Path,
    finish: Callable[[Path], None] = lambda _: None,
    ivy_settings: Path | None = None,
) -> None:
    """Create the folder `target` with Ivy's result for each group: (coordinates, excluded dependencies).

    Jars that Spark ships are left out, and the others must be those of `listing`. `finish` may add to the folder before
    it appears; `ivy_settings` has further places for Ivy. Raises JavaMissingError, JarsError, ChecksumError.
    """
    problem = java_problem()
    if problem:
        raise JavaMissingError.of(problem)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".resolving-") as work:
        for number, (wanted, excluded) in enumerate(groups):
            _run_ivy(Path(work) / f"ivy-{number}", wanted, [*_EXCLUDED, *excluded], ivy_settings)
        chosen = Path(work) / "chosen"
        chosen.mkdir()
        for jar in _not_in_spark(sorted(Path(work).glob("ivy*/jars/*.jar"))):
            shutil.copy(jar, chosen / jar.name)
        require_checksums(chosen, listing)
        finish(chosen)
        _publish(chosen, target)


def _publish(chosen: Path, target: Path) -> None:
    try:
        chosen.rename(target)
    except OSError:
        # Another process was first, with the same result.
        if not target.is_dir():
            raise


def _run_ivy(ivy: Path, wanted: Sequence[str], excluded: Sequence[str], ivy_settings: Path | None = None) -> None:
    """Let spark-submit resolve `wanted`, a second time without the user's Maven folder if it fails.

    If Maven has left only an artifact's description there, Ivy uses it and then finds no jar.
    """
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    with tempfile.NamedTemporaryFile("w", suffix=".py", dir=ivy.parent, delete=False) as program:
        program.write("")
    command = [
        str(submit), "--master", "local[1]", "--packages", ",".join(wanted), "--conf", f"spark.jars.ivy={ivy}",
        "--exclude-packages", ",".join(excluded),
        *(("--conf", f"spark.jars.ivySettings={ivy_settings}") if ivy_settings else ()), program.name,
    ]  # fmt: skip
    elsewhere = f"{os.environ.get('SPARK_SUBMIT_OPTS', '')} -Duser.home={ivy.parent}".strip()
    for options in ({}, {"SPARK_SUBMIT_OPTS": elsewhere}):
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env={**os.environ, **_PYTHON, **options}
        )
        if not done.returncode:
            return
        shutil.rmtree(ivy, ignore_errors=True)
    raise JarsError.unresolved(wanted, done.stderr)


def _not_in_spark(jars: Sequence[Path]) -> list[Path]:
    """Leave out jars that pyspark ships, in any version: with two versions, Spark would use an arbitrary one."""
    shipped = {_artifact(jar.name) for jar in (Path(pyspark.__file__).parent / "jars").glob("*.jar")}
    # Keep all jars of Amazon's SDK. Its `annotations` has the name of another jar in Spark, which is from JetBrains.
    return [jar for jar in jars if jar.name.startswith(_AMAZON) or _artifact(jar.name.split("_", 1)[1]) not in shipped]


def _artifact(file_name: str) -> str:
    """The artifact of a file name: `jackson-core` for `jackson-core-2.13.5.jar`."""
    return file_name.removesuffix(".jar").rsplit("-", 1)[0]


_AMAZON = "software.amazon."
_EXCLUDED = ("org.apache.hadoop:hadoop-client-runtime", "org.apache.hadoop:hadoop-client-api")
_PYTHON = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}


def main() -> None:
    jars = resolved_jars()
    sys.stdout.write(f"{len(jars)} jars for Spark in {jars_directory()}\n")


if __name__ == "__main__":
    main()
