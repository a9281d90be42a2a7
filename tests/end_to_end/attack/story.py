"""The whole of it: servers, honest callers, attackers, and what has to hold in the end."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import psutil

from tests.end_to_end.attack.attackers import Attackers
from tests.end_to_end.attack.honest import HonestCaller, differences, size_of, wait_until_computed
from tests.end_to_end.attack.servers import TOKEN, attacked_project

if TYPE_CHECKING:
    from pathlib import Path

    from tests.end_to_end.attack.servers import AttackedProject

_THREADS: Final = 4
_PAUSE_SECONDS: Final = 0.02
_COMPUTE_SECONDS: Final = 300.0
# Longer than every deadline of a connection.
_QUIET_SECONDS: Final = 45.0
_MEDIAN_SECONDS: Final = 1.0
_SLOWEST_SECONDS: Final = 20.0
_MORE_BYTES: Final = 400 * 1024 * 1024
_MORE_FILES: Final = 60


@dataclass(frozen=True)
class AttackReport:
    """What was sent and measured; `problems` are empty when nothing did harm."""

    seconds: float
    requests: int
    answers: dict[str, dict[int, int]]
    honest_days: int
    measured: dict[str, Any]
    problems: list[str] = field(default_factory=list)


def attack(folder: Path, seconds: float, seed: int) -> AttackReport:
    """Attack for so long."""
    begun = time.monotonic()
    with attacked_project(folder) as target:
        before = {server.name: size_of(server) for server in (target.center, target.dagster)}
        with HonestCaller(target) as honest:
            attackers = _attack(target, seconds, seed)
        wait_until_computed(target, honest.days, _COMPUTE_SECONDS)
        time.sleep(_QUIET_SECONDS)
        after = {server.name: size_of(server) for server in (target.center, target.dagster)}
        problems = [*(wrong for attacker in attackers for wrong in attacker.wrong[:5]), *honest.refused]
        problems += differences(target, honest.days) + _grown(before, after) + _slow(honest)
        problems += _not_ended(target)
    problems += _said(folder)
    counts: Counter[tuple[str, int]] = Counter()
    for attacker in attackers:
        counts.update(attacker.counts)
    answers: dict[str, dict[int, int]] = {}
    for (kind, status), count in sorted(counts.items()):
        answers.setdefault(kind, {})[status] = count
    measured = {
        "health, seconds": {name: [round(median(of), 3), round(max(of), 3)] for name, of in honest.seconds.items()},
        "bytes and files before": before,
        "most": {name: [max(size) for size in zip(*of, strict=True)] for name, of in honest.sizes.items()},
        "after": after,
    }
    passed = round(time.monotonic() - begun, 1)
    return AttackReport(passed, sum(counts.values()), answers, len(honest.days), measured, problems[:50])


def _attack(target: AttackedProject, seconds: float, seed: int) -> list[Attackers]:
    deadline = time.monotonic() + seconds
    attackers = [Attackers(target, random.Random(f"{seed} {number}")) for number in range(_THREADS)]

    def work(attacker: Attackers) -> None:
        while time.monotonic() < deadline:
            attacker.attack()
            time.sleep(_PAUSE_SECONDS)
        attacker.end()

    threads = [threading.Thread(target=work, args=(attacker,), daemon=True) for attacker in attackers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return attackers


def _slow(honest: HonestCaller) -> list[str]:
    return [
        f"{name} answered in {median(of):.2f} s, {max(of):.2f} s at most"
        for name, of in honest.seconds.items()
        if median(of) > _MEDIAN_SECONDS or max(of) > _SLOWEST_SECONDS
    ]


def _grown(before: dict[str, tuple[int, int]], after: dict[str, tuple[int, int]]) -> list[str]:
    return [
        f"{name} has {size[0] / 2**20:.0f} MB and {size[1]} files, before {old[0] / 2**20:.0f} MB and {old[1]} files"
        for name, size in after.items()
        if (old := before[name]) and (size[0] - old[0] > _MORE_BYTES or size[1] - old[1] > _MORE_FILES)
    ]


def _not_ended(target: AttackedProject) -> list[str]:
    problems = []
    for server in (target.center, target.dagster):
        begun = time.monotonic()
        left = [pid for pid in server.stop() if psutil.pid_exists(pid)]
        seconds = time.monotonic() - begun
        if server.process.returncode or left or seconds > _SLOWEST_SECONDS:
            problems.append(f"{server.name} ended with {server.process.returncode} in {seconds:.1f} s and left {left}")
    return problems


def _said(folder: Path) -> list[str]:
    """Tracebacks and secrets in logs; the token in any file."""
    problems = []
    for file in folder.rglob("*"):
        if not file.is_file() or file.suffix in (".parquet", ".crc"):
            continue
        content = file.read_bytes()
        if TOKEN.encode() in content:
            problems.append(f"the token is in {file}")
        if file.suffix == ".log" and (at := content.find(b"Traceback")) >= 0:
            problems.append(f"{file}: {content[max(0, at - 200) : at + 1500].decode(errors='replace')}")
    return problems
