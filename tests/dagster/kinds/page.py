"""docs/kinds.md, written from the tests: `python -m tests.dagster.kinds.page > docs/kinds.md`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tidemark.warehouse.kind_rules import KIND_RULES

FOLDER: Final = Path(__file__).parent
_OWN: Final = FOLDER / "test_own_assets.py"
_OTHER: Final = FOLDER / "other_location.py"
_KINDS, _MANIFESTS = "test_kinds.py", "test_manifests.py"

PROOFS: Final = (
    ("TimeSeries", "strong", "completed", f"{_KINDS}::test_time_series_and_virtual"),
    ("TimeSeries", "strong, itself (`Set -1`)", "completed", f"{_KINDS}::test_self_dependency_goes_day_by_day"),
    ("TimeSeries", "strong, a set with gaps", "completed", f"{_KINDS}::test_a_set_with_gaps_reads_no_day_between"),
    (
        "TimeSeries",
        "`last_available`",
        "completed",
        f"{_MANIFESTS}::test_last_available_takes_the_older_one_that_is_there",
    ),
    (
        "TimeSeries",
        "`any_of`, `at_least`, `timeout`",
        "partial, then completed",
        f"{_MANIFESTS}::test_weak_clauses_go_on_partial_and_again_by_policy",
    ),
    ("TimeSeries", "strong", "estimated, then completed", f"{_MANIFESTS}::test_estimated_then_completed"),
    (
        "TimeSeries",
        "forced by a run's tag",
        "partial, then completed",
        f"{_MANIFESTS}::test_a_forced_run_lists_its_missing_inputs",
    ),
    ("TimeSeries", "a run by hand", "judged alike", f"{_MANIFESTS}::test_a_run_by_hand_is_judged_by_the_same_clauses"),
    ("TimeSeries", "a refused run", "waiting", f"{_MANIFESTS}::test_a_refused_run_uses_up_no_attempt"),
    (
        "TimeSeries, by week",
        "`all_week`, `last available`",
        "estimated, then completed",
        "test_seed_examples.py::test_word_count",
    ),
    (
        "TimeSeries, sub-partitioned",
        "strong, the same part; all parts",
        "completed, part by part",
        "test_parts.py::test_each_part_is_computed_when_its_own_day_is_there",
    ),
    (
        "TimeSeries, sub-partitioned",
        "a quorum of the parts",
        "partial, then completed",
        "test_parts.py::test_a_quorum_of_regions_goes_on_and_the_last_one_is_computed_into_it",
    ),
    ("Sliding", "strong", "completed", f"{_KINDS}::test_sliding_begins_with_the_days_that_there_are"),
    ("Cumulative", "strong", "completed", f"{_KINDS}::test_cumulative_grows_within_its_granularity"),
    ("Snapshot, computed", "strong", "completed", f"{_KINDS}::test_static_is_one_table_without_partitions"),
    ("Static", "`static`", "completed", f"{_KINDS}::test_static_is_one_table_without_partitions"),
    ("Virtual", "waited for", "completed", f"{_KINDS}::test_time_series_and_virtual"),
    (
        "Project, two",
        "root and end",
        "completed",
        f"{_KINDS}::test_a_project_starts_after_its_root_and_is_followed_after_its_end",
    ),
    (
        "an asset of your own, beside",
        "strong",
        "completed",
        "test_own_assets.py::test_a_plain_asset_waits_for_entities_and_entities_wait_for_it",
    ),
    (
        "an asset of your own, elsewhere",
        "waited for",
        "completed",
        "test_own_assets.py::test_an_asset_of_another_code_location_is_waited_for",
    ),
    (
        "an asset of your own, elsewhere",
        "strong, by Dagster's own condition",
        "completed",
        "test_own_assets.py::test_an_asset_of_another_code_location_waits_for_its_inputs",
    ),
    (
        "TimeSeries, added later, SQL and Python",
        "strong",
        "completed",
        "test_added_tables.py::test_tables_that_are_added_are_computed_for_the_past",
    ),
    ("all but captured, at random", "all", "all", "test_generated.py::test_a_generated_warehouse"),
)


def page() -> str:
    """The whole page."""
    kinds = [f"| {kind.value} | {rule.meaning} |" for kind, rule in KIND_RULES.items()]
    proofs = [f"| {kind} | {strength} | {state} | `{test}` |" for kind, strength, state, test in PROOFS]
    asset = _OWN.read_text().partition("    @dg.asset")[2].partition("\n\n")[0]
    other = _OTHER.read_text().partition("\nDAYS = ")[2].rstrip()
    lines = [
        "# Kinds of entities",
        "",
        "Made from `tests/dagster/kinds/page.py`: change that file and not this page.",
        "",
        "| kind | what it is |",
        "| --- | --- |",
        *kinds,
        "",
        "In Dagster, a `Virtual` entity is an external asset, and a `Static` one is an asset without partitions.",
        "Sub-partitions are the second dimension of an asset's partitions. A project is not an asset; the center",
        "has its root and its end. `tidemark check` refuses declarations that cannot run, with file and line.",
        "",
        "`kind: View` is not an entity: it has no table and no slices. Its query is inserted into each query that",
        "names it, and runs at that query's business time. The slices that a view reads are waited for.",
        "",
        "## Tests",
        "",
        "Each test in `tests/dagster/kinds` launches real Dagster runs with Spark and Delta tables.",
        "",
        "| kind | strength | state | test |",
        "| --- | --- | --- | --- |",
        *proofs,
        "",
        "## Your own assets",
        "",
        "**In the project's code location**: declare the asset with `own_asset: true` and `depends_on`, and pass it",
        "to `warehouse_definitions(warehouse, [scores])`. The center launches it when its inputs are complete. Other",
        "entities may depend on it.",
        "",
        "```python",
        *(line.removeprefix("    ") for line in f"    @dg.asset{asset}".splitlines()),
        "```",
        "",
        "**In another code location**: declare it as `kind: Virtual`, with the same name and periods. Other entities",
        "then wait for it. To make the asset itself wait for slices, use Dagster's own features, without Tidemark: a",
        "dependency with a partition mapping, a condition, and a sensor that evaluates it. The daemon knows the slices",
        "of all code locations.",
        "",
        "```python",
        *f"DAYS = {other}".splitlines(),
        "```",
        "",
        "- `eager()` looks only at the newest partition; without `in_latest_time_window` it looks at all partitions.",
        "- A slice that broke a blocking rule is materialized too. `all_deps_blocking_checks_passed()` is true if one",
        "  of several partitions passed. `~any_deps_match(INVALID)` is true only if all passed.",
        "- When a slice is computed again, the assets that read it are requested again.",
        "- Dagster does not know whether a slice is `partial`, `estimated` or tainted. If this matters, put the asset",
        "  into the project's code location.",
        "",
        "## A run by hand",
        "",
        "The same rules apply as for runs of the center. If inputs are missing, or if another run computes the",
        "slice, the run is skipped: it succeeds without a materialization and without results of checks, and does",
        "not count as an attempt. An observation on the page of the partition has the reason. With the tag",
        "`tidemark/force` (its value is the reason) it runs anyway. Its metadata name the missing inputs, and the",
        "slice is `partial`.",
        "",
        "Runs of a backfill that a command or HTTP started have the tag `tidemark/backfill` with its number. To",
        "see them, filter Dagster's page `Runs` by `tag:tidemark/backfill=3`; `tidemark backfills show 3` has",
        "their progress. Dagster's page `Backfills` shows only the backfills that were started there.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
