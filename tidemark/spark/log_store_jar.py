"""Delta's log stores, compiled from Java sources, so that no binary is shipped.

The compiler is Janino, which Spark ships and uses for queries. A Java runtime without development tools has no
compiler.
"""

import zipfile
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pyspark
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

from tidemark.spark.java import java_command

OWN_JAR: Final = "tidemark-log-store.jar"
_JAVA_VERSION: Final = 8
"""The format of class files, which every Java for Spark can read."""


def sources(folder: Path, *classes: str) -> tuple[Path, ...]:
    return tuple(folder / f"{name}.java" for name in classes)


def write_log_store_jar(target: Path, source_files: Sequence[Path], jars: Sequence[Path]) -> None:
    """Compile the sources against Spark's jars and `jars`, which include Delta's. Raises Py4JError."""
    shipped = sorted((Path(pyspark.__file__).parent / "jars").glob("*.jar"))
    with TemporaryDirectory() as classes, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as jar:
        _compile(source_files, Path(classes), [*shipped, *jars])
        for file in sorted(Path(classes).rglob("*.class")):
            # Without a time, so that the same source gives the same file.
            entry = zipfile.ZipInfo(file.relative_to(classes).as_posix())
            jar.writestr(entry, file.read_bytes())


def _compile(source_files: Sequence[Path], classes: Path, class_path: Sequence[Path]) -> None:
    port, token = launch_gateway(
        classpath=":".join(map(str, class_path)), die_on_exit=True, java_path=java_command(), enable_auth=True
    )
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=token, auto_convert=True))
    try:
        file = gateway.jvm.java.io.File
        compiler = gateway.jvm.org.codehaus.janino.Compiler()
        compiler.setTargetVersion(_JAVA_VERSION)
        compiler.setDestinationDirectory(file(str(classes)), False)  # noqa: FBT003 - Java's flag
        entries = gateway.new_array(file, len(class_path))
        for at, entry in enumerate(class_path):
            entries[at] = file(str(entry))
        compiler.setClassPath(entries)
        files = gateway.new_array(file, len(source_files))
        for at, source in enumerate(source_files):
            files[at] = file(str(source))
        compiler.compile(files)
    finally:
        gateway.shutdown()
