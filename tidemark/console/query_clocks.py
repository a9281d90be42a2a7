"""Compares queries in the entity's time zone and in UTC, for slices of older versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from tidemark.warehouse.warehouse import Warehouse


def on_both_clocks(warehouse: Warehouse) -> Callable[[str], bool]:
    """By entity; Spark starts at the first question. Without Spark, every entity may differ."""
    from tidemark.compute.query_analysis import QueryAnalysis  # noqa: PLC0415 - keeps --help fast
    from tidemark.spark.session import spark_session  # noqa: PLC0415
    from tidemark.system.errors import JavaMissingError, SparkStartError  # noqa: PLC0415

    def start() -> SparkSession:
        click.echo("starting Spark to compare queries on two clocks ...", err=True)
        return spark_session(warehouse.settings)

    analysis = QueryAnalysis(warehouse, start)

    def goes_by_clock(entity: str) -> bool:
        try:
            return analysis.goes_by_clock(entity)
        except (JavaMissingError, SparkStartError):
            return True

    return goes_by_clock
