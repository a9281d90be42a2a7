"""Members and a broker that die while changes flow, and what has to hold in the end.

    python -m tests.capture.distribution.chaos SEED INJECTIONS

A broker, four instances' topics that are written all the while, 24 physical tables, and up to four processes of
`tidemark capture distribute`. All draws come from the seed, so that a number of injections is the same story again, but
for the machine's own timing. In the end every logical topic is read: of each physical table it holds what was put in,
in that order, once.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.capture.distribution.feed import DistributionFeed
from tests.capture.distribution.members import Members, command
from tests.capture.distribution.reading import committed_messages, numbers
from tests.capture.distribution.stream import PARTITIONS, instances, tables
from tests.components.chain.logical import waiting
from tidemark.capture.distribution.routes import logical_topic
from tidemark.console.servers.jars import jars
from tidemark.console.servers.kafka import Kafka, kafka

if TYPE_CHECKING:
    from collections.abc import Callable

DATABASE: Final = "chaos"
KINDS: Final = ("kill", "kill", "kill", "kill", "join", "join", "leave", "freeze", "broker killed", "broker stopped")
# What may pass from one injection to the next: less than a rebalance takes, or more.
_BETWEEN_SECONDS: Final = (0.2, 6.0)
# Longer than a session, shorter than the wait for its end.
_FROZEN_SECONDS: Final = 14.0
_END_SECONDS: Final = 180.0


@dataclass(frozen=True)
class ChaosReport:
    """What was done, and how much went through it."""

    seed: int
    injections: dict[str, int]
    messages: int
    tables: int
    sessions_lost: int
    seconds: float
    problems: list[str] = field(default_factory=list)


@dataclass
class DistributionWorld:
    """Servers, processes, and what comes in."""

    broker: Kafka
    members: Members
    feed: DistributionFeed
    chance: random.Random

    def inject(self, kind: str) -> None:
        actions: dict[str, Callable[[], None]] = {
            "kill": self.members.kill,
            "join": self.members.join,
            "leave": self.members.leave,
            "freeze": lambda: self.members.freeze(_FROZEN_SECONDS),
            "broker killed": self._kill_broker,
            "broker stopped": self._stop_broker,
        }
        actions[kind]()
        time.sleep(self.chance.uniform(*_BETWEEN_SECONDS))

    def _kill_broker(self) -> None:
        self.broker.server.kill()
        self.broker.start_again()

    def _stop_broker(self) -> None:
        self.broker.server.stop()
        # Sometimes longer than a step waits for an answer.
        time.sleep(self.chance.choice((0.0, 5.0, 18.0)))
        self.broker.start_again()


def play(seed: int, injections: int, folder: Path, say: Callable[[str], None] = lambda _: None) -> ChaosReport:
    """The whole story; problems are empty when everything held."""
    begun, chance = time.monotonic(), random.Random(seed)
    kinds = [KINDS[number % len(KINDS)] for number in range(injections)]
    chance.shuffle(kinds)
    with ExitStack() as stack:
        broker = stack.enter_context(kafka(jars(), folder / "kafka"))
        for instance in instances(DATABASE):
            broker.create_topic(f"cdc.{instance}")
        feed = stack.enter_context(DistributionFeed(broker.bootstrap_servers, DATABASE, seed))
        members = stack.enter_context(Members(broker.bootstrap_servers, folder / "members", command(DATABASE), chance))
        world = DistributionWorld(broker, members, feed, chance)
        for number, kind in enumerate(kinds):
            say(
                f"{time.monotonic() - begun:6.1f} s  {number + 1} of {injections}: {kind}, {feed.count():,} messages in"
            )
            world.inject(kind)
        feed.stop()
        say(f"{time.monotonic() - begun:6.1f} s  {feed.count():,} messages are in")
        problems = _rest(world)
        lost = members.stop()
        problems += _differences(broker, feed)
    counts = Counter(kinds), feed.count(), len(feed.expected())
    return ChaosReport(seed, *counts, lost, round(time.monotonic() - begun, 1), problems)


def _rest(world: DistributionWorld) -> list[str]:
    """Wait until everything is through."""
    deadline = time.monotonic() + _END_SECONDS
    topics = [f"cdc.{instance}" for instance in instances(DATABASE)]
    while left := waiting(world.broker.bootstrap_servers, topics):
        if time.monotonic() > deadline:
            return [f"{left} messages still wait after {_END_SECONDS:.0f} s"]
        world.members.at_least(1)
        time.sleep(0.5)
    return []


def _differences(broker: Kafka, feed: DistributionFeed) -> list[str]:
    problems: list[str] = []
    expected, beats = feed.expected(), feed.beats()
    for topic in map(logical_topic, tables(DATABASE)):
        for (partition, key), counts in numbers(
            committed_messages(broker.bootstrap_servers, topic, PARTITIONS)
        ).items():
            wanted = beats.get(key) if key in beats else expected.pop(key, [])
            if counts != wanted:
                problems.append(f"{topic} {partition} {key}: {_difference(counts, wanted or [])}")
    return problems + [f"nothing of {key}" for key in expected]


def _difference(counts: list[int], wanted: list[int]) -> str:
    at = next((at for at, (count, other) in enumerate(zip(counts, wanted, strict=False)) if count != other), None)
    place = "the first ones equal" if at is None else f"first at {at}: {counts[at]} instead of {wanted[at]}"
    twice = sum(count > 1 for count in Counter(counts).values())
    return f"{len(counts)} instead of {len(wanted)}, {place}, {len(set(wanted) - set(counts))} lost, {twice} doubled"


def main(seed: int, injections: int) -> int:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        told = play(seed, injections, Path(folder), lambda line: print(line, flush=True))
    print(json.dumps(told.__dict__))
    return 1 if told.problems else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
