"""The tree of columns: each is followed once, also where a column comes from itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tidemark.warehouse.column_graph import ColumnGraph, EntityColumns
from tidemark.warehouse.column_tree import TreeLine, tree_lines

FAR = 10_000
graphs = st.dictionaries(
    st.sampled_from("abcdefgh"), st.lists(st.sampled_from("abcdefgh"), max_size=5, unique=True), max_size=8
)


@given(graphs)
def test_the_tree_has_all_reachable_columns_once(graph: dict[str, list[str]]) -> None:
    def step(column: str) -> list[str]:
        return graph.get(column, [])

    reached, waiting = set[str](), ["a"]
    while waiting:
        new = set(step(waiting.pop())) - reached
        reached |= new
        waiting += new
    lines = list(tree_lines("a", step, FAR))
    assert {line.column for line in lines} == reached
    followed = [line.column for line in lines if not line.is_again and step(line.column)]
    assert sorted(followed) == sorted({*reached} - {"a"} - {name for name in reached if not step(name)})
    assert len(lines) == sum(len(step(name)) for name in {*followed, "a"})


def test_a_long_chain_and_a_wide_column_are_shown() -> None:
    chain = list(tree_lines("0", lambda name: [str(int(name) + 1)] if int(name) < 5_000 else [], FAR))
    assert (len(chain), chain[-1]) == (5_000, TreeLine(5_000, "5000"))
    wide = tree_lines("root", lambda name: [str(number) for number in range(5_000)] if name == "root" else [], FAR)
    assert sum(1 for _ in wide) == 5_000


def test_levels_below_the_limit_are_marked() -> None:
    lines = list(tree_lines("0", lambda name: [str(int(name) + 1)], 3))
    assert lines[-1] == TreeLine(3, "3", is_cut=True)


def test_a_column_may_have_dots_in_its_name() -> None:
    graph = ColumnGraph(
        {
            "names": EntityColumns({"a.b": ("base.user_id",)}, ()),
            "more": EntityColumns({"c.d": ("names.a.b",)}, ("names.x.y",)),
        },
        {"copy": "names"},
    )
    assert graph.up("more.c.d") == ("names.a.b",)
    assert graph.up("copy.a.b") == ("names.a.b",)
    assert graph.down("names.a.b") == ("more.c.d",)
    assert graph.columns("base") == ("user_id",)
    assert ColumnGraph({"more": graph.entities["more"]}, {}).columns("names") == ("a.b", "x.y")
