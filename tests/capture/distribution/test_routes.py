"""Where messages go: a physical table always to one partition of its logical table's topic."""

from __future__ import annotations

import pytest

from tidemark.capture.distribution.errors import SharedTopicError, TopicPatternError
from tidemark.capture.distribution.routes import Routes, Target, check_tables, logical_topic
from tidemark.capture.errors import SharedPhysicalTableError
from tidemark.capture.source_table import SourceTable

ORDERS = SourceTable("ods_orders", "school.orders_*", ("a", "b"), ("order_id",), None, ())
USERS = SourceTable("ods_users", "school.users", ("a",), ("user_id",), None, ())
ROUTES = Routes([ORDERS, USERS], {"tables.school.orders": 3, "tables.school.users": 1})


def test_all_shards_of_all_instances_are_in_one_topic_each_in_one_partition() -> None:
    shards = [(instance, f"school.orders_{number}") for instance in "ab" for number in range(20)]
    targets = [ROUTES.targets(*shard) for shard in shards]
    assert {target.topic for (target,) in targets} == {logical_topic(ORDERS)} == {"tables.school.orders"}
    assert [target.key.decode() for (target,) in targets] == [".".join(shard) for shard in shards]
    assert {target.partition for (target,) in targets} == {0, 1, 2}
    assert targets == [ROUTES.targets(*shard) for shard in shards]


def test_heartbeats_go_wherever_the_instance_has_tables() -> None:
    orders = {Target("tables.school.orders", number, b"b.school.heartbeat") for number in range(3)}
    assert set(ROUTES.targets("b", "school.heartbeat")) == orders
    assert len(ROUTES.targets("a", "school.heartbeat")) == 4


def test_unrouted_tables_go_nowhere() -> None:
    assert ROUTES.targets("b", "school.users") == ()
    assert ROUTES.targets("a", "school.orders_x") == ()


@pytest.mark.parametrize("table", ["school.orders_7", "school.orders_*"])
def test_a_physical_table_of_two_logical_ones_is_refused(table: str) -> None:
    other = SourceTable("ods_seventh", table, ("b", "c"), ("order_id",), None, ())
    with pytest.raises(SharedPhysicalTableError, match=r"of instance b.*ods_orders and ods_seventh"):
        check_tables([ORDERS, other])
    elsewhere = SourceTable("ods_seventh", table, ("c",), ("order_id",), None, ())
    check_tables([ORDERS, elsewhere], "tables.{entity}")


def test_two_logical_tables_of_one_topic_are_refused_and_the_pattern_helps() -> None:
    plain = SourceTable("ods_orders_before", "school.orders", ("a",), ("order_id",), None, ())
    with pytest.raises(SharedTopicError, match=r"ods_orders and ods_orders_before.*\{entity\}"):
        check_tables([ORDERS, plain])
    check_tables([ORDERS, plain], "tables.{entity}")
    assert logical_topic(plain, "x.{entity}") == "x.ods_orders_before"


@pytest.mark.parametrize("pattern", ["tables", "tables.{shard}", "tables.{", "{}", "a b.{table}", "{table}" * 40])
def test_a_pattern_that_names_no_topics_is_refused(pattern: str) -> None:
    with pytest.raises(TopicPatternError, match="--topics"):
        check_tables([ORDERS], pattern)


def test_a_statement_about_several_tables_goes_where_each_of_them_goes() -> None:
    targets = [ROUTES.targets("a", f"school.{name}") for name in ("orders_1", "orders_2", "users")]
    assert ROUTES.targets("a", "school.orders_1,orders_2,users,unrouted") == tuple(entry for (entry,) in targets)


def test_a_statement_is_not_copied_more_often_than_there_are_partitions() -> None:
    same = ROUTES.targets("a", "school." + ",".join(["orders_1"] * 50))
    assert [target.key for target in same] == [b"a.school.orders_1"]
    many = ROUTES.targets("a", "school." + ",".join(f"orders_{number}" for number in range(100_000)))
    assert {(target.topic, target.partition) for target in many} == {
        *((logical_topic(ORDERS), number) for number in range(3)),
        (logical_topic(USERS), 0),
    }
    assert len(many) == 4
    assert {target.key for target in many} == {b"a.school"}


def test_names_from_a_source_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidemark.capture.distribution.routes._MOST_KNOWN", 100)
    routes = Routes([ORDERS], {"tables.school.orders": 3})
    for number in range(1_000):
        (target,) = routes.targets("a", f"school.orders_{number}")
        assert routes.targets("a", f"school.orders_{number}") == (target,)
        assert routes.targets("a", f"{number}" * 1_000) == ()
    assert 0 < len(routes._known) <= 100
    assert max(len(physical) for _, physical in routes._known) <= 200
