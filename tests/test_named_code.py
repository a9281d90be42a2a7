"""What docstrings, comments and documents call by its name is there: a file, a module, a function, a field.

Read are the forms that can be told from other things: `<room>/<module>.py`; `<room>.<module>` and `<module>.<name>`,
where the first word is one of the engine's; and in the engine's own code `<a_name>`. A few names of others look alike:
`_OTHERS`.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Final

from tests.parsed import ONE_PROCESS, nodes_of, tree_of
from tests.project import CHECKOUT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

pytestmark = ONE_PROCESS

_ENGINE: Final = CHECKOUT / "tidemark"
_FOLDERS: Final = ("tidemark", "tests", "benchmarks", "scripts", "sensors", "resources", "warehouse_assets")
_PAGES: Final = ("README.md", "ARCHITECTURE.md", "SECURITY.md", *(f"docs/{name}.md" for name in ("paths", "capture")))
_FILE: Final = re.compile(r"(?<![\w/.<*>{}-])((?:[a-z_0-9]+/)*[a-z_][a-z0-9_]*\.py)\b")
_DOTTED: Final = re.compile(r"[`(]([a-z_]+(?:\.[A-Za-z_]\w*)+)(?:\([^`]*\))?[`)]")
_NAME: Final = re.compile(r"`([a-z]+_[a-z_0-9]+)(?:\(\))?`")
_FILE_TYPES: Final = ("py", "yaml", "sha256", "pem", "md")
_OTHERS: Final = frozenset(
    {
        *("tidemark.distribution", "database.table", "entity.column"),  # a topic; forms of names
        *("time.precision.mode", "java.util", "start_timeout_seconds"),  # Debezium's, Java's, Dagster's
        *("first_name", "source_shard", "orders_old", "orders_20260323"),  # examples of columns and tables
        *("all_week", "month_to_date", "date_sub"),  # words of offsets; a function of SQL
    }
)


def test_files_that_are_named_are_there() -> None:
    files = set(
        chain.from_iterable(
            _endings(path.relative_to(CHECKOUT).as_posix(), "/")
            for folder in _FOLDERS
            for path in (CHECKOUT / folder).rglob("*.py")
        )
    )
    assert _missing(_FOLDERS, _PAGES, _FILE, files.__contains__) == []


def test_named_modules_and_names_exist() -> None:
    assert _missing(_FOLDERS, _PAGES, _DOTTED, _is_there) == []


def test_names_in_the_engines_docstrings_are_there() -> None:
    names = _OTHERS | _rooms() | frozenset(chain.from_iterable(_names_in(tree) for tree in _modules().values()))
    assert _missing(["tidemark"], [], _NAME, names.__contains__) == []


def test_a_name_that_is_not_there_is_seen() -> None:
    assert _FILE.findall("see `delta/merge.py` and <entity>.py") == ["delta/merge.py"]
    assert _is_there("center.center")
    assert _is_there("settings.data")  # a field of the class Settings
    assert _is_there("tidemark.delta.merge.merge_changes")
    assert _is_there("frame.no_name_of_ours")
    assert not _is_there("delta.merge.merge_nothing")
    assert not _is_there("late.snapshot")
    assert _missing(["tests"], [], re.compile("What docstrings, comments"), "other".__eq__) == [
        "tests/test_named_code.py:1: What docstrings, comments"
    ]


def _missing(
    folders: Iterable[str], pages: Iterable[str], form: re.Pattern[str], is_there: Callable[[str], bool]
) -> list[str]:
    """Each place where a name of a form is not there: in the docstrings and comments of folders, and in pages."""
    paths = chain((CHECKOUT / page for page in pages), *((CHECKOUT / folder).rglob("*.py") for folder in folders))
    return [
        f"{path.relative_to(CHECKOUT)}:{number}: {name}"
        for path in sorted(paths)
        if not all(map(is_there, form.findall(path.read_text())))  # of few files, so that few are parsed
        for number, line in _prose(path)
        for name in form.findall(line)
        if not is_there(name)
    ]


def _prose(path: Path) -> Iterator[tuple[int, str]]:
    """The numbered lines of a page; of code, of its docstrings and comments."""
    lines = path.read_text().splitlines()
    if path.suffix != ".py":
        yield from enumerate(lines, start=1)
        return
    for number, line in enumerate(lines, start=1):
        if comment := re.search(r"(?:^|\s)#\s.*", line):
            yield number, comment[0]
    for node in nodes_of(tree_of(path)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield from enumerate(node.value.value.splitlines(), start=node.lineno)


def _is_there(name: str) -> bool:
    """A module, what one defines, or a field of one of its classes; names that begin like nothing of ours pass."""
    parts = name.split(".")
    return name in _known() or name in _OTHERS or parts[0] not in _rooms() or parts[-1] in _FILE_TYPES


@cache
def _rooms() -> frozenset[str]:
    return frozenset(word for module in _modules() for word in module.split("."))


@cache
def _known() -> frozenset[str]:
    """Endings of `tidemark.module.Class.name`; a field also as `module.name`, as variables are called like modules."""
    known = set[str]()
    for module, tree in _modules().items():
        fields = chain.from_iterable(_defined(node.body) for node in tree.body if isinstance(node, ast.ClassDef))
        for name in ("", *_defined(tree.body), *fields):
            known.update(_endings(f"tidemark.{module}.{name}".rstrip("."), "."))
    return frozenset(known)


def _endings(name: str, separator: str) -> Iterator[str]:
    parts = name.split(separator)
    return (separator.join(parts[start:]) for start in range(len(parts)))


@cache
def _modules() -> dict[str, ast.Module]:
    """The engine's modules by their dotted names below `tidemark`; a package by its own name."""
    ways = {path.relative_to(_ENGINE).with_suffix("").as_posix(): path for path in _ENGINE.rglob("*.py")}
    return {way.removesuffix("__init__").rstrip("/").replace("/", "."): tree_of(path) for way, path in ways.items()}


def _defined(body: Iterable[ast.stmt], inside: str = "") -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield inside + node.name
        if isinstance(node, ast.ClassDef):
            yield from _defined(node.body, f"{inside}{node.name}.")
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (inside + target.id for target in targets if isinstance(target, ast.Name))


def _names_in(tree: ast.Module) -> Iterator[str]:
    """All identifiers of a module, and the words of its texts: keys, columns, settings. Its docstrings do not count."""
    said = {id(node.value) for node in nodes_of(tree) if isinstance(node, ast.Expr)}
    for node in nodes_of(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield from re.findall(r"\w+", node.value)
        for field in ("id", "attr", "arg", "name", "asname", "module"):
            name = getattr(node, field, None)
            if isinstance(name, str):
                yield from name.split(".")
