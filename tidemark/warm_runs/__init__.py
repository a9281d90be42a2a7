"""Runs on warm workers: long-lived processes with definitions loaded and a Spark session started.

    launcher         in every Dagster process: hands a run to the host, or to a new process where there is no host
    host_supervisor  in the program that owns the host (`tidemark up`, `tidemark center`): starts it, again when it dies
    worker_host      one process a DAGSTER_HOME: the socket, the journal, the workers
    warm_workers     which worker takes which run, when one is replaced; knows no processes
    worker_main      executes one run at a time

The host ends with its owner, the workers with their host: each holds the reading end of a pipe whose other end only
the one above it has. A worker also holds its host's lock, so that no second host begins before its run has ended.
"""
