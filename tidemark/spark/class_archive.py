"""An archive of the JVM's loaded classes, which sessions map instead of loading each class.

From a JVM's start to its first merge, 6 of 17 CPU seconds are the loading of 25,000 classes. Java's class data sharing
(JEP 350) keeps them in a file whose pages all sessions of a machine share. Java refuses an archive of another Java or
of other jars, and loads classes as before. `tidemark.spark.write_class_archive` writes the archive during set-up.
"""

import hashlib
import shutil
from pathlib import Path

import pyspark

from tidemark.spark.jars import jars_directory
from tidemark.spark.java import java_command

# Java reports on standard output each class that it cannot keep, and an archive that it does not use.
QUIET = ("-Xlog:disable", "-Xlog:all=error:stderr")


def class_archive(base: Path | None = None) -> Path:
    """The archive for this machine's Java and these jars. Its name changes with them, so a stale one is never used."""
    jars = jars_directory(base)
    digest = hashlib.sha256(
        "\n".join([str(jars.resolve()), pyspark.__path__[0], *_java_identity()]).encode()
    ).hexdigest()[:12]
    return jars.parent / f"classes-{digest}.jsa"


def sharing_options(archive: Path) -> tuple[str, ...]:
    """JVM options to use the archive; empty if there is no archive, or if its path has a space."""
    if " " in str(archive) or not archive.is_file():
        return ()
    return (f"-XX:SharedArchiveFile={archive}", *QUIET)


def _java_identity() -> tuple[str, ...]:
    command = shutil.which(java_command())
    if command is None:
        return ()
    program = Path(command).resolve()
    classes = program.parent.parent / "lib" / "modules"
    stamp = classes.stat().st_mtime_ns if classes.is_file() else 0
    return (str(program), str(stamp))
