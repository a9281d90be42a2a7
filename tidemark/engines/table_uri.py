"""URIs of tables and files as engines other than Spark know them."""

from pathlib import Path
from urllib.parse import unquote

from tidemark.system.table_location import TableLocation


def table_uri(location: TableLocation) -> str:
    """The URI of a folder."""
    return f"file://{location}" if isinstance(location, Path) else known_everywhere(str(location))


def file_uri(folder: str, logged: str) -> str:
    """The URI of a data file, by the URI of its table and its path in Delta's log, which is percent-encoded."""
    path = unquote(logged)
    return known_everywhere(path) if "://" in path or path.startswith("file:/") else f"{folder}/{path}"


def known_everywhere(uri: str) -> str:
    """The URI or path with `s3://`, because only Spark knows Hadoop's `s3a://`."""
    return f"s3://{uri.removeprefix('s3a://')}" if uri.startswith("s3a://") else uri
