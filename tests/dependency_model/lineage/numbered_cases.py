"""What inference has to do, case by case, and the test that would fail without it.

A case is `path::test` in `tests/`, or `corpus::file-name`, a query in `corpus/file.sql`; an idiom's query holds its words.
"""

# ruff: noqa: E501 - a line a case

from __future__ import annotations

from typing import Final

_STATED = "dependency_model/lineage/test_declared_and_inferred.py::"
_SPARK = "dependency_model/lineage/test_functions_against_spark.py::"
_VIEWS = "warehouse/test_views.py::"
_NEW = "console/commands/test_new.py::"
_PARSE = "dependency_model/offset/test_parse.py::"
_SELECT = "dependency_model/lineage/test_select_text.py::"
_COLUMNS = "dependency_model/lineage/test_partition_columns.py::"

IDIOMS: Final[dict[str, str]] = {
    "to_timestamp(concat(dt, ' ', hour))": "functions-an_instant_of_a_text_that_is_no_instant_in_autumn",
    "datediff(": "hive-last_seven_days_by_datediff_open",
    "timestampadd(": "functions-a_day_added_to_an_instant",
    "2 * INTERVAL": "functions-an_interval_twice",
    "- cast(dt AS TIMESTAMP)": "functions-what_lies_between_instants",
    "int(dt =": "functions-a_condition_as_a_number",
    "to_timestamp(date_format(:biz_date, 'yyyyMMdd'), 'yyyyMMdd')": "functions-an_instant_of_a_text_by_its_format",
    "lpad(": "oddities-hour_from_a_padded_number",
    "regexp_replace(": "functions-a_date_without_its_dashes",
    "from_unixtime(unix_timestamp(": "spark-unix_seconds_of_yesterday",
    "86400": "functions-a_day_of_seconds_is_no_day_where_clocks_change",
    "explode(sequence(": "sequences-spine_of_seven_days",
    "make_timestamp(": "functions-an_instant_of_its_parts",
    "(dt, hour) IN": "functions-pairs",
    "IS DISTINCT FROM": "functions-not_distinct",
    "decode(": "functions-the_day_before_but_friday_on_mondays",
    "split(": "functions-the_first_part_of_a_text",
    "timestampdiff(": "functions-whole_days_that_passed",
    "RLIKE": "functions-the_hour_that_autumn_repeats_fits_no_pattern",
    "'Q')": "functions-a_unit_that_spark_does_not_have",
    "date_trunc('M'": "functions-a_unit_of_instants_that_spark_does_not_have",
    "'TUES'": "functions-a_weekday_that_spark_does_not_have",
    "dateadd(dd": "functions-a_step_that_spark_does_not_have",
    "last_day(add_months(:biz_date, -1))": "calendar-end_of_the_month_before",
}
"""Words of a query, and the query that holds them."""

