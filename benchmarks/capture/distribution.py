"""How many messages the distribution sends on in a second."""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import psutil

from benchmarks.capture.messages import INSTANCES, ORDERS, fill, updates
from benchmarks.timing import cpu_of
from tests.capture.distribution.reading import count_committed
from tidemark.capture.distribution.routes import logical_topic
from tidemark.capture.distribution.service import Distribution, Done, distribute
from tidemark.console.servers.jars import jars
from tidemark.console.servers.kafka import kafka
from tidemark.state_store.database import Database

if TYPE_CHECKING:
    import argparse
    from multiprocessing.connection import Connection

_PARTITIONS: Final = 4
_SECONDS: Final = 600.0
_MEGABYTE: Final = 1_000_000


@dataclass(frozen=True)
class _Point:
    """A member at one moment: seconds of the machine's clock, messages so far, processor seconds, bytes held."""

    at: float
    messages: int
    cpu: float
    rss: int

    @classmethod
    def of(cls, messages: int) -> _Point:
        process = psutil.Process()
        return cls(time.monotonic(), messages, cpu_of(process), process.memory_info().rss)


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """All messages through so many members; raises RuntimeError when one is missing or there twice."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, ExitStack() as stack:
        broker = stack.enter_context(kafka(jars(), Path(folder) / "kafka"))
        for instance in INSTANCES:
            broker.create_topic(f"cdc.{instance}")
        total = arguments.messages // len(INSTANCES) * len(INSTANCES)
        per_instance = total // len(INSTANCES)
        _, size = fill(broker.bootstrap_servers, INSTANCES, lambda instance: updates(instance, per_instance))
        what = Distribution(broker.bootstrap_servers, [ORDERS], Database.at(Path(folder) / "state.db"), _PARTITIONS)
        java = psutil.Process(broker.server.pid)
        before = cpu_of(java)
        tracks = _run(what, arguments.members, total)
        broker_cpu = cpu_of(java) - before
        there = count_committed(broker.bootstrap_servers, logical_topic(ORDERS), _PARTITIONS)
        if there != total:
            raise RuntimeError(f"{there} messages came out, {total} went in")
    return _figures(tracks, broker_cpu, total) | {"message_bytes": round(size), "messages": total}


def _run(what: Distribution, members: int, total: int) -> list[list[_Point]]:
    """What each member noted, after each transaction."""
    spawn = multiprocessing.get_context("spawn")
    sent = spawn.Value("q", 0)
    pipes = [spawn.Pipe(duplex=False) for _ in range(members)]
    processes = [spawn.Process(target=_member, args=(what, sent, total, theirs), daemon=True) for _, theirs in pipes]
    for process in processes:
        process.start()
    tracks = [pipe.recv() if pipe.poll(_SECONDS) else [] for pipe, _ in pipes]
    for process in processes:
        process.join(30)
    return tracks


def _member(what: Distribution, sent: Any, total: int, pipe: Connection) -> None:
    track: list[_Point] = []

    def goes_on(done: Done) -> bool:
        if done.messages > (track[-1].messages if track else 0):
            with sent.get_lock():
                sent.value += done.messages - (track[-1].messages if track else 0)
            track.append(_Point.of(done.messages))
        return bool(sent.value < total)

    distribute(what, goes_on)
    pipe.send(track)


def _figures(tracks: list[list[_Point]], broker_cpu: float, total: int) -> dict[str, Any]:
    busy = [track for track in tracks if len(track) > 1]
    if not busy:
        raise RuntimeError("no member sent two transactions: measure with more messages")
    seconds = max(track[-1].at for track in busy) - min(track[0].at for track in busy)
    messages = total - min(busy, key=lambda track: track[0].at)[0].messages
    return {
        "distribution_per_second": round(messages / seconds),
        "seconds": round(seconds, 2),
        "members": len(busy),
        "cpu_us_per_message": round(sum(track[-1].cpu - track[0].cpu for track in busy) / total * 1e6, 1),
        "broker_cpu_us_per_message": round(broker_cpu / total * 1e6, 1),
        "distribution_rss_mb_start": round(max(track[len(track) // 10].rss for track in busy) / _MEGABYTE),
        "distribution_rss_mb_end": round(max(track[-1].rss for track in busy) / _MEGABYTE),
    }
