"""The jars of HDFS's servers, which only tests start: 70 MB by `python -m tests.components.hdfs_jars`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from tidemark.console.servers.jars import COMPONENTS, fetch, is_current

_POM: Final = Path(__file__).parent / "maven" / "hdfs" / "pom.xml"


def hdfs_jars(root: Path = COMPONENTS) -> Path:
    """Their folder, fetched when they are not there yet; ComponentMissingError without Maven or Java."""
    fetch(root, "HDFS", _POM, ("hdfs",))
    return root / "hdfs"


def are_there(root: Path = COMPONENTS) -> bool:
    """Whether they need not be fetched."""
    return is_current(root / "hdfs.sha256", _POM)


if __name__ == "__main__":
    sys.stdout.write(f"{len(list(hdfs_jars().glob('*.jar')))} jars for HDFS in {hdfs_jars()}\n")
