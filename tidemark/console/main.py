"""The command line `tidemark`."""

from __future__ import annotations

from typing import Final

import click

from tidemark.console.lazy_group import CommandEntry, LazyGroup
from tidemark.console.project_option import root_option
from tidemark.system.files import keep_files_private

_STEPS, _PROJECT, _ANSWERS = "First steps", "Your project", "State of the data, and reasons"
_DATA, _CAPTURE, _SERVICES = "Wrong and changed data", "Tables and capture", "Services"
COMMANDS: Final = (
    CommandEntry("init", _STEPS, "Write a new project."),
    CommandEntry("demo", _STEPS, "Replay nine recorded days of a real database and compute their figures."),
    CommandEntry("up", _STEPS, "Serve the Dagster UI on this machine."),
    CommandEntry("doctor", _STEPS, "Check Java, disk, ports and memory, and say what to do."),
    CommandEntry("completion", _STEPS, "Let the tab key complete commands, options and entities."),
    CommandEntry("check", _PROJECT, "Find every error in the declarations and their SQL."),
    CommandEntry("new", _PROJECT, "Write the files of a new table from a query."),
    CommandEntry("plan", _PROJECT, "Show which slices a change of code makes outdated, and the cost."),
    CommandEntry("apply", _PROJECT, "Compute the outdated slices again."),
    CommandEntry("graph", _PROJECT, "Show which table needs which."),
    CommandEntry("lineage", _PROJECT, "Show which columns a column comes from, and which come from it."),
    CommandEntry("status", _ANSWERS, "Show which slices are late, failed, flawed or waiting, and why."),
    CommandEntry("explain", _ANSWERS, "Show the inputs and the state of one slice."),
    CommandEntry("show", _ANSWERS, "Print the rows of one slice."),
    CommandEntry("engines", _ANSWERS, "Print how DuckDB, Trino, polars and others read a slice or a tag."),
    CommandEntry("catalog", _ANSWERS, "List tables with slices, rows, sizes, schemas and last readers."),
    CommandEntry("quality", _ANSWERS, "Show the results of the quality rules."),
    CommandEntry("profile", _ANSWERS, "Show the profile of a slice, and whether it is usual."),
    CommandEntry("completeness", _ANSWERS, "Show how many records of a slice arrived, and what is missing."),
    CommandEntry("baseline", _ANSWERS, "Forecast when promised slices will be there, and what delays them."),
    CommandEntry("alerts", _ANSWERS, "List alerts, and test a channel."),
    CommandEntry("probe", _ANSWERS, "Look at one slice of an external table now."),
    CommandEntry("impact", _DATA, "Show the slices downstream of a slice, and suspects if it is wrong."),
    CommandEntry("taint", _DATA, "Mark slices as wrong, with everything that was built from them."),
    CommandEntry("backfill", _DATA, "Compute slices again, with everything that was built from them."),
    CommandEntry("backfills", _DATA, "List backfills; approve, pause, resume, cancel, decide."),
    CommandEntry("capture", _CAPTURE, "Show how far each captured table is; continue after a gap."),
    CommandEntry("dlq", _CAPTURE, "List the records that could not be read, and read them again."),
    CommandEntry("counts", _CAPTURE, "Read counts of records in the source and the lake."),
    CommandEntry("delta", _CAPTURE, "Repair one partition, tag versions, vacuum, cluster."),
    CommandEntry("center", _SERVICES, "Start slices when they are ready; answer over HTTP."),
    CommandEntry("workers", _SERVICES, "Execute runs of all hosts on this machine, or list the hosts."),
    CommandEntry("up-kafka", _SERVICES, "Start real databases, Kafka, Debezium and Dagster on this machine."),
    CommandEntry("replicate", _SERVICES, "Copy completed slices to other lakes, and show how far each is."),
    CommandEntry("take-over", _SERVICES, "Compute the flows of a lost center here, or take them back."),
    CommandEntry("refresh", _SERVICES, "Refresh caches and materialized views by the slice, and show how far each is."),
    CommandEntry("token", _SERVICES, "Create, list and revoke the tokens of callers."),
    CommandEntry("audit-log", _SERVICES, "Show who did what, from where, when and why."),
    CommandEntry("health", _SERVICES, "Say whether a service of this machine works, for a supervisor."),
    CommandEntry("backup", _SERVICES, "Copy the project's state and its tables' positions, while all runs."),
    CommandEntry("upkeep", _SERVICES, "Remove old runs from Dagster's storage now."),
    CommandEntry("restore", _SERVICES, "Restore a backup, here or into another folder."),
)
"""The commands in the order of `--help`, section by section."""

_AUTHORING: Final = frozenset({"init", "new"})
"""These commands write source files, with the author's default file rights."""

_EPILOG: Final = """\b
Begin with:
  tidemark init my_warehouse --sample school   write a project, then cd into it
  tidemark doctor                              check this machine
  tidemark demo                                compute a school's figures: the first day in a minute, all in eight
  tidemark up                                  look at them in Dagster, materialize, backfill

\b
Settings are in the project's tidemark.yaml. Environment variables override them, and only they hold passwords:
  TIDEMARK_ROOT           the project's folder, as --root
  TIDEMARK_DATA           where all data is kept (default: data/ in the project)
  TIDEMARK_KAFKA          host:port,...: read changes from Kafka's topics instead of files in data/landing
  TIDEMARK_KAFKA_...      SECURITY_PROTOCOL, USERNAME, PASSWORD, CA, ...: see SECURITY.md
  TIDEMARK_DATABASES      a=mysql://user:password@host:3306/school,...: where a heartbeat is written each minute
  TIDEMARK_OLAP           duckdb, or postgresql+psycopg2://user:password@host/database
  TIDEMARK_CHANNEL_...    https://..., slack://...: where alerts go, a variable for each of `channels`
  TIDEMARK_TARGET_...     redis://..., https://...: what is refreshed, a variable for each of `refresh_targets`
  TIDEMARK_SPARK_MASTER   local[*], or spark://host:7077
  DAGSTER_HOME            Dagster's own storage (default: dagster_home/ in the project)

\b
Exit codes: 0 all is well, 1 it failed or found problems, 2 wrong usage, 3 `plan` found outdated slices,
75 something is busy: try again, 130 interrupted.
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
    """A data warehouse that computes each slice of data when its inputs are complete and correct.

    A slice is one table at one business time: ads_gmv_course of 2026-03-29. Changes of databases are merged into Delta
    tables. A snapshot is tagged when every shard has passed its end. A slice of the layers above (ods, dwd, dws, ads)
    is computed when its inputs are complete.
    """
    del debug  # read by the error handler
    if click.get_current_context().invoked_subcommand not in _AUTHORING:
        keep_files_private()
