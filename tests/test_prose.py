"""Plain words: the rules of docs/style.md, one word for each concept as in docs/glossary.md, and names."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.parsed import ONE_PROCESS, nodes_of, tree_of
from tests.prose import ROOT, RULES, Text, findings, texts

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = ONE_PROCESS

_GLOSSARY: Final = ROOT / "docs" / "glossary.md"
_OLD_WORDS: Final = ROOT / "tidemark" / "state_store" / "migrations.py"
"""Migrations tell of what was stored under older words."""
_ONLY_IN_PROSE: Final = frozenset({"dead letters", "rows by"})
"""Identifiers may say them: `dead_letters` holds records of the queue, `rows_by_key` is a mapping."""
_PAGES: Final = ("README.md", "ARCHITECTURE.md", "SECURITY.md")
REWRITTEN: Final = (
    "README.md",
    "ARCHITECTURE.md",
    *(
        f"docs/{name}.md"
        for name in (
            "alerts",
            "capture",
            "connector-failed",
            "hdfs",
            "object-store",
            "openlineage",
            "paths",
            "refresh",
            "regions",
            "replication",
            "several-hosts",
            "spark-cluster",
        )
    ),
    "tidemark/console/cdc_demo",
    "tidemark/console/demo",
    "tidemark/console/servers",
    "tidemark/console/preflight",
    "tidemark/center/alerts",
    "tidemark/center/baseline",
    "tidemark/center/launchers",
    "tidemark/compute/file_profile",
    *(
        f"tidemark/dependency_model/{name}"
        for name in (
            "arrival",
            "backfill",
            "baseline",
            "code_change",
            "completeness",
            "graph",
            "impact",
            "lineage/foreign_sql",
            "lineage/functions",
            "refresh",
        )
    ),
    "tidemark/capture/apply",
    "tidemark/capture/audit",
    "tidemark/capture/binlog",
    "tidemark/capture/commits",
    "tidemark/capture/planning",
    "tidemark/capture/snapshots",
    "tidemark/capture/source/envelope",
    "tidemark/capture/schema/ddl",
    "tidemark/delta",
    "tidemark/dagster/resources",
    "tidemark/dagster/sensors",
    "tidemark/storage",
    "tidemark/spark",
    "tidemark/lineage_events",
    "tidemark/dagster_internals",
    "tidemark/olap",
    "tidemark/engines",
    "tidemark/refresh",
    "tidemark/state_store",
    "tidemark/center",
    "tidemark/console/dagster_server",
    "tidemark/console/commands/capture",
    "tidemark/console/commands/backfills",
    "tidemark/console/commands/delta",
    "tidemark/console/commands/dlq",
)
"""Every rule holds here; other pages and folders join the list when they are rewritten."""
EVERYWHERE: Final = frozenset({"as it stands", "none of a", "come what may", "let expect", "one of them"})
"""These rules hold in the whole product; other rules follow, folder by folder."""
_SAYS_NOTHING: Final = frozenset({"one", "found", "each"})


def forbidden_phrases() -> tuple[str, ...]:
    """The left column of the glossary's last table; a cell may hold several phrases."""
    table = _GLOSSARY.read_text().partition("## Do not say")[2]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("|")][2:]
    return tuple(phrase.strip() for cell in cells for phrase in cell.split(","))


def sources() -> Iterator[Path]:
    for folder in ("tidemark", "warehouse_assets", "sensors", "resources", "tests", "benchmarks"):
        yield from sorted((ROOT / folder).rglob("*.py"))


@lru_cache(maxsize=1)
def lines() -> tuple[tuple[str, str], ...]:
    """Every line of code and documents, with its file and number."""
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / page for page in _PAGES)]
    return tuple(
        (f"{path.relative_to(ROOT)}:{number}", line.strip())
        for path in (*sources(), *pages)
        if path.exists() and path not in (_GLOSSARY, _OLD_WORDS, Path(__file__).resolve())
        for number, line in enumerate(path.read_text().splitlines(), start=1)
    )


