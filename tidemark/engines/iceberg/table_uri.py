"""URIs of files as Iceberg's readers know them."""

from pathlib import Path
from urllib.parse import unquote

from tidemark.system.table_location import TableLocation


def table_uri(location: TableLocation) -> str:
    """The URI of a folder. Engines other than Spark do not know Hadoop's `s3a://`."""
    return f"file://{location}" if isinstance(location, Path) else _known_everywhere(str(location))


def file_uri(folder: str, logged: str) -> str:
    """The URI of a data file, by the URI of its table and its path in Delta's log, which is percent-encoded."""
    path = unquote(logged)
    return _known_everywhere(path) if "://" in path or path.startswith("file:/") else f"{folder}/{path}"


def _known_everywhere(uri: str) -> str:
    return f"s3://{uri.removeprefix('s3a://')}" if uri.startswith("s3a://") else uri
