"""What a lake in an object store and a cluster cost: requests, time at 30 ms a request, workers, commits at once.

A real S3 server (versitygw; with --store an emulator of another one) stands behind a proxy that counts each request and
holds it back for --delay ms. Ratios are medians of turns in which both ways follow each other in one warm session.

    requests_per_*         of a small slice, a merge of 40 changes (a step of the capture), a step that names a
                           snapshot, a vacuum of the slice's table, the start of a session; kinds_per_*, bytes_per_*,
                           and waits_per_*: how many requests follow each other, as many are made at once
    slice_ratio_30ms       a small slice in the store with 30 ms a request / on disk; merge_ratio_30ms: a merge
    slice_ratio_0ms        the same without delay: what the store and the proxy themselves cost
    local_ratio_before     a slice and a merge on disk, now / at the commit --before; local_cpu_ratio_before: processors
    workers1_s, workers2_s slices that need processors alone, on a standalone cluster of one and of two workers
    workers_simulated_*    by slots, of the processor time of each of their tasks, stage after stage
    lost_commits           of --commits by Spark and as many by delta-rs to one table at once; doubled_commits
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.scaleout.asked import STORES, count
from benchmarks.scaleout.before import local_ratios
from benchmarks.scaleout.commits import lost_and_doubled
from benchmarks.scaleout.turns import slow_store_ratios
from benchmarks.scaleout.workers import one_and_two

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

_PARTS: Final[Mapping[str, Callable[[Path, argparse.Namespace], dict[str, Any]]]] = {
    "requests": lambda folder, arguments: count(folder, arguments.store, shown=arguments.show),
    "ratios": lambda folder, arguments: slow_store_ratios(
        folder, arguments.store, rounds=arguments.rounds, delay_ms=arguments.delay
    ),
    "local": lambda folder, arguments: local_ratios(folder, arguments.before, arguments.rounds),
    "workers": lambda folder, arguments: one_and_two(folder, arguments.slices),
    "commits": lambda folder, arguments: lost_and_doubled(folder, arguments.commits, arguments.store),
}


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", nargs="+", choices=list(_PARTS), default=list(_PARTS), help="these parts alone")
    parser.add_argument("--store", choices=STORES, default="s3", help="the kind of store, in its emulator but for s3")
    parser.add_argument("--rounds", type=int, default=9, help="turns that count, behind four that warm up")
    parser.add_argument("--delay", type=float, default=30.0, help="ms by which the proxy holds a request back")
    parser.add_argument("--before", default="5d262227", help="the commit that local disk is compared with")
    parser.add_argument("--slices", type=int, default=8, help="slices that the workers compute")
    parser.add_argument("--commits", type=int, default=500, help="commits of Spark, and of delta-rs")
    parser.add_argument("--show", action="store_true", help="each counted request on standard error")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """The figures of the chosen parts."""
    figures: dict[str, Any] = {}
    for name in arguments.only:
        sys.stderr.write(f"scaleout: {name}\n")
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            figures |= _PARTS[name](Path(folder), arguments)
    return figures
