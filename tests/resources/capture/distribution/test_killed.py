"""kill -9 of a process of the distribution, again and again: nothing is lost, doubled or out of order."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from resources.capture.distribution.routes import logical_topic
from tests.resources.capture.distribution.chaos import INSTANCES, ORDERS, PARTITIONS
from tests.resources.capture.distribution.test_distribution import message, received
from tests.resources.capture.kafka.topics import send

if TYPE_CHECKING:
    from tests.components.kafka import Kafka

pytestmark = [pytest.mark.components, pytest.mark.long]

COUNT = 20_000
KILLS = 8


def started(kafka: Kafka) -> subprocess.Popen[bytes]:
    module = "tests.resources.capture.distribution.chaos"
    return subprocess.Popen([sys.executable, "-m", module, kafka.bootstrap_servers])


@pytest.mark.parametrize("seed", [1])
def test_killed_processes_leave_every_message_once_and_in_order(kafka_server: Kafka, seed: int) -> None:
    chance = random.Random(seed)
    for instance in INSTANCES:
        kafka_server.create_topic(f"cdc.{instance}")
        send(kafka_server, f"cdc.{instance}", [message(f"orders_{number % 2}", number) for number in range(COUNT)])
    processes = [started(kafka_server), started(kafka_server)]
    try:
        for _ in range(KILLS):
            # Real time: what is killed is a real process, at a moment that the seed alone does not decide.
            time.sleep(chance.uniform(1, 4))
            victim = chance.randrange(len(processes))
            processes[victim].kill()
            processes[victim].wait()
            processes[victim] = started(kafka_server)
        found = received(kafka_server, logical_topic(ORDERS), PARTITIONS, COUNT * len(INSTANCES))
    finally:
        for one in processes:
            one.kill()
            one.wait()
    assert {key: numbers for (_, key), numbers in found.items()} == {
        f"{instance}.killed.orders_{shard}": list(range(shard, COUNT, 2)) for instance in INSTANCES for shard in (0, 1)
    }
