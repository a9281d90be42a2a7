"""Tables that are level are read together, those that lag by themselves."""

from hypothesis import given
from hypothesis import strategies as st

from tidemark.capture.planning.read_groups import read_groups
from tidemark.capture.source_table import SourceTable

WIDTH = 10


def table(name: str, *instances: str) -> SourceTable:
    return SourceTable(name, f"school.{name}", instances, ("id",), None, ())


def names(offsets: dict[str, dict[str, int]]) -> list[list[str]]:
    tables = [table(name, *mine) for name, mine in offsets.items()]
    return [[source.name for source in group] for group in read_groups(tables, offsets, WIDTH)]


def test_tables_that_are_level_are_one_group() -> None:
    assert names({"x": {"a": 100, "b": 50}, "y": {"a": 95}, "z": {"b": 45}}) == [["x", "y", "z"]]


def test_a_table_that_lags_on_any_instance_is_read_separately_after_the_others() -> None:
    assert names({"new": {"a": 0}, "x": {"a": 100, "b": 50}, "y": {"a": 100}}) == [["x", "y"], ["new"]]
    assert names({"x": {"a": 100, "b": 50}, "y": {"a": 100, "b": 20}}) == [["x"], ["y"]]


def test_tables_with_the_same_lag_are_read_together() -> None:
    assert names({"x": {"a": 100}, "n": {"a": 3}, "m": {"a": 0}, "k": {"a": 40}}) == [["x"], ["k"], ["n", "m"]]


@given(
    st.dictionaries(st.sampled_from("uvwxyz"), st.dictionaries(st.sampled_from("ab"), st.integers(0, 60), min_size=1))
)
def test_every_table_is_in_one_group_whose_tables_are_near(offsets: dict[str, dict[str, int]]) -> None:
    groups = names(offsets)
    assert sorted(name for group in groups for name in group) == sorted(offsets)
    for group in groups:
        for instance in "ab":
            mine = [offsets[name][instance] for name in group if instance in offsets[name]]
            assert not mine or max(mine) - min(mine) <= 2 * WIDTH
