"""Tidemark: each slice of data is computed exactly when its inputs are complete and correct."""

import os
import sys

# Slices, Dagster's partitions and shown times go by one set of rules: the `tzdata` package's, in this process and in
# those that it starts. The system's files change on another day on each machine.
os.environ["PYTHONTZPATH"] = ""
if "zoneinfo" in sys.modules:
    sys.modules["zoneinfo"].reset_tzpath(to=())
    sys.modules["zoneinfo"].ZoneInfo.clear_cache()
