"""The jars of Canal, which only tests start; fetched as the others are."""

from __future__ import annotations

from pathlib import Path

from tidemark.console.servers.jars import COMPONENTS, fetch

_POM = Path(__file__).parent / "maven" / "canal" / "pom.xml"


def canal_classpath(root: Path = COMPONENTS) -> str:
    """Those of Canal's server, fetched when they are not there yet; ComponentMissingError without Maven or Java."""
    fetch(root, "Canal", _POM, ("canal",))
    return f"{root / 'canal'}/*"
