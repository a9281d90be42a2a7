"""Jars that are not those of the list are refused, whichever way they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tidemark.console.servers import jars as servers_jars
from tidemark.spark.jars import CHECKSUMS, DISK_JAR, resolved_jars
from tidemark.system.checksums import ChecksumError, checksums, lines, require_checksums

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "jars"
    for name in ("kafka/a.jar", "plugins/debezium/b.jar", "other/c.jar"):
        file = folder / name
        file.parent.mkdir(parents=True)
        file.write_bytes(name.encode())
    return folder


@pytest.fixture
def listing(tmp_path: Path, folder: Path) -> Path:
    listing = tmp_path / "jars.sha256"
    listing.write_text(lines(checksums(folder, ["kafka", "plugins"])))
    return listing


def test_the_same_jars_pass_and_other_folders_are_not_looked_at(folder: Path, listing: Path) -> None:
    require_checksums(folder, listing, ["kafka", "plugins"])


def test_a_changed_jar_is_refused_by_name(folder: Path, listing: Path) -> None:
    (folder / "plugins/debezium/b.jar").write_bytes(b"something else")
    with pytest.raises(ChecksumError) as refused:
        require_checksums(folder, listing, ["kafka", "plugins"])
    assert refused.value.found is not None
    assert refused.value.found.startswith("plugins/debezium/b.jar has ")
    assert refused.value.where == str(folder)


def test_a_missing_and_an_unknown_jar_are_refused(folder: Path, listing: Path) -> None:
    (folder / "kafka/a.jar").rename(folder / "kafka/z.jar")
    with pytest.raises(ChecksumError) as refused:
        require_checksums(folder, listing, ["kafka", "plugins"])
    assert refused.value.found == "kafka/z.jar is not in the list; kafka/a.jar is missing"


def test_many_differences_are_counted(folder: Path, listing: Path) -> None:
    for number in range(8):
        (folder / f"kafka/extra-{number}.jar").write_bytes(b"")
    with pytest.raises(ChecksumError, match="and 3 more"):
        require_checksums(folder, listing, ["kafka", "plugins"])


def test_sparks_jars_on_this_machine_are_those_of_the_list(tmp_path: Path) -> None:
    """All but the one that is compiled from our sources."""
    for jar in resolved_jars():
        if jar.name != DISK_JAR:
            (tmp_path / jar.name).symlink_to(jar)
    require_checksums(tmp_path, CHECKSUMS)


def test_servers_jars_are_fetched_again_when_their_list_changes(tmp_path: Path) -> None:
    pom = tmp_path / "pom.xml"
    pom.write_text("<project/>")
    pom.with_name("jars.sha256").write_text("")
    before = servers_jars.fingerprint(pom)
    pom.with_name("jars.sha256").write_text("0  kafka/a.jar\n")
    assert servers_jars.fingerprint(pom) != before
