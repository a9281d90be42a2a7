"""The jars for S3: Hadoop's file system, the parts of Amazon's SDK that it needs, and our log store.

`python -m tidemark.spark.object_store.s3_jars` fetches them in advance, else the first session does. A lake on disk
does not need them. The whole SDK is a jar of 600 MB; the parts that the file system loads have 13 MB.
"""

import hashlib
import sys
from pathlib import Path
from typing import Final

from tidemark.spark.jars import fetch_into, jars_directory, resolved_jars
from tidemark.spark.log_store_jar import OWN_JAR, sources, write_log_store_jar

CHECKSUMS: Final = Path(__file__).with_name("s3_jars.sha256")
SOURCES: Final = sources(Path(__file__).parent, "ConditionalPut", "ConditionalPutFileManager", "ConditionalPutLogStore")
_HADOOP: Final = "3.5.0"
_SDK: Final = "2.35.4"
_SDK_PARTS: Final = (
    *("annotations", "apache-client", "arns", "auth", "aws-core", "aws-query-protocol", "aws-xml-protocol"),
    *("checksums", "checksums-spi", "crt-core", "endpoints-spi", "http-auth", "http-auth-aws"),
    *("http-auth-aws-eventstream", "http-auth-spi", "http-client-spi", "identity-spi", "json-utils", "metrics-spi"),
    *("netty-nio-client", "profiles", "protocol-core", "regions", "retries", "retries-spi", "s3"),
    *("s3-transfer-manager", "sdk-core", "sts", "third-party-jackson-core", "utils", "utils-lite"),
)


def s3_coordinates() -> tuple[str, ...]:
    """Maven coordinates that fit the Hadoop client that Spark ships."""
    return (
        f"org.apache.hadoop:hadoop-aws:{_HADOOP}",
        "software.amazon.s3.analyticsaccelerator:analyticsaccelerator-s3:1.3.1",
        *(f"software.amazon.awssdk:{part}:{_SDK}" for part in _SDK_PARTS),
        "software.amazon.eventstream:eventstream:1.0.1",
        "org.reactivestreams:reactive-streams:1.0.4",
    )


def s3_jars_directory(base: Path | None = None) -> Path:
    """The folder of these jars. Its name changes with them and with our sources."""
    delta = jars_directory(base)
    named = "\n".join((*s3_coordinates(), delta.name)).encode()
    told = b"\n".join([named, *(source.read_bytes() for source in SOURCES)])
    return delta.with_name(f"s3-jars-{hashlib.sha256(told).hexdigest()[:12]}")


def s3_jars(base: Path | None = None) -> tuple[Path, ...]:
    """These jars on this machine, fetched first if they are missing. Raises JarsError, ChecksumError."""
    target = s3_jars_directory(base)
    if not target.is_dir():
        excluded = ("software.amazon.awssdk:bundle",)
        fetch_into(target, [(s3_coordinates(), excluded)], CHECKSUMS, lambda folder: _add_log_store(folder, base))
    return tuple(sorted(target.glob("*.jar")))


def _add_log_store(folder: Path, base: Path | None) -> None:
    write_log_store_jar(folder / OWN_JAR, SOURCES, [*resolved_jars(base), *folder.glob("*.jar")])


if __name__ == "__main__":
    sys.stdout.write(f"{len(s3_jars())} jars for S3 in {s3_jars_directory()}\n")
