"""What the outside world must not do to the warehouse, clause by clause, and the test that would fail otherwise.

A case is `path::test` in `tests/`.
"""

# ruff: noqa: E501 - a line a case

from __future__ import annotations

from typing import Final

_ARRIVAL = "dagster/sensors/test_external_arrival.py::"
_PROGRAMS = "dagster/sensors/test_external_programs.py::"
_SERVERS = "components/test_external_programs.py::"
_PROBES = "crawl/test_probes.py::"
_REAL_PROBES = "components/test_probes.py::"
_CRAWLER = "crawl/test_crawler.py::"
_OUTSIDE = "center/detectors/test_outside.py::"
_COUNTED = "center/detectors/test_counted_tables.py::"
_OF_CAPTURE = "center/detectors/test_counts_of_capture.py::"
_ROLL_UP = "dependency_model/completeness/test_roll_up.py::"
_REGIONS = "dependency_model/readiness/test_regions.py::"
_COMMANDS = "console/commands/test_probe_and_completeness.py::"

CASES: Final[dict[str, dict[str, str]]] = {
    "slices that another program writes release their partition in a running Dagster, and no other": {
        "DuckDB": f"{_ARRIVAL}test_a_day_that_another_program_delivers_is_asked_for",
        "delta-rs": f"{_PROGRAMS}test_a_delta_table_that_delta_rs_writes",
        "plain files": f"{_PROGRAMS}test_files_with_their_marker",
        "a web server": f"{_PROGRAMS}test_a_web_server",
        "PostgreSQL": f"{_SERVERS}test_postgresql",
        "Kafka": f"{_SERVERS}test_kafka",
        "an asset of another code location": f"{_ARRIVAL}test_an_asset_of_another_process_and_code_location_releases_its_day",
        "its hours, in a daemon that runs both locations": "end_to_end/test_other_location.py::test_a_day_is_released_by_its_last_hour_and_no_other_day",
        "over weeks of one center": f"{_OUTSIDE}test_a_delivered_day_releases_its_slice_and_no_other",
        "a broken rule holds it back": f"{_OUTSIDE}test_a_broken_rule_holds_it_back_until_the_rule_holds",
    },
    "faults make no false ready, and are over without a person": {
        "the source is down": f"{_CRAWLER}test_a_system_that_is_down_is_not_probed_until_it_returns",
        "the source of counts is down": f"{_COUNTED}test_a_source_that_is_down_makes_nothing_final_and_comes_back_by_itself",
        "it is slow": f"{_CRAWLER}test_a_slow_system_gets_few_probes_and_does_not_delay_others",
        "it hangs": f"{_CRAWLER}test_a_look_that_hangs_is_given_up_and_its_late_answer_counts_for_nothing",
        "it flaps": f"{_CRAWLER}test_a_source_that_flaps_is_believed_in_the_end",
        "it lies": f"{_CRAWLER}test_a_source_that_lies_is_not_believed_while_its_counts_move",
        "its counts go backwards": f"{_COUNTED}test_a_source_whose_counts_go_backwards_is_not_believed",
        "its clock is ahead": f"{_PROBES}test_a_watermark_has_to_pass_the_end_and_not_our_clock",
        "a topic's clock is ahead": f"{_REAL_PROBES}test_kafka",
        "our clock jumps": f"{_CRAWLER}test_a_clock_set_back_restarts_the_wait_and_a_jump_forward_proves_nothing",
        "a partition appears and vanishes": f"{_CRAWLER}test_a_partition_that_appears_and_vanishes_is_not_there",
        "a marker before its files": f"{_PROBES}test_files_with_their_marker_and_a_manifest",
        "seven faults of a web server, in a running Dagster": "dagster/sensors/test_faulty_web_server.py::test_no_fault_releases_a_day_and_its_end_does",
        "any order of these, against a reference": "dependency_model/arrival/test_sighting.py::test_as_the_reference_believes",
        "the process that looks is another one": f"{_OUTSIDE}test_another_process_goes_on_and_knows_what_was_learned",
    },
    "roll-up": {
        "the story of seed 002": f"{_ROLL_UP}test_the_story_of_seed_002",
        "against a reference, 10,000 arrival orders": f"{_ROLL_UP}test_as_the_reference_on_10_000_random_arrival_orders",
        "days of 23 and 25 hours": f"{_ROLL_UP}test_a_local_day_is_complete_with_all_of_its_hours",
        "late records open their windows": f"{_COUNTED}test_records_that_the_source_gets_late_open_their_windows",
        "what is lost or doubled in the lake": f"{_COUNTED}test_windows_complete_by_counts_and_open_again_for_what_anybody_deletes_or_doubles",
        "what the merge loses or doubles": f"{_OF_CAPTURE}test_a_row_that_the_merge_loses_or_doubles_is_seen",
        "counts of PostgreSQL": "components/test_counts.py::test_postgresql",
        "counts of Kafka's offsets": "components/test_counts.py::test_kafka_by_offsets",
        "an hour that is complete is compacted": "center/test_complete_hour.py::test_a_slot_that_agrees_completes_the_windows_that_it_ends_and_begins_what_waits_for_them",
        "what is missing is plotted": "center/test_outside_world.py::test_a_window_that_lacks_records_is_plotted_once_with_what_is_missing",
        "one lost in 20,000 and one doubled": "benchmarks/test_completeness_figure.py::test_a_small_roll_up_is_measured",
    },
    "regions": {
        "own midnights, against a reference, 10,000 arrival orders": f"{_REGIONS}test_as_the_reference_on_10_000_random_arrival_orders",
        "a region from a date on": f"{_REGIONS}test_a_region_added_later_does_not_open_the_past_again",
        "nested": f"{_REGIONS}test_countries_lie_within_their_regions_and_centers_within_their_countries",
        "a quorum": f"{_REGIONS}test_a_quorum_counts_by_date_and_reads_the_existing_parts",
        "on Delta tables in Dagster": "dagster/kinds/test_parts.py::test_each_part_is_computed_when_its_own_day_is_there",
    },
    "one prober": {
        "who waits too costs nothing": f"{_CRAWLER}test_another_reader_of_a_slice_has_no_cost",
        "hits and delay of many waiters": "benchmarks/test_crawl_figure.py::test_a_small_crawl_is_measured",
    },
    "bad probes are refused with file and line": {
        "each key": "dependency_model/entity/test_probe.py::test_a_bad_probe_is_refused_with_its_line",
        "by tidemark check": f"{_COMMANDS}test_a_bad_probe_is_refused_by_check_with_file_and_line",
    },
    "no secret is told (canaries)": {
        "stored, in Dagster's events, in errors": f"{_OUTSIDE}test_no_secret_is_stored_or_shown",
        "what drivers say": f"{_PROBES}test_no_secret_is_in_the_messages_of_drivers",
        "a probe of one's own": "crawl/test_own_probe.py::test_its_errors_are_masked_and_missing_results_are_reported",
        "on the command line": f"{_COMMANDS}test_a_source_that_is_down_may_be_tried_again_and_keeps_its_secret",
        "MariaDB's own error": f"{_REAL_PROBES}test_mariadb",
        "written into YAML": "dependency_model/entity/test_probe.py::test_a_written_secret_is_refused_and_not_repeated",
    },
    "any identifier is one identifier (fuzzed)": {
        "of a probe": f"{_PROBES}test_any_name_is_one_name",
        "of a count": f"{_COUNTED}test_any_name_is_one_name",
        "that no database holds": f"{_PROBES}test_a_name_that_no_database_holds_is_refused",
        "in PostgreSQL": f"{_REAL_PROBES}test_postgresql",
        "a session cannot write": f"{_PROBES}test_a_session_cannot_write",
    },
    "the demo": {
        "external, regional and counted slices against the recording": "end_to_end/test_demo.py::test_every_snapshot_and_every_figure_equals_the_databases_own",
        "the partner is a process of its own": "console/demo/test_ad_partner.py::test_each_region_is_written_after_its_own_midnight_and_once",
        "their oracle can differ": "console/demo/test_outside_answers.py::test_a_window_with_other_counts_or_an_open_slot_differs",
        "with real databases and Kafka": "console/commands/test_up_kafka.py::test_rows_in_the_databases_become_tagged_snapshots_and_sigterm_stops_everything",
    },
}
"""By clause, what is shown, and where."""
