"""What a lake in an object store and a cluster cost: requests, time at 30 ms a request, workers, commits at once.

A real S3 server (versitygw) stands behind a proxy that counts each request and holds it back for --delay ms.

    requests_per_*         of a small slice, a merge of 40 changes (a step of the capture), a step that names a
                           snapshot, a vacuum of the slice's table, the start of a session; kinds_per_*, bytes_per_*
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.scaleout.asked import count

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

_PARTS: Final[Mapping[str, Callable[[Path, argparse.Namespace], dict[str, Any]]]] = {
    "requests": lambda folder, arguments: count(folder, shown=arguments.show),
}


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", nargs="+", choices=list(_PARTS), default=list(_PARTS), help="these parts alone")
    parser.add_argument("--show", action="store_true", help="each counted request on standard error")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """The figures of the chosen parts."""
    figures: dict[str, Any] = {}
    for name in arguments.only:
        sys.stderr.write(f"scaleout: {name}\n")
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            figures |= _PARTS[name](Path(folder), arguments)
    return figures
