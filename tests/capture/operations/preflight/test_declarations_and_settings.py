"""Questions about declarations and settings that need no network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tidemark.capture.heartbeat.source_databases import databases
from tidemark.capture.operations.preflight import declarations_and_settings
from tidemark.capture.operations.preflight.all_checks import declaration_findings, examine, require_sound
from tidemark.capture.source_table import SourceTable
from tidemark.system.check_finding import Finding, PreflightError
from tidemark.system.free_port import LOOPBACK, free_port
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

ORDERS = SourceTable("ods_orders", "school.orders_*", ("a", "b"), ("order_id",), None, ())
USERS = SourceTable("ods_users", "school.users", ("a",), ("user_id",), None, ())


def verdicts(findings: list[Finding]) -> dict[str, str]:
    return {entry.subject: entry.verdict for entry in findings}


def test_physical_tables_with_one_logical_table_each_are_no_problem() -> None:
    assert declarations_and_settings.tables([ORDERS, USERS]) == [
        Finding("captured tables", "ok", "2, on the instances a, b")
    ]


@pytest.mark.parametrize("table", ["school.orders_*", "school.orders_7"])
def test_a_physical_table_of_two_logical_ones_is_a_problem_on_each_instance_that_both_have(table: str) -> None:
    other = SourceTable("ods_sold", table, ("b", "c"), ("order_id",), None, ())
    (findings,) = declarations_and_settings.tables([ORDERS, USERS, other])
    assert (findings.verdict, findings.to_do) == (
        "problem",
        "correct `table` and `instances` in the source of one of the two entities",
    )
    assert "of instance b: ods_orders and ods_sold" in findings.found
    assert verdicts(
        declarations_and_settings.tables([ORDERS, SourceTable("ods_sold", table, ("c",), ("id",), None, ())])
    ) == {"captured tables": "ok"}


def test_canal_instances_that_no_entity_captures_are_a_problem() -> None:
    assert declarations_and_settings.canal({"a"}, [ORDERS]) == []
    (findings,) = declarations_and_settings.canal({"a", "z"}, [ORDERS])
    assert (findings.verdict, findings.found) == ("problem", "no entity is captured from z")
    assert findings.to_do.endswith("instances are a, b")


def test_each_instance_wants_an_address_and_each_address_an_instance() -> None:
    given = databases("a=mysql://t:secret@db/school,z=mysql://t:secret@other/school")
    assert verdicts(declarations_and_settings.addresses(given, [ORDERS])) == {
        "database b": "warning",
        "database z": "warning",
    }


def test_two_instances_that_are_one_database_are_a_problem() -> None:
    given = databases("a=mysql://t:secret@db/school,b=mysql://u:secret@db:3306/school")
    (findings,) = declarations_and_settings.addresses(given, [ORDERS])
    assert (findings.subject, findings.verdict) == ("database b", "problem")
    assert findings.found == "db:3306/school is also instance a: its tables would be captured twice"


def test_an_address_that_is_none_is_a_finding_and_shows_no_password(tmp_path: Path) -> None:
    settings = Settings.at(tmp_path, databases="a=mysql://t:secret@db/")
    findings = declaration_findings(settings, [ORDERS])
    assert verdicts(findings) == {"captured tables": "ok", "TIDEMARK_DATABASES": "problem"}
    assert "secret" not in str(examine(settings, [ORDERS]))


def test_without_kafka_and_databases_there_is_nothing_to_ask(tmp_path: Path) -> None:
    settings = Settings.at(tmp_path)
    assert verdicts(examine(settings, [ORDERS])) == {"captured tables": "ok", "Kafka": "ok"}


def test_a_wrong_setting_is_refused_and_a_silent_server_is_not(tmp_path: Path) -> None:
    down = f"a=mysql://t:secret@{LOOPBACK}:{free_port()}/school,b=mysql://t:secret@{LOOPBACK}:{free_port()}/school"
    settings = Settings.at(tmp_path, databases=down)
    assert set(verdicts(examine(settings, [ORDERS])).values()) == {"ok", "unreachable"}
    require_sound(settings, [ORDERS])
    with pytest.raises(
        PreflightError, match=r"nothing can be captured until this is correct.*ods_orders and ods_sold"
    ) as refused:
        require_sound(settings, [ORDERS, SourceTable("ods_sold", "school.orders_1", ("a",), ("id",), None, ())])
    assert "secret" not in str(refused.value)
