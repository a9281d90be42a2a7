"""Runs on warm workers: long-lived processes with definitions loaded and a Spark session started.

    launcher   in every Dagster process: hands a run to the pool, or to a new process where there is no pool
    keeper     in the program that owns the pool (`tidemark up`, `tidemark center`): starts the host, again when it dies
    host       one process a DAGSTER_HOME: the socket, the journal, the workers
    pool       which worker takes which run, when one is replaced; knows no processes
    worker     executes one run at a time

The host ends with its owner, the workers with their host: each holds the reading end of a pipe whose other end only
the one above it has. A worker also holds its host's lock, so that no second pool begins before its run has ended.
"""
