"""`tidemark`: one command line for everything."""

from __future__ import annotations

from typing import Final

import click

from tidemark.console.lazy_group import CommandEntry, LazyGroup
from tidemark.console.project_option import root_option
from tidemark.system.files import keep_files_private

COMMANDS: Final = (
    CommandEntry("init", "First steps", "Write a new project."),
    CommandEntry("demo", "First steps", "Replay a recorded week of a real database and compute its figures."),
    CommandEntry("up", "First steps", "Serve the Dagster UI on this machine."),
    CommandEntry("up-kafka", "First steps", "The same with real databases, Kafka and Debezium on this machine."),
    CommandEntry("center", "First steps", "Take reports and questions over HTTP, as a service."),
    CommandEntry("workers", "First steps", "Execute runs of all hosts on this machine, or list the hosts."),
    CommandEntry("doctor", "First steps", "Say whether this machine can run the warehouse, and what to do if not."),
    CommandEntry("health", "First steps", "Say whether a service of this machine works, for a probe."),
    CommandEntry("completion", "First steps", "Let the tab key complete commands, options and entities."),
    CommandEntry("check", "The model", "Check every declaration and report everything that is wrong."),
    CommandEntry("graph", "The model", "Show which table needs which."),
    CommandEntry("new", "The model", "Write the files of a new table from a query."),
    CommandEntry("lineage", "The model", "Show which columns a column comes from, and which come from it."),
    CommandEntry("status", "The model", "Say what is late, failed, flawed and waiting, and for what."),
    CommandEntry("probe", "The model", "Look at one slice of an external table, now."),
    CommandEntry("completeness", "The model", "Show how many records of a slice came, and what is missing."),
    CommandEntry("counts", "The model", "Take in counts of records from the source and the lake."),
    CommandEntry("explain", "The model", "Say what one slice waits for, and what waits for it."),
    CommandEntry("impact", "The model", "Say what a slice touches downstream, and what may have made it wrong."),
    CommandEntry("plan", "The model", "Say what a change of code outdates, what it touches and what it costs."),
    CommandEntry("apply", "The model", "Compute again what a change of code outdates."),
    CommandEntry("taint", "The model", "Mark slices as wrong, with all that was built from them."),
    CommandEntry("backfill", "The model", "Plan to compute slices again, and exactly what was built from them."),
    CommandEntry("backfills", "The model", "Show how far backfills are; approve, pause, resume, cancel, decide."),
    CommandEntry("catalog", "The tables", "Say what is there now: slices, rows, size, schema, last reader."),
    CommandEntry("baseline", "The model", "Say when promised slices will be there, and what makes them late."),
    CommandEntry("alerts", "The model", "List what people are told of, and try out a channel."),
    CommandEntry("profile", "The tables", "Say what the rows of a slice look like, and whether that is usual."),
    CommandEntry("quality", "The tables", "Say what the quality rules said of slices."),
    CommandEntry("show", "The tables", "Show rows of exactly one slice."),
    CommandEntry("capture", "The tables", "Show how the sources' changes come in; go on after a gap."),
    CommandEntry("dlq", "The tables", "Show the records that nothing could be made of; read them again."),
    CommandEntry(
        "delta", "The tables", "Repair one partition, tag versions, vacuum; how files lie, and what to cluster by."
    ),
)

_AUTHORING: Final = frozenset({"init", "new"})
"""What these write is the project's source, with the rights that its author gives files."""

_EPILOG: Final = """\b
Begin with:
  tidemark init my_warehouse --sample school    a project to begin with; cd into it
  tidemark doctor    is everything here that it takes?
  tidemark demo      see a school's changes become figures: the first day in a minute, all in eight
  tidemark up        look at them in Dagster, materialize, backfill

\b
Settings stand in the project's tidemark.yaml; environment variables override them, and alone hold passwords:
  TIDEMARK_ROOT           the project's folder, as --root
  TIDEMARK_DATA           where everything is kept (default: data/ in the project)
  TIDEMARK_KAFKA          host:port,...: take changes from Kafka's topics, not from files in data/landing
  TIDEMARK_KAFKA_...      SECURITY_PROTOCOL, USERNAME, PASSWORD, CA, ...: see SECURITY.md
  TIDEMARK_DATABASES      a=mysql://user:password@host:3306/school,...: where heartbeats are written, a minute each
  TIDEMARK_OLAP           duckdb, or postgresql+psycopg2://user:password@host/database
  TIDEMARK_CHANNEL_...    https://..., slack://...: where alerts are told, a variable for each of `channels`
  TIDEMARK_SPARK_MASTER   local[*], or spark://host:7077
  DAGSTER_HOME            Dagster's own storage (default: dagster_home/ in the project)

\b
Exit codes: 0 all is well, 1 it failed or found problems, 2 it was called wrongly, 3 `plan` found outdated slices,
75 something is busy, try again, 130 interrupted.
"""


@click.group(
    cls=LazyGroup,
    entries=COMMANDS,
    epilog=_EPILOG,
    params=[root_option()],
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option("--debug", is_flag=True, envvar="TIDEMARK_DEBUG", help="Show where in the code an error comes from.")
@click.version_option(package_name="tidemark")
def main(*, debug: bool) -> None:
    """A data warehouse that computes each slice of data exactly when its inputs are complete and correct.

    A slice is one table at one business time: ads_gmv_course of 2026-03-29. Database changes are merged into Delta
    tables, a snapshot is tagged once every shard has passed its end, and each slice of the layers above
    (ods, dwd, dws, ads) is computed when the slices that it reads are complete.
    """
    del debug  # read by those who tell errors
    if click.get_current_context().invoked_subcommand not in _AUTHORING:
        keep_files_private()
