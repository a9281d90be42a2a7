"""Declarations: everything that can be wrong with one of them, with its place."""

from __future__ import annotations

import pytest

from tidemark.dependency_model.entity import Entities, parse_entity
from tidemark.dependency_model.entity.quality_rules import AcceptedValues, NotNull, Reconcile, RowCount
from tidemark.errors import EntityErrors, UnknownEntityError


def problems(text: str) -> list[str]:
    with pytest.raises(EntityErrors) as raised:
        parse_entity(text, "table", file="ods/table.yaml")
    return [str(problem) for problem in raised.value.problems]


def test_unknown_names_have_a_suggestion() -> None:
    entities = Entities([parse_entity("period: day", "ods_orders")])
    with pytest.raises(UnknownEntityError, match="did you mean 'ods_orders'"):
        entities["ods_order"]
    assert entities.get("ods_order") is None


def test_everything_is_reported_at_once_with_file_line_and_key() -> None:
    lines = problems(
        "kind: TimeSeris\n"
        "period: dayly\n"
        "start: 2026-03-32\n"
        "depends_on:\n"
        "  - {entity: a, offset: Set 0,-1}\n"
        "  - {entty: b}\n"
        "  - {entity: c, offset: Set 0 1}\n"
        "  - {entity: d, weak: {at_leastt: 3}}\n"
        "quality:\n"
        "  - not_nul: [a]\n"
        "  - row_count: {min: 5, max: 2}\n"
        "earliest: 61 0 * * *\n"
        "foo: 1\n"
    )
    expected = {
        1: "did you mean 'TimeSeries'?",
        2: "did you mean 'daily'?",
        3: "this date does not exist",
        5: "put the offset in quotes",
        6: "did you mean 'entity'?",
        7: "not a whole number",
        8: "did you mean 'at_least'?",
        10: "did you mean 'not_null'?",
        11: "min 5 is above max 2",
        12: "0 to 59",
        13: "unknown key 'foo'",
    }
    for line, words in expected.items():
        assert any(text.startswith(f"ods/table.yaml:{line}:") and words in text for text in lines), (line, lines)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "needs a period"),
        ("- a\n- b\n", "mapping of keys to values"),
        ("period: day\nperiod: hour\n", "appears twice"),
        ("period: [day\n", "ods/table.yaml:2: this is not YAML"),
        ("period: &x day\ngranularity: *x\n", "anchors, aliases and tags"),
        ("period: !!python/name:os.system day\n", "anchors, aliases and tags"),
        ("period: day\n---\nperiod: hour\n", "second document"),
        ("period: day\ntags: " + "{a: " * 30 + "b" + "}" * 30, "too much nesting"),
        ("period: day\ndescription: |\n" + "  x" * 200_000, "too long"),
        ("period: day\nkey: [" + "a, " * 30_000 + "b]\n", "too much"),
        ("period: day\nlayer: x\n", "unknown key 'layer'"),
        ("period: day\n? [a]\n: b\n", "plain word"),
        ("kind: Static\nperiod: day\n", "Static entity has no period"),
        ("kind: Snapshot\nperiod: day\ngranularity: day\n", "always the full table"),
        ("kind: Cumulative\nperiod: day\ngranularity: hour\n", "day or longer"),
        ("period: day\nsnapshot_of: other\n", "only a Snapshot"),
        ("period: day\nlate_events: restate\n", "needs source or snapshot_of"),
        ("period: day\nallowed_lateness: 5m\n", "needs source or snapshot_of"),
        ("period: day\nkeep_snapshots: 5\n", "needs source or snapshot_of"),
        ("period: day\nkeep_snapshots: 0\n", "greater than or equal to 1"),
        ("period: day\nallowed_lateness: 90ms\n", "expected a duration such as 30min"),
        ("period: day\nlate_events: restaet\n", "did you mean 'restate'"),
        ("period: day\nweek_start: someday\n", "one of monday"),
        ("period: day\nholidays: FRR\n", "unknown calendar of holidays"),
        ("period: day\ntime_zone: Europe/Pari\n", "did you mean 'Europe/Paris'"),
        ("period: day\nready_by: 25:00\n", "ready_by"),
        ("period: day\nstart: 2026-03-23\nend: 2026-03-23\n", "ends before it starts: expected later than 2026-03-23"),
        ("period: day\nstates: [{entity_state: a}, {entity_state: a}]\n", "declared twice"),
        ("period: day\nstates: [{entity_state: unannounced}]\n", "'unannounced' cannot be the name of a state"),
        ("period: day\nstates: [{entity_state: asked}]\n", "'asked' cannot be the name of a state"),
        ("period: day\ndepends_on: [{entity: a, dates: all, offset: all}]\n", "give only one"),
        ("period: day\ndepends_on: [{entity: a, weak: {}}]\n", "any_of, at_least or timeout"),
        ("period: day\ndepends_on: [{entity: a, weak: {at_least: 0%}}]\n", "a share such as 90%"),
        ("period: day\ndepends_on: [{entity: a, weak: {timeout: 2x}}]\n", "a duration such as 30min"),
        ("period: day\nsub_partitions: {region: []}\n", "sub_partitions"),
        (
            "period: day\nsub_partitions:\n  region: {eu: {}}\n  land: {fr: {within: ue}}\n",
            "'fr' is not within a value",
        ),
        ("period: day\nsub_partitions: {region: {eu: {start: 2024-13-01}}}\n", "start"),
        (
            "{kind: Virtual, period: day, start: 2024-01-01, completeness: {time_column: a, sql: [{url: b,table: c}]}}",
            "completeness needs a table of the lake",
        ),
        ("period: day\ncompleteness: {time_column: at, kafka: {servers: a, topic: b}}\n", "the start of the counts"),
        ("period: day\nstart: 2024-01-01\ncompleteness: {time_column: at}\n", "expected exactly one of sql, kafka"),
        (
            "period: day\nstart: 2024-01-01\ncompleteness: {time_column: at, capture: true}\n",
            "the source of the counts is not declared",
        ),
        (
            (
                "{kind: Snapshot, period: day, start: 2024-01-01, source: {table: a.b, instances: [a], start: now}, "
                "completeness: {time_column: at, capture: true}}"
            ),
            "not the rows before them",
        ),
        (
            "period: day\nstart: 2024-01-01\ncompleteness: {time_column: a, sql: [{url: 'my://a:b@c/d', table: t}]}\n",
            "a password in a declaration",
        ),
        ("period: day\nquorum: 2\n", "a quorum needs sub-partitions"),
        (
            "period: day\nquorum: 3\nsub_partitions: {region: [eu, us]}\n",
            "the quorum is larger than the number of sub-partitions",
        ),
        ("period: day\nquorum: 120%\nsub_partitions: {region: [eu, us]}\n", "quorum"),
        ("period: day\nquality: [{accepted_values: {column: a}}]\n", "quality[0].values"),
        ("period: day\nquality:\n  - drift: {column: a, at_most: 1}\n", "table.yaml:3: quality[0].at_most"),
        ("period: day\nquality:\n  - drift: {column: a, where: b}\n", "table.yaml:3: quality[0]: drift has no where"),
        ("period: day\nquality:\n  - drift: {colum: a}\n", "did you mean 'column'"),
        ("kind: Static\nquality:\n  - drift: {column: a}\n", "table.yaml:3: there are no other slices"),
        ("period: day\nprofile: off\nquality:\n  - drift: {column: a}\n", "table.yaml:4: a has no profile"),
        ("period: day\nprofile: {columns: [b]}\nquality:\n  - drift: {column: a}\n", "table.yaml:4: a has no profile"),
        ("period: day\nquality_on_anomaly:\n  - drift: {column: a}\n", "table.yaml:3: drift finds the same"),
        ("kind: Virtual\nperiod: day\nprobe: {files: {path: '/x/{key}'}}\nquality: [{drift: {column: a}}]\n", "drift"),
        ("name: 1table\nperiod: day\n", "name"),
        ("period: day\ndescription: \x07\n", "this is not YAML"),
    ],
)
def test_one_thing_wrong(text: str, says: str) -> None:
    assert any(says in problem for problem in problems(text)), problems(text)


def test_quality_rules_are_values() -> None:
    entity = parse_entity(
        "period: day\n"
        "quality:\n"
        "  - not_null: [a, b]\n"
        "  - row_count: {min: 1, max: 5}\n"
        "  - accepted_values: {column: status, values: [paid, 1, 2.5]}\n"
        "  - reconcile: {value: sum(a), equals: SELECT 1, tolerance: 0.01}\n",
        "table",
    )
    assert entity.quality == (
        NotNull(("a", "b")),
        RowCount(1, 5),
        AcceptedValues("status", ("paid", 1, 2.5)),
        Reconcile("sum(a)", "SELECT 1", 0.01),
    )


def test_values_that_look_like_other_types_stay_unchanged() -> None:
    entity = parse_entity("period: day\nready_by: 10:30\nstart: 2026-03-23\ndescription: no\nexport: true\n", "table")
    assert (entity.ready_by, entity.start, entity.description, entity.export) == ("10:30", "2026-03-23", "no", True)