CASES: Final[dict[int, dict[str, str]]] = {
    1: {
        "an offset that lacks a slice is refused, with the date and the slice": f"{_STATED}test_a_stated_offset_that_lacks_a_slice_is_refused",
        "a wider one says why": f"{_STATED}test_a_stated_offset_that_is_wider_says_why",
        "a read without a bound is compared, too": f"{_STATED}test_a_read_without_a_bound_names_all_that_is_over",
        "before its start a table lacks nothing": f"{_STATED}test_nothing_is_lacking_before_a_later_start_of_what_is_read",
        "counted hours are no days where clocks change": "corpus::calendar-yesterdays_hours",
    },
    2: {
        "each function, unit, format and cast against Spark": f"{_SPARK}test_what_is_known_of_an_expression_is_what_spark_makes_of_it",
        "10,000 expressions": f"{_SPARK}test_what_is_known_of_many_expressions_is_what_spark_makes_of_them",
        "sequences against Spark": f"{_SPARK}test_the_values_of_a_sequence_are_sparks",
    },
    3: {
        "what is not known over dates leaves the answer open": "corpus::functions-a_function_that_is_not_known_leaves_no_day_out",
        "nothing that is read is left out": "dependency_model/lineage/test_against_duckdb.py::test_nothing_that_is_read_is_left_out",
        **{f"idiom {words}": f"corpus::{case}" for words, case in IDIOMS.items()},
    },
    4: {
        "a column that comes from itself ends": "console/commands/test_lineage.py::test_a_column_that_comes_from_itself_ends",
        "a cycle is followed once": "warehouse/test_column_tree.py::test_the_tree_has_all_reachable_columns_once",
        "depth and limit": "warehouse/test_column_tree.py::test_levels_below_the_limit_are_marked",
    },
    5: {
        "yesterday's hours": "corpus::calendar-yesterdays_hours",
        "the last seven days of hours": "corpus::calendar-seven_days_of_hours",
        "the previous month's days": "corpus::calendar-month_before",
        "first of the month": "corpus::calendar-first_of_the_month",
        "same date last year": "corpus::calendar-same_date_last_year",
        "everything since the start": "corpus::calendar-everything_so_far",
        "the previous whole week": "corpus::calendar-whole_week_before",
        "last workday": "dependency_model/lineage/test_corpus.py::test_the_workday_before_is_read_by_the_entitys_calendar",
        "a text hour that autumn repeats": "corpus::oddities-text_hour_that_autumn_repeats",
        "a day from 04:00 to 04:00": "corpus::hive-business_day_from_four_to_four_where_clocks_change",
        "a numeric hour that cannot be cast": "dependency_model/lineage/test_failing_casts.py::test_a_cast_that_will_fail_is_an_error",
        "parsed": f"{_PARSE}test_forms",
        "printed": f"{_PARSE}test_what_is_printed_reads_back",
        "exact where clocks change": "dependency_model/offset/test_mapping_reference.py::test_fast_equals_slow",
        "both directions": "dependency_model/offset/test_inverse.py::test_inverse_agrees_in_hard_years",
        "Dagster's mapping where it is exact": "dagster/test_mapping_exactness.py::test_expected_exact_mappings_are_exact",
        "Dagster's mapping of random offsets": "dagster/test_random_mappings.py::test_dagster_maps_many_random_offsets_to_our_slices",
    },
    6: {
        "two daily tables over a year": "corpus::wide-a_year_of_two_daily_tables",
        "two hourly tables over a week": "corpus::wide-a_week_of_two_hourly_tables",
        "a month of hours": "corpus::wide-a_month_of_hours",
        "stretches are what sets of slices are": "dependency_model/lineage/test_stretches.py::test_union_and_intersection_are_those_of_sets",
    },
    7: {
        "from the Delta schema": "warehouse/test_known_columns.py::test_a_table_that_is_there_tells_its_columns",
        "from YAML": "warehouse/test_known_columns.py::test_columns_listed_in_yaml_apply_to_queries",
        "TPC-H: none invented": "dependency_model/lineage/test_tpch_columns.py::test_no_column_is_invented",
    },
    8: {
        "other partition columns": f"{_COLUMNS}test_the_offset_is_the_same",
        "hours in other columns": f"{_COLUMNS}test_hours_of_a_day",
        "columns in storage": f"{_NEW}test_declared_partition_columns_are_written",
        "views": f"{_VIEWS}test_offsets_and_columns_go_through_views",
        "variables and functions run as they are understood": f"{_VIEWS}test_spark_agrees_with_the_analysis",
        "no code": "dependency_model/lineage/declared_sql/test_expansion.py::test_an_expression_reads_and_runs_nothing_else",
        "functions whose effect on dates is declared": "dependency_model/lineage/declared_sql/test_expansion.py::test_what_sparks_own_functions_do_is_for_the_analysis_alone",
        "INSERT OVERWRITE": f"{_SELECT}test_the_select_alone_is_left_at_its_place",
        "what of it is ignored is said": f"{_SELECT}test_notices_say_what_is_ignored_and_where",
        "names with a schema": "warehouse/test_qualified_names.py::test_the_entity_is_read_and_its_name_alone_runs",
        "foreign placeholders": "dependency_model/lineage/foreign_sql/test_placeholder.py::test_a_placeholder_is_told_by_its_system_and_value",
        "new --from": f"{_NEW}test_a_query_of_another_system_is_rewritten_and_each_change_is_printed",
        "300 queries, 95 of 100 decided": "dependency_model/lineage/test_corpus.py::test_what_people_write_is_decided",
        "Python functions": "dependency_model/lineage/spark_plan/test_function_reads.py::test_a_filter_is_evaluated_at_its_own_business_time",
    },
    9: {
        "no offset names the slices: a date and the nearest": "corpus::oddities-months_there_and_back",
        "a function by the name in the SQL": "corpus::functions-a_weekday_that_spark_does_not_have",
        "not understood is not no condition": "corpus::functions-an_instant_of_a_text_that_is_no_instant_in_autumn",
        "a hint where it is a trap": f"{_STATED}test_a_day_that_reads_its_whole_month_is_told_when_it_is_computed",
        "new --offset": f"{_NEW}test_a_stated_offset_completes_an_unclear_query",
    },
}
"""By number: what is asked for, and its test."""