def test_the_table_is_read() -> None:
    phrases = forbidden_phrases()
    assert {"rows of before", "nobodys"} <= set(phrases)
    assert "do not say" not in phrases


def expression_of(phrase: str) -> re.Pattern[str]:
    """The phrase in prose, and among the words of an identifier."""
    if phrase in _ONLY_IN_PROSE:
        return re.compile(rf"(?<![\w`]){re.escape(phrase)}(?!\w)", re.IGNORECASE)
    words = re.escape(phrase).replace(r"\ ", "[ _]")
    return re.compile(rf"(?<![A-Za-z0-9`]){words}(?![A-Za-z0-9])", re.IGNORECASE)


def test_no_text_uses_a_forbidden_phrase() -> None:
    expressions = {phrase.lower(): expression_of(phrase) for phrase in forbidden_phrases()}
    places = [
        f"{place}: {line}"
        for place, line in lines()
        for words in (line.lower().replace("_", " "),)
        for phrase, expression in expressions.items()
        if phrase in words and expression.search(line)
    ]
    assert not places, "docs/glossary.md says what to say instead:\n" + "\n".join(places)


def bindings(path: Path) -> Iterator[tuple[str, int]]:
    """Every name that a module gives to a value, with its line.

    An error's parameter `found`, beside `expected`, says what it holds; so does a field of that name.
    """
    tree, is_of_errors = tree_of(path), path.name == "errors.py"
    fields = {id(node.target) for node in nodes_of(tree) if isinstance(node, ast.AnnAssign)}
    for node in nodes_of(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in fields:
            yield node.id, node.lineno
        elif isinstance(node, ast.arg) and not (node.arg == "found" and is_of_errors):
            yield node.arg, node.lineno


def test_names_describe_their_values() -> None:
    places = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in sources()
        for name, line in bindings(path)
        if name in _SAYS_NOTHING
    ]
    assert not places, f"{len(places)} names say nothing:\n" + "\n".join(places)


def test_rewritten_folders_follow_every_rule() -> None:
    flagged = list(findings(texts([ROOT / name for name in REWRITTEN])))
    assert not flagged, "docs/style.md says how to write instead:\n" + "\n".join(flagged)


def test_some_rules_hold_everywhere() -> None:
    rules = [rule for rule in RULES if rule.name in EVERYWHERE]
    assert len(rules) == len(EVERYWHERE)
    flagged = [f"{text.path}:{text.line}: {rule.advice}" for text in texts() for rule in rules if rule.finds(text)]
    assert not flagged, "docs/style.md says how to write instead:\n" + "\n".join(flagged)


@pytest.mark.parametrize(
    ("kind", "words", "rule"),
    [
        ("docstring", "The path. Of each place the number.", "fronted of"),
        ("comment", "so many rows in a batch", "so many"),
        ("message", "the body is no JSON", "is no"),
        ("page", "The rows and those that follow.", "those that"),
        ("message", "ask who reads it", "who asks"),
        ("page", "People are told once.", "told"),
        ("docstring", "Written anew.", "anew"),
        ("page", "The version as it stands.", "as it stands"),
        ("message", "the url is none of a web server", "none of a"),
        ("comment", "nobody reads it", "nobody"),
        ("docstring", "It waits, come what may.", "come what may"),
        ("page", "What history lets expect.", "let expect"),
        ("docstring", "One of them.", "one of them"),
        ("docstring", "What it reads.", "question"),
    ],
)
def test_each_rule_finds_its_pattern(kind: str, words: str, rule: str) -> None:
    assert rule in {rule.name for rule in RULES if rule.finds(Text("a.py", 1, kind, words))}


def test_plain_sentences_pass() -> None:
    plain = "There is no center. Of course it waits. The rows are no longer `told`. Is it a table? Two slices so far."
    assert list(findings(iter([Text("a.py", 1, "docstring", plain)]))) == []


def test_long_sentences_are_found() -> None:
    (flagged,) = findings(iter([Text("a.py", 1, "docstring", "rows " * 46 + ".")]))
    assert "a sentence of 47 words" in flagged
