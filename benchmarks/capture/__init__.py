"""Changes on their way from the source databases' topics.

`distribution`: messages as Debezium writes them wait in the topics of four instances; processes of the distribution
send them on to the topics of the logical tables. `distribution_per_second` is from the first transaction to the last,
all members together, the broker on the same machine; `cpu_us_per_message` is processor time of members, the broker's is
beside it. Every message is counted again where it went. `rss_mb` is what a member holds, the larger one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from benchmarks.capture import distribution

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

_PARTS: Final[dict[str, Callable[[argparse.Namespace], dict[str, Any]]]] = {"distribution": distribution.measure}


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--parts", nargs="+", choices=tuple(_PARTS), default=list(_PARTS))
    parser.add_argument("--messages", type=int, default=2_000_000)
    parser.add_argument("--members", type=int, default=2, help="processes of the distribution")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """The figures of the chosen parts."""
    return {name: value for part in arguments.parts for name, value in _PARTS[part](arguments).items()}
