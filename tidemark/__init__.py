"""Tidemark: each slice of data is computed exactly when its inputs are complete and correct."""

import os
import sys

# Slices, Dagster's partitions and displayed times follow one set of rules: those of the `tzdata` package, in this
# process and its child processes. The system's files change on a different day on each machine.
os.environ["PYTHONTZPATH"] = ""
if "zoneinfo" in sys.modules:
    sys.modules["zoneinfo"].reset_tzpath(to=())
    sys.modules["zoneinfo"].ZoneInfo.clear_cache()
