"""What every OLAP store promises."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from unittest.mock import patch

import pyarrow as pa
import pytest

from tests.olap.examples import DAY, NEXT_DAY, all_types, gmv, rows
from tidemark.olap.errors import (
    OlapComparisonError,
    OlapPartitionError,
    OlapSchemaError,
    OlapTableMissingError,
    OlapTypeError,
)
from tidemark.olap.publishing import content_checksum
from tidemark.quoting.standard import IdentifierError

if TYPE_CHECKING:
    from tests.olap.conftest import StoreTarget
    from tidemark.olap import OlapStore


def test_every_type_is_returned_unchanged(store: OlapStore, target: StoreTarget) -> None:
    sent = all_types()
    publication = store.publish(target.table, sent, {"dt": DAY})

    stored = store.read(target.table, {"dt": DAY})

    assert rows(stored.drop_columns("dt")) == rows(sent)
    assert stored.drop_columns("dt").schema.types == sent.schema.types
    assert set(stored["dt"].to_pylist()) == {DAY}
    assert (publication.rows, publication.checksum) == (3, content_checksum(stored))


def test_a_replay_changes_nothing(store: OlapStore, target: StoreTarget) -> None:
    first = store.publish(target.table, gmv("1.50", "2.00"), {"dt": DAY})
    second = store.publish(target.table, gmv("1.50", "2.00"), {"dt": DAY})

    assert first.added_columns == ("course_id", "gmv", "dt")
    assert second.added_columns == ()
    assert (second.rows, second.checksum) == (first.rows, first.checksum)
    assert store.read(target.table, {}).num_rows == 2


def test_a_partition_is_replaced_and_the_others_stay(store: OlapStore, target: StoreTarget) -> None:
    store.publish(target.table, gmv("1.00", "2.00", "3.00"), {"dt": DAY})
    store.publish(target.table, gmv("9.00"), {"dt": NEXT_DAY})

    store.publish(target.table, gmv("7.00"), {"dt": DAY})

    assert rows(store.read(target.table, {"dt": DAY}), "gmv") == rows(gmv("7.00"), "gmv")
    assert rows(store.read(target.table, {"dt": NEXT_DAY}), "gmv") == rows(gmv("9.00"), "gmv")


def test_a_partition_can_have_several_columns_and_be_empty(store: OlapStore, target: StoreTarget) -> None:
    store.publish(target.table, gmv("1.00"), {"dt": DAY, "hour": "05"})
    store.publish(target.table, gmv("2.00"), {"dt": DAY, "hour": "06"})
    emptied = store.publish(target.table, gmv("1.00").slice(0, 0), {"dt": DAY, "hour": "05"})

    assert emptied.rows == 0
    assert store.read(target.table, {"dt": DAY, "hour": "05"}).num_rows == 0
    assert store.read(target.table, {"dt": DAY}).num_rows == 1


def test_the_empty_partition_is_the_whole_table(store: OlapStore, target: StoreTarget) -> None:
    store.publish(target.table, gmv("1.00", "2.00"), {})
    store.publish(target.table, gmv("3.00"), {})

    assert rows(store.read(target.table, {})) == rows(gmv("3.00"))


def test_a_new_column_is_added_and_old_rows_have_null_in_it(store: OlapStore, target: StoreTarget) -> None:
    store.publish(target.table, gmv("1.00"), {"dt": DAY})
    wider = gmv("2.00").append_column("coupon", pa.array(["SPRING"]))

    assert store.publish(target.table, wider, {"dt": NEXT_DAY}).added_columns == ("coupon",)
    store.publish(target.table, gmv("5.00"), {"dt": DAY})

    assert rows(store.read(target.table, {}), "dt", "coupon") == [(DAY, None), (NEXT_DAY, "SPRING")]


def test_a_column_of_another_type_is_refused_by_name(store: OlapStore, target: StoreTarget) -> None:
    store.publish(target.table, gmv("1.00"), {"dt": DAY})
    retyped = gmv("1.00").set_column(1, "gmv", pa.array(["1.00"]))

    with pytest.raises(OlapSchemaError) as refused:
        store.publish(target.table, retyped, {"dt": DAY})

    assert str(refused.value) == (
        f"{target.table}.gmv: a column's type differs from the OLAP table's: expected decimal128(12, 2), found string"
        " - cast it in the entity's SQL, or drop the OLAP table and export its partitions again"
    )


def test_rows_of_another_partition_are_refused(store: OlapStore, target: StoreTarget) -> None:
    strays = gmv("1.00", "2.00").append_column("dt", pa.array([DAY, NEXT_DAY]))

    with pytest.raises(OlapPartitionError, match="expected dt=2026-03-29 in every row, found 2026-03-30"):
        store.publish(target.table, strays, {"dt": DAY})


def test_a_partition_value_may_be_text_where_the_column_is_a_date(store: OlapStore, target: StoreTarget) -> None:
    dated = gmv("1.00").append_column("dt", pa.array([DAY]))

    store.publish(target.table, dated, {"dt": "2026-03-29"})

    assert store.read(target.table, {"dt": "2026-03-29"})["dt"].to_pylist() == [DAY]


def test_names_are_data_and_never_sql(store: OlapStore, target: StoreTarget) -> None:
    table = target.table + '"; DROP TABLE x; -- 100%'
    awkward = pa.table({'sel"ect %s': [1], "naïve 🌊": ["x"], "from": ["y'; --"]})

    store.publish(table, awkward, {"%(dt)s": "o'clock %s"})
    store.publish(table, awkward, {"%(dt)s": "o'clock %s"})

    assert rows(store.read(table, {"%(dt)s": "o'clock %s"}).drop_columns("%(dt)s")) == [(1, "x", "y'; --")]


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 256])
def test_a_name_that_no_store_holds_is_refused(store: OlapStore, name: str) -> None:
    with pytest.raises(IdentifierError):
        store.publish(name, gmv("1.00"), {"dt": DAY})


def test_a_type_that_no_store_holds_is_refused_by_column(store: OlapStore, target: StoreTarget) -> None:
    with pytest.raises(OlapTypeError, match=r"^tags: .* found list<"):
        store.publish(target.table, pa.table({"tags": [["a"]]}), {"dt": DAY})


def test_a_table_that_was_never_published_is_named(store: OlapStore, target: StoreTarget) -> None:
    with pytest.raises(OlapTableMissingError, match=f"has no table '{target.table}'"):
        store.read(target.table, {"dt": DAY})


def test_a_failed_comparison_leaves_the_old_partition(store: OlapStore, target: StoreTarget) -> None:
    store.publish(target.table, gmv("1.00", "2.00"), {"dt": DAY})
    with (
        patch("tidemark.olap.publishing.content_checksum", side_effect=["as sent", "as stored"]),
        pytest.raises(OlapComparisonError) as failed,
    ):
        store.publish(target.table, gmv("7.00"), {"dt": DAY})

    assert str(failed.value) == (
        f"{target.table} dt=2026-03-29: the partition read back differs from the one sent, nothing was committed:"
        " expected 1 rows as sent, found 1 rows as stored"
        " - look for triggers, rules or generated columns on the table; the old partition is unchanged"
    )
    assert rows(store.read(target.table, {"dt": DAY}), "gmv") == rows(gmv("1.00", "2.00"), "gmv")


def test_a_failed_first_publication_leaves_no_table(store: OlapStore, target: StoreTarget) -> None:
    with (
        patch("tidemark.olap.publishing._compare", side_effect=OlapComparisonError("t", "p", "1", "2")),
        pytest.raises(OlapComparisonError),
    ):
        store.publish(target.table, gmv("7.00"), {"dt": DAY})

    with pytest.raises(OlapTableMissingError):
        store.read(target.table, {})


def test_publishers_of_different_partitions_do_not_disturb_each_other(store: OlapStore, target: StoreTarget) -> None:
    """All start on a table that does not exist yet: one creates it, the others see it."""
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda n: target.open().publish(target.table, gmv(f"{n}.00"), {"n": n}), range(12)))

    assert rows(store.read(target.table, {}), "n") == sorted(((n,) for n in range(12)), key=repr)


def test_parallel_publishers_leave_one_complete_version(store: OlapStore, target: StoreTarget) -> None:
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda n: target.open().publish(target.table, gmv(f"{n}.00", "0.00"), {"dt": DAY}), range(12)))

    assert store.read(target.table, {}).num_rows == 2
