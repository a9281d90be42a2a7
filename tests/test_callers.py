"""Each module and each public function of the engine has a caller in the product: what only tests call is dead."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING, Final

from tests.docs.written_commands import ROOT
from tests.parsed import ONE_PROCESS, nodes_of, tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = ONE_PROCESS

PRODUCT: Final = ("tidemark", "warehouse_assets", "sensors", "resources", "benchmarks")
PLAIN_DECORATORS: Final = frozenset(
    {
        *(
            "property",
            "cached_property",
            "classmethod",
            "staticmethod",
            "override",
            "contextmanager",
            "asynccontextmanager",
        ),
        *(
            "cache",
            "lru_cache",
            "dataclass",
            "final",
            "abstractmethod",
            "setter",
            "total_ordering",
            "runtime_checkable",
        ),
    }
)
"""All other decorators hand a function to somebody who calls it: commands, assets, routes, validators."""
PLAIN_BASES: Final = frozenset({"Protocol", "Generic", "Enum", "StrEnum", "IntEnum", "NamedTuple", "ABC"})
_TEMPLATE: Final = "tidemark.console.project_template."
FOUND_BY_NAME: Final = ("tidemark.console.commands.", _TEMPLATE)
"""Commands are loaded by their names; a template's files are copied."""
MODULES: Final = {
    "tidemark.console.demo.ad_partner": "a program that the demo starts by its file",
    "tidemark.dependency_model.status.transitions_document": "writes docs/transitions.md",
    "tidemark.reader": "what notebooks import",
    "tidemark.spark.write_class_archive": "a step of `make setup`",
    "tidemark.warm_runs.run_queue": "what `run_coordinator` names in dagster.yaml",
}
"""Modules that nothing imports, and why they are there."""
NAMES: Final = {
    "tidemark.center.errors.LaunchError": "what a launcher raises that cannot start a run",
    f"{_TEMPLATE}own.tests.test_declarations.test_every_dependency_can_be_met": "a project's own test",
    "tidemark.console.servers.kafka.Kafka.start_again": "servers of tests die and come back",
    "tidemark.console.servers.kafka_connect.Connect.configure": "connectors of tests are declared anew",
    "tidemark.console.servers.kafka_connect.Connect.start_again": "servers of tests die and come back",
    "tidemark.console.servers.mariadb.MariaDb.start_again": "servers of tests die and come back",
    "tidemark.delta.clustering.split_tree.assign_files": "the slow meaning of a tree, which its SQL is compared with",
    "tidemark.warm_runs.run_queue.PooledRunQueue": "what `run_coordinator` names in dagster.yaml",
}
"""Names that nothing in the product calls, and why they are there."""


_CODES: Final = ROOT / "tidemark" / "error_codes.py"
"""A list of all errors, which raises none."""


def trees() -> dict[Path, ast.Module]:
    return {file: tree_of(file) for folder in PRODUCT for file in sorted((ROOT / folder).rglob("*.py"))}


def of_engine() -> Iterator[tuple[Path, ast.Module]]:
    return ((file, tree) for file, tree in trees().items() if file.is_relative_to(ROOT / "tidemark"))


def name_of(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported() -> Iterator[str]:
    for tree in trees().values():
        for node in nodes_of(tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield node.module
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def test_each_module_is_imported() -> None:
    used = set(imported())
    unused = {
        name
        for file, tree in of_engine()
        if (name := name_of(file)) not in used and file.name not in ("__init__.py", "__main__.py") and tree.body
    }
    assert {name for name in unused if not name.startswith(FOUND_BY_NAME)} == set(MODULES)


def used_names() -> Counter[str]:
    """How often each name is read; a word in a text may be one that is looked up by it."""
    names = Counter[str]()
    for file, tree in trees().items():
        if file == _CODES:
            continue
        for node in nodes_of(tree):
            if isinstance(node, ast.Name):
                names[node.id] += 1
            elif isinstance(node, ast.Attribute):
                names[node.attr] += 1
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
                names[node.value] += 1
            elif isinstance(node, ast.keyword) and node.arg:
                names[node.arg] += 1
    return names


def definitions() -> Iterator[tuple[str, str]]:
    """Public functions, classes and methods, as `module.Class.name`; those of other libraries' classes are left out."""
    for file, tree in of_engine():
        for node in tree.body:
            yield from _defined(node, name_of(file))
            if isinstance(node, ast.ClassDef) and all(_is_own(base) for base in node.bases):
                for inner in node.body:
                    yield from _defined(inner, f"{name_of(file)}.{node.name}")


def _defined(node: ast.stmt, where: str) -> Iterator[tuple[str, str]]:
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) or node.name.startswith("_"):
        return
    if all(_word(decorator) in PLAIN_DECORATORS for decorator in node.decorator_list):
        yield f"{where}.{node.name}", node.name


def _word(node: ast.expr) -> str:
    """The last word of `a.b.c(..)`."""
    if isinstance(node, ast.Call):
        return _word(node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_own(base: ast.expr) -> bool:
    return _word(base.value if isinstance(base, ast.Subscript) else base) in PLAIN_BASES


def test_each_public_name_is_used() -> None:
    used = used_names()
    unused = {where for where, name in definitions() if not used[name]}
    assert unused == set(NAMES)
