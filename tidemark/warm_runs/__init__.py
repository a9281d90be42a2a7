"""Runs on warm workers: long-lived processes with loaded definitions and a started Spark session.

    launcher         in every Dagster process: sends a run to the host, or to a new process if there is no host
    host_supervisor  in the program that owns the host (`tidemark up`, `tidemark center`): starts it, and restarts it
    worker_host      one process for each DAGSTER_HOME: the socket, the journal, the workers
    warm_workers     assigns runs to workers and replaces workers; does not know processes
    worker_main      executes one run at a time

The host ends with its owner, and the workers end with their host: each holds the reading end of a pipe whose other end
only its owner has. A worker also holds its host's lock, so a second host starts only after the worker's run has ended.
"""
