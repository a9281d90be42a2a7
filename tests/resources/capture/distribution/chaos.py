"""A process of the distribution that tests kill: `python -m tests.resources.capture.distribution.chaos <servers>`."""

import sys

from resources.capture.distribution.service import distribute
from resources.capture.source import SourceTable

INSTANCES = ("k0", "k1")
ORDERS = SourceTable("ods_orders", "killed.orders_*", INSTANCES, ("order_id",), None, ())
PARTITIONS = 2

if __name__ == "__main__":
    # Small transactions: kills hit all moments of one.
    distribute(sys.argv[1], [ORDERS], PARTITIONS, lambda _: True, batch=20)
