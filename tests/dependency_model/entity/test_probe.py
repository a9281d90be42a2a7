"""Probes as they are declared: what cannot be looked at is refused with its line, and so is a written secret."""

from __future__ import annotations

import pytest

from tidemark.dependency_model.entity import parse_entity
from tidemark.dependency_model.entity.probe import SOURCES
from tidemark.errors import EntityErrors

SQL = "sql: {url: '${DB}', table: t, time_column: at}"
FILES = "files: {path: '/d/{start:%Y-%m-%d}'}"


@pytest.mark.parametrize(
    ("probe", "more", "expected"),
    [
        ("files: {path: /data/clicks}", "", "clicks.yaml:3: the probe would check the same data for every slice"),
        ("kafka: {servers: 'b:1', topic: 'a b'}", "", "clicks.yaml:4: probe.kafka.topic"),
        ("files: {path: '/d/{start}'}", "", "clicks.yaml:4: probe.files.path: expected {start:%Y-%m-%d}"),
        ("files: {path: '/d/{region}/{key}'}", "", "clicks.yaml:3: the slice has no part with this name"),
        (f"{FILES}\n  kafka: {{servers: 'b:1', topic: t}}", "", "expected exactly one of"),
        ("settle_for: 5m", "", "clicks.yaml:3: probe: expected exactly one of delta, files"),
        ("files: {paths: '/d/{key}'}", "", "clicks.yaml:4"),
        (FILES, "sub_partitions: {region: [cn]}\n", "the probe would check the same data for every part"),
        (
            FILES,
            "quality: [{not_null: [id]}, {pattern: {column: a, matches: x}}]\n",
            "clicks.yaml:5: the probe files cannot count this: expected row_count, not_null",
        ),
        (
            "partitions: {path: /d, partition: {dt: '{key}'}}",
            "quality: [{expression: {holds: 'a > 0'}}]\n",
            "clicks.yaml:5: the probe partitions cannot count this",
        ),
        (
            "own: {entry_point: x}",
            "quality: [{not_null: [id]}]\n",
            "clicks.yaml:5: the probe own cannot count this: expected row_count, found not_null",
        ),
        (SQL, "quality: [{pattern: {column: a, matches: x}}]\n", "the probe sql cannot count this"),
        (SQL, "quality: [{not_null: {columns: [a], where: b}}]\n", "found not_null with where"),
        (SQL, "quality: [{not_null: {columns: [a], quarantine: true}}]\n", "found not_null with quarantine"),
        (
            "http: {url: 'https://x/{key}', field: ok}",
            "quality: [{row_count: {min: 1}}]\n",
            "clicks.yaml:5: the probe does not count rows",
        ),
        ("dagster: {asset: a, each: hour}", "", "each needs partition"),
        ("sql: {url: '${DB}', table: t}", "", "the probe would check the same data for every slice"),
    ],
)
def test_a_bad_probe_is_refused_with_its_line(probe: str, more: str, expected: str) -> None:
    with pytest.raises(EntityErrors) as raised:
        parse_entity(f"kind: Virtual\nperiod: day\nprobe:\n  {probe}\n{more}", "clicks", file="clicks.yaml")
    assert expected in "\n".join(map(str, raised.value.problems))


@pytest.mark.parametrize(
    "probe",
    [
        "sql: {url: 'postgresql://me:canary@host/db', table: t, time_column: at}",
        "http: {url: 'https://me:canary@host/{key}', field: ok}",
        "http: {url: 'https://host/{key}', field: ok, headers: {Authorization: Bearer canary}}",
        "delta: {table: 's3://b/t/{key}', options: {AWS_SECRET_ACCESS_KEY: canary}}",
        "own: {entry_point: x, settings: {api_token: canary}}",
    ],
)
def test_a_written_secret_is_refused_and_not_repeated(probe: str) -> None:
    with pytest.raises(EntityErrors) as raised:
        parse_entity(f"kind: Virtual\nperiod: day\nprobe:\n  {probe}\n", "clicks", file="clicks.yaml")
    told = "\n".join(map(str, raised.value.problems))
    assert "environment variable" in told
    assert "canary" not in told


def test_only_external_data_is_probed() -> None:
    with pytest.raises(EntityErrors) as raised:
        parse_entity(f"period: day\nprobe:\n  {FILES}\n", "clicks", file="clicks.yaml")
    assert "clicks.yaml:2: only data of another system can be probed" in str(raised.value)


def test_every_source_is_a_key() -> None:
    parsed = parse_entity(f"kind: Virtual\nperiod: day\nprobe:\n  {FILES}\n", "clicks")
    assert parsed.probe is not None
    assert parsed.probe.kind == "files"
    assert all(hasattr(parsed.probe, name) for name in SOURCES)
