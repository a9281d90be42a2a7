"""No import cycle: neither between two modules, nor between two sibling packages (rooms), at any depth.

import-linter's layers order the rooms of `tidemark`; they see neither a cycle inside a room nor one between modules.
Imports for type checkers count as well: who has to read one module to understand the other does not ask what runs.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import grimp
import pytest

import tidemark
from tests.parsed import ONE_PROCESS, nodes_of, tree_of
from tests.project import CHECKOUT
from tidemark.dependency_model.graph.topological_order import components

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

pytestmark = ONE_PROCESS

ENGINE: Final = Path(tidemark.__file__).parent
PROJECT_FOLDERS: Final = {
    f"/{name}/" for name in ("tidemark", "warehouse_assets", "sensors", "resources", "tests", "dagster_home", "web")
}


@pytest.fixture(scope="module")
def imports() -> dict[str, list[str]]:
    """By module of `tidemark`, the modules of `tidemark` that it imports."""
    graph = grimp.build_graph("tidemark", exclude_type_checking_imports=False, cache_dir=None)
    return {module: sorted(graph.find_modules_directly_imported_by(module)) for module in sorted(graph.modules)}


def test_no_modules_import_each_other_in_a_cycle(imports: dict[str, list[str]]) -> None:
    cycles = [_cycle(component, imports) for component in components(imports)]
    assert not cycles, "import cycles between modules:\n" + "\n".join(cycles)


def test_no_rooms_import_each_other_in_a_cycle(imports: dict[str, list[str]]) -> None:
    cycles = [
        f"in {package}: {_cycle(component, between)}"
        for package, between in _imports_between_siblings(imports)
        for component in components(between)
    ]
    assert not cycles, "import cycles between the members of a package:\n" + "\n".join(cycles)


def test_no_class_name_stands_twice() -> None:
    """Who reads `Progress` in a message or a stack need not ask which one."""
    places: dict[str, list[str]] = {}
    for path in sorted(ENGINE.rglob("*.py")):
        for node in nodes_of(tree_of(path)):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(f"{path.relative_to(ENGINE)}:{node.lineno}")
    assert not {name: where for name, where in places.items() if len(where) > 1}


def test_the_map_is_one_screen_and_names_existing_rooms() -> None:
    page = (CHECKOUT / "ARCHITECTURE.md").read_text()
    files = {f"/{path.relative_to(ENGINE)}" for path in ENGINE.rglob("*.py")}
    missing = [name for name in re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.py)`", page) if not any_ends_with(files, name)]
    assert [name for name in missing if name not in {"definitions.py", "tests/test_architecture.py"}] == []
    folders = {f"/{path.relative_to(ENGINE)}/" for path in ENGINE.rglob("*") if path.is_dir()} | PROJECT_FOLDERS
    assert [name for name in re.findall(r"`((?:[a-z_]+/)+)`", page) if not any_ends_with(folders, name)] == []
    assert len(page.splitlines()) <= 70


def any_ends_with(paths: set[str], name: str) -> bool:
    return any(path.endswith(f"/{name}") for path in paths)


def test_a_cycle_is_seen_and_named() -> None:
    imports = {"t": [], "t.a": ["t.b.x"], "t.b": [], "t.b.x": ["t.c"], "t.b.y": [], "t.c": ["t.b.y"]}
    (package, between) = next(iter(_imports_between_siblings(imports)))
    assert components(imports) == []
    assert package == "t"
    assert [_cycle(component, between) for component in components(between)] == ["t.b -> t.c -> t.b"]


def _imports_between_siblings(imports: Mapping[str, list[str]]) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Each package, with the imports between its direct members; a member stands for all that is below it."""
    packages = {module.rpartition(".")[0] for module in imports} - {""}
    for package in sorted(packages):
        members = {module: _member(package, module) for module in imports if module.startswith(f"{package}.")}
        between: dict[str, set[str]] = {member: set() for member in members.values()}
        for module, member in members.items():
            between[member].update(members[other] for other in imports[module] if other in members)
        yield package, {member: sorted(others - {member}) for member, others in between.items()}


def _member(package: str, module: str) -> str:
    return package + "." + module.removeprefix(f"{package}.").partition(".")[0]


def _cycle(component: list[str], imports: Mapping[str, list[str]]) -> str:
    """The shortest way round from the first module of a component to itself."""
    start, inside = min(component), set(component)
    ways = [[start]]
    for way in ways:
        for other in imports[way[-1]]:
            if other == start:
                return " -> ".join([*way, start])
            if other in inside:
                inside.discard(other)
                ways.append([*way, other])
    raise AssertionError(f"no way from {start} to itself")
